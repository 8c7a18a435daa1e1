//! Gives the program for Windows a manifest and a version; does nothing for other systems.

use std::error::Error;

use embed_manifest::{embed_manifest, new_manifest};
use winresource::WindowsResource;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        // Asks for long paths, UTF-8, each display's own resolution, and only the user's rights.
        embed_manifest(new_manifest("Phaselock"))?;
        WindowsResource::new()
            .set("ProductName", "Phaselock")
            .set("FileDescription", "Phaselock laboratory")
            .set("OriginalFilename", "phaselock-lab.exe")
            .compile_for("phaselock-lab")?;
    }
    Ok(())
}
