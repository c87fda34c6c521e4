//! Writes the seeds of each target into `corpus/TARGET/` beside this file.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in tabia_fuzz::TARGETS {
        let folder = here.join("corpus").join(name);
        fs::create_dir_all(&folder)?;
        let seeds = tabia_fuzz::inputs(name);
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:03}")), seed)?;
        }
        println!("{name}: {} seeds", seeds.len());
    }
    Ok(())
}
