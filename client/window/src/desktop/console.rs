//! Where the program's words go on Windows.
//!
//! The program is not a console program, so that no console opens beside the window. It attaches
//! itself to the console of the program that started it, such as a shell, and prints there. Started
//! by a click or a link, it has none, and a message box shows why it cannot start or has crashed.

use std::io::{self, Write as _};

/// The console of the program that started this one; on other systems, standard error.
pub(super) struct Console {
    #[cfg(windows)]
    is_attached: bool,
}

impl Console {
    /// Prints to the console that the program was started from, if there is one. Panics of this
    /// thread end the program, so they are shown like the reasons that [`Self::complain`] gets.
    pub(super) fn attach() -> Self {
        let console = Self {
            #[cfg(windows)]
            is_attached: winsafe::AttachConsole(winsafe::PidParent::Parent).is_ok(),
        };
        #[cfg(windows)]
        console.show_panics();
        console
    }

    /// Says why the program cannot start.
    pub(super) fn complain(&self, reason: &str) {
        // A closed pipe is the reader's choice.
        let _ = writeln!(io::stderr(), "phaselock: {reason}");
        #[cfg(windows)]
        if !self.is_read() {
            show(reason);
        }
    }

    #[cfg(windows)]
    fn show_panics(&self) {
        if self.is_read() {
            return;
        }
        let (hook, window) = (std::panic::take_hook(), std::thread::current().id());
        std::panic::set_hook(Box::new(move |info| {
            hook(info);
            if std::thread::current().id() == window {
                let text = format!(
                    "Phaselock has crashed. Please report this text at {}/issues:\n\n{info}",
                    env!("CARGO_PKG_REPOSITORY")
                );
                // A box of this thread would have the window, which has just failed, handle events.
                let _ = std::thread::spawn(move || show(&text)).join();
            }
        }));
    }

    /// Whether somebody can read what is printed: on a console, or in a pipe or a file.
    #[cfg(windows)]
    fn is_read(&self) -> bool {
        use std::os::windows::io::AsRawHandle as _;
        self.is_attached || !io::stderr().as_raw_handle().is_null()
    }
}

/// Shows an error in a message box, until somebody closes it.
#[cfg(windows)]
fn show(text: &str) {
    let told = win_msgbox::error::<win_msgbox::Okay>(text).title("Phaselock");
    // Fails without a desktop, where nobody could read it.
    let _ = told.show();
}
