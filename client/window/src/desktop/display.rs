//! Opens the window, or says in one sentence why it cannot.
//!
//! miniquad panics without a display or OpenGL, so a panic before the first frame means "no
//! window". On Linux, X11 is tried before Wayland, because miniquad calls its Wayland side
//! unstable.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use macroquad::Window;
use macroquad::miniquad::conf::{Conf, LinuxBackend};
use macroquad::miniquad::window::dpi_scale;

/// No window can be opened.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no display to open a window on ({0}); without one, phaselock-server hosts games and \
     phaselock-bots plays them"
)]
pub(crate) struct NoDisplay(String);

/// Pixels per unit of the requested window size: X11 counts pixels.
pub(crate) fn points() -> f32 {
    if cfg!(target_os = "linux") { 1.0 } else { dpi_scale() }
}

/// Opens a window and runs `inside` in it, until that ends.
pub(crate) fn open(
    conf: impl Fn() -> Conf,
    inside: impl Future<Output = ()> + 'static,
) -> Result<(), NoDisplay> {
    let inside = Rc::new(Cell::new(Some(inside)));
    let mut reasons = Vec::new();
    for (backend, display) in backends() {
        let mut conf = conf();
        conf.platform.linux_backend = backend;
        match try_open(conf, inside.clone()) {
            Ok(()) => return Ok(()),
            Err(panic) => reasons.push(reason(panic.as_ref(), &display)),
        }
    }
    if reasons.is_empty() {
        reasons.push("DISPLAY is not set".into());
    }
    Err(NoDisplay(reasons.join(" and ")))
}

/// Opens a window and runs `inside` in it, or returns the panic that came before the first frame.
fn try_open<F>(conf: Conf, inside: Rc<Cell<Option<F>>>) -> Result<(), Box<dyn Any + Send>>
where
    F: Future<Output = ()> + 'static,
{
    let opened = Arc::new(AtomicBool::new(false));
    let hook = Arc::new(std::panic::take_hook());
    let (told, loud) = (hook.clone(), opened.clone());
    std::panic::set_hook(Box::new(move |info| {
        if loud.load(Ordering::SeqCst) {
            told(info);
        }
    }));
    let begun = opened.clone();
    let inside = async move {
        begun.store(true, Ordering::SeqCst);
        if let Some(inside) = inside.take() {
            inside.await;
        }
    };
    let done = catch_unwind(AssertUnwindSafe(|| Window::from_config(conf, inside)));
    std::panic::set_hook(Box::new(move |info| hook(info)));
    match done {
        Err(panic) if opened.load(Ordering::SeqCst) => resume_unwind(panic),
        done => done,
    }
}

/// Window systems to try, each with the variable that names its display.
fn backends() -> Vec<(LinuxBackend, String)> {
    if !cfg!(target_os = "linux") {
        return vec![(LinuxBackend::default(), "the display".into())];
    }
    let systems =
        [(LinuxBackend::X11Only, "DISPLAY"), (LinuxBackend::WaylandOnly, "WAYLAND_DISPLAY")];
    let set = |(backend, key)| {
        let value = std::env::var(key).ok().filter(|value| !value.is_empty())?;
        Some((backend, format!("{key} {value}")))
    };
    systems.into_iter().filter_map(set).collect()
}

/// Cause of miniquad's panic: no display, or a library that could not be loaded.
fn reason(panic: &(dyn Any + Send), display: &str) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or_default();
    let library = text.split("DlOpenError(\"").nth(1).and_then(|rest| rest.split(".so").next());
    match library {
        Some(library) => format!("the system lacks {library}"),
        None if text.starts_with("XOpenDisplay") || text.starts_with("Wayland backend") => {
            format!("nothing answers at {display}")
        }
        None => "the window system or OpenGL cannot be used".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn missing_displays_and_libraries_are_named() {
        let library: Box<dyn std::any::Any + Send> =
            Box::new("X11 backend failed: DlOpenError(\"libXi.so.6\")".to_owned());
        assert_eq!(reason(library.as_ref(), "DISPLAY :0"), "the system lacks libXi");
        let display = "DISPLAY :64123";
        assert_eq!(reason(&"XOpenDisplay() failed!", display), "nothing answers at DISPLAY :64123");
        assert!(reason(&"no GL context", display).contains("cannot be used"));
    }
}
