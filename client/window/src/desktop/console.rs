//! Where the program's words go on Windows.
//!
//! The program is not a console program, so that no console opens beside the window. It attaches
//! itself to the console of the program that started it, such as a shell, and prints there. Started
//! by a click or a link, it has none.

/// Prints to the console that the program was started from, if there is one.
pub(super) fn attach() {
    #[cfg(windows)]
    {
        // Fails if there is none.
        let _ = winsafe::AttachConsole(winsafe::PidParent::Parent);
    }
}
