//! Gives the program for Windows a manifest, a version and an icon; does nothing for other systems.

use std::error::Error;

use embed_manifest::{embed_manifest, new_manifest};
use winresource::WindowsResource;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=phaselock.ico");
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        // Asks for long paths, UTF-8, each display's own resolution, and only the user's rights.
        embed_manifest(new_manifest("Phaselock"))?;
        WindowsResource::new()
            .set("ProductName", "Phaselock")
            .set("FileDescription", "Phaselock")
            .set("OriginalFilename", "phaselock.exe")
            .set_icon("phaselock.ico")
            .compile_for("phaselock")?;
    }
    Ok(())
}
