//! Windows: a class in the user's part of the registry.

use std::io;

use windows_registry::CURRENT_USER;

/// The class of links, for this user.
const CLASS: &str = r"Software\Classes\phaselock";
/// The key below it that has the command.
const COMMAND: &str = r"shell\open\command";

pub(super) fn register(program: &str) -> io::Result<()> {
    if program.contains('%') {
        // Windows would replace `%1` in the path, too.
        return Err(io::Error::other("move the program to a folder without % in its path"));
    }
    let command = command(program);
    let class = CURRENT_USER.create(CLASS)?;
    class.set_string("", "URL:Phaselock")?;
    // Marks a class of links.
    class.set_string("URL Protocol", "")?;
    Ok(class.create(COMMAND)?.set_string("", &command)?)
}

pub(super) fn remove(program: &str) -> io::Result<()> {
    // It may be absent.
    let class = CURRENT_USER.create(CLASS)?;
    let registered = class.open(COMMAND).and_then(|key| key.get_string(""));
    if registered.is_ok_and(|registered| registered != command(program)) {
        return Err(io::Error::other("links are registered for another program"));
    }
    Ok(CURRENT_USER.remove_tree(CLASS)?)
}

/// Returns the command that opens a link. Some programs pass on links with quotation marks. After
/// `--`, nothing in them is an option.
fn command(program: &str) -> String {
    format!(r#""{program}" join -- "%1""#)
}
