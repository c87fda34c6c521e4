//! The `tabia` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let result = match args.next().as_deref().and_then(|arg| arg.to_str()) {
        Some("engine") => {
            tabia::builtin::run(std::io::stdin().lock(), std::io::stdout()).map_err(Into::into)
        }
        _ => Err(anyhow::anyhow!("usage: tabia engine")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tabia: {error:#}");
            ExitCode::from(2)
        }
    }
}
