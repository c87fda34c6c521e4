//! The `tabia` program.

use std::process::ExitCode;

use tabia::cli::check_engine;
use tabia::engine::EngineCommand;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let result = match args.next().as_deref().and_then(|arg| arg.to_str()) {
        Some("engine") => tabia::builtin::run(std::io::stdin().lock(), std::io::stdout())
            .map(|()| true)
            .map_err(Into::into),
        Some("check-engine") => {
            let mut args = args.skip_while(|arg| arg == "--");
            let command = EngineCommand {
                program: args.next().unwrap_or_default().into(),
                args: args.collect(),
                ..EngineCommand::default()
            };
            check_engine::run(&command, &mut std::io::stdout())
        }
        _ => Err(anyhow::anyhow!("usage: tabia engine | check-engine -- CMD")),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("tabia: {error:#}");
            ExitCode::from(2)
        }
    }
}
