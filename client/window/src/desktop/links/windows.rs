//! Windows: a class in the user's part of the registry.

use std::io;

use windows_registry::CURRENT_USER;

/// The class of links, for this user.
const CLASS: &str = r"Software\Classes\phaselock";

pub(super) fn register(program: &str) -> io::Result<()> {
    // Some programs pass on links with quotation marks. After `--`, nothing in them is an option.
    let command = format!(r#""{program}" join -- "%1""#);
    let class = CURRENT_USER.create(CLASS)?;
    class.set_string("", "URL:Phaselock")?;
    // Marks a class of links.
    class.set_string("URL Protocol", "")?;
    Ok(class.create(r"shell\open\command")?.set_string("", command)?)
}

pub(super) fn remove() -> io::Result<()> {
    // It may be absent.
    CURRENT_USER.create(CLASS)?;
    Ok(CURRENT_USER.remove_tree(CLASS)?)
}
