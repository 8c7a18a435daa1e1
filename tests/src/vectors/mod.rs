//! Test vectors, by which anybody's implementation of `WIRE.md` can be checked: the files in
//! `shared/netcode/vectors/`, made anew by `cargo run -p phaselock-tests --bin vectors`.

mod craft;
mod hashes;
pub mod inputs;
mod json;
mod malformed;
pub mod messages;
pub mod session;
pub mod specimens;

use std::path::PathBuf;

use session::recorded;

/// The folder of the files.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/netcode/vectors")
}

/// Every file's name and text. The same sources make the same text.
pub fn files() -> Vec<(&'static str, String)> {
    let [plain, trained] = recorded();
    vec![
        (plain.name, session::session(plain)),
        (trained.name, session::session(trained)),
        ("control.json", messages::messages()),
        ("inputs.json", inputs::inputs()),
        ("hashes.json", hashes::hashes()),
        ("identity.json", hashes::identity()),
        ("malformed.json", malformed::malformed()),
    ]
}

/// Writes all files in place of what is there; returns the number of their bytes.
pub fn write() -> std::io::Result<usize> {
    std::fs::create_dir_all(folder())?;
    let mut bytes = 0;
    for (name, text) in files() {
        bytes += text.len();
        std::fs::write(folder().join(name), text)?;
    }
    Ok(bytes)
}
