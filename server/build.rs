//! Gives the program for Windows a manifest, a version; does nothing for other systems.

use std::error::Error;

use embed_manifest::{embed_manifest, new_manifest};
use winresource::WindowsResource;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        // Paths of any length, UTF-8, a window that fits each display, the user's own rights.
        embed_manifest(new_manifest("Phaselock"))?;
        WindowsResource::new()
            .set("ProductName", "Phaselock")
            .set("FileDescription", "Phaselock server")
            .set("OriginalFilename", "phaselock-server.exe")
            .compile_for("phaselock-server")?;
    }
    Ok(())
}
