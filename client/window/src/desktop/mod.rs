//! The window on a desktop: the command line, what surrounds the window, the menu, QUIC.
//!
//! ```text
//! run -> args, display -> machine (clock, focus, pace of frames, gamepads)
//!                      -> lobby -> menu, servers, online, recordings, the laboratory's scene
//!                               -> connection (phaselock_quic)
//! ```

mod apng;
pub(crate) mod args;
mod connection;
mod console;
mod display;
mod download;
mod drops;
mod film;
mod focus;
mod holds;
mod links;
mod lobby;
mod machine;
pub(crate) mod menu;
#[cfg(target_os = "linux")]
mod own_window;
mod pacing;
pub(crate) mod recordings;
mod replays;
mod saver;
mod seek;
pub(crate) mod servers;
mod sheet;
mod shown;
mod system;
mod target;

use std::cell::Cell;
use std::process::ExitCode;
use std::rc::Rc;

use macroquad::miniquad::conf::{Conf, Platform, WaylandDecorations};
use phaselock_quic::clock::Clock;
use phaselock_ui::background;

use self::args::Args;
use self::console::Console;
use self::lobby::DesktopLobby;
use self::machine::{Desktop, Outputs};
use self::servers::ServerLists;
use self::system::{folder, language};
use crate::registry::Views;
use crate::settings::Store;
use crate::settings::languages::Languages;
use crate::settings::values::WindowSize;
use crate::shell::{Opening, Shell};
use crate::tell::tell;

/// Name of the file of known servers, next to the settings.
const SERVERS: &str = "servers.toml";

/// Runs the program with these games: reads the command line, opens the window, and returns when
/// the player leaves.
pub fn run(views: &Views) -> ExitCode {
    let console = Console::attach();
    let args = match Args::parse(std::env::args_os(), views.games()) {
        Ok(args) => args,
        Err(error) => return error.report(&console),
    };
    keep_freed_memory();
    match open(args, views) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            console.complain(&reason);
            ExitCode::FAILURE
        }
    }
}

/// Opens the window and returns when the player leaves. The error says why it could not be opened.
fn open(args: Args, views: &Views) -> Result<(), String> {
    let outputs = Outputs::prepare(&args.options)?;
    let path = args.options.settings.clone();
    let store = Store::open(path.or_else(|| Some(folder()?.join("settings.toml"))));
    for problem in store.problems() {
        tell(problem);
    }
    let display = &store.settings.display;
    let WindowSize { width, height } = args.options.window.unwrap_or(display.window_size);
    let fullscreen = args.options.fullscreen || display.fullscreen;
    let platform = Platform {
        linux_wm_class: "phaselock",
        swap_interval: Some(display.vsync.into()),
        // The desktop's own title bar, or none: miniquad opens no window with libdecor 0.1, and its
        // own borders break full screen.
        wayland_decorations: WaylandDecorations::ServerOnly,
        ..Platform::default()
    };
    let conf = move || Conf {
        window_title: "Phaselock".into(),
        window_width: width.into(),
        window_height: height.into(),
        high_dpi: true,
        fullscreen,
        icon: Some(background::icon()),
        platform,
        ..Conf::default()
    };
    let outcome = Rc::new(Cell::new(Ok(())));
    let told = outcome.clone();
    let views = views.clone();
    let inside = async move { told.set(shell(args, views, store, outputs).frames().await) };
    display::open(conf, inside).map_err(|error| error.to_string())?;
    outcome.replace(Ok(()))
}

/// Creates the shell in the open window.
fn shell(args: Args, views: Views, store: Store, outputs: Outputs) -> Shell<Desktop, DesktopLobby> {
    let clock = Clock::start();
    let desktop = Desktop::new(clock, &args.options, outputs);
    let book = ServerLists::open(store.sibling(SERVERS).or_else(|| Some(folder()?.join(SERVERS))));
    let opening = Opening {
        languages: Languages::new(language()),
        fullscreen: args.options.fullscreen || store.settings.display.fullscreen,
        mute: args.options.mute,
        views,
        store,
    };
    let lobby = DesktopLobby::new(args, clock, &opening.views, book, &opening.store.settings);
    Shell::new(desktop, lobby, opening)
}

/// Lets the program keep freed memory for the next frame.
///
/// glibc returns large blocks to the kernel and requests them again; these page faults take a
/// seventh of a frame of Skirmish by `perf record -e cpu-clock`. Freeing one block of this size
/// raises its thresholds to that size and to twice that (`mallopt(3)`, `M_MMAP_THRESHOLD`). The
/// block itself is never touched, so it takes no memory.
fn keep_freed_memory() {
    const BYTES: usize = 16 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BYTES)));
}
