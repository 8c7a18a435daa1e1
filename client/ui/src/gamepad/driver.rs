//! The gamepads' thread: finds devices, reads them, and makes them rumble.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::pad::{About, Pads, Raw, Rumble, State};
use crate::bindings::Pad;
use crate::controls::PadValues;

/// Maximum number of devices.
const DEVICES_MAX: usize = 4;
/// Interval between readings: well within a frame.
const READ_EVERY: Duration = Duration::from_millis(4);
/// Interval between searches for newly plugged devices.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Maximum number of waiting rumbles. More are dropped: a rumble is felt at once or not at all.
const RUMBLES_MAX: usize = 8;

/// An open device.
pub(super) trait Device {
    fn about(&self) -> About;
    /// Returns the events since the last reading. Fails if the device was unplugged.
    fn read(&mut self) -> io::Result<Vec<Raw>>;
    fn rumble(&mut self, rumble: Rumble) -> io::Result<()>;
}

/// Where devices are found.
pub(super) trait Ports: Send + 'static {
    type Device: Device;
    /// Opens the gamepads that are not in `open`. The flag is true if there are gamepads that may
    /// not be read.
    fn look(&mut self, open: &[PathBuf]) -> (Vec<(PathBuf, Self::Device)>, bool);
}

/// State shared by thread and frame.
#[derive(Debug, Default)]
struct Shared {
    dead_zone: f32,
    /// Current deflections, and the maximum since they were last taken, so that no short press is
    /// missed.
    values: PadValues,
    peak: PadValues,
    devices: usize,
    forbidden: bool,
}

/// All gamepads as one.
#[derive(Debug)]
pub struct Gamepads {
    shared: Arc<Mutex<Shared>>,
    rumble: SyncSender<Rumble>,
}

impl Gamepads {
    /// No gamepads.
    #[cfg(not(any(target_os = "linux", windows)))]
    pub(super) fn none() -> Self {
        Self { shared: Arc::default(), rumble: sync_channel(1).0 }
    }

    /// Starts looking for gamepads. If no thread can be started, there are none.
    #[cfg_attr(
        not(any(target_os = "linux", windows)),
        allow(dead_code, reason = "only tests use it there")
    )]
    pub(super) fn with(ports: impl Ports) -> Self {
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let (rumble, demands) = sync_channel(RUMBLES_MAX);
        let told = shared.clone();
        let thread = std::thread::Builder::new().name("gamepad".into());
        // If the thread fails, the game is played by keys.
        let _ = thread.spawn(move || {
            let mut reader = Reader { ports, shared: told, open: Vec::new() };
            let mut since_look = LOOK_EVERY;
            loop {
                if since_look >= LOOK_EVERY {
                    reader.look();
                    since_look = Duration::ZERO;
                }
                reader.read();
                let rest = if reader.open.is_empty() { LOOK_EVERY } else { READ_EVERY };
                since_look += rest;
                match demands.recv_timeout(rest) {
                    Ok(rumble) => reader.rumble(rumble),
                    Err(RecvTimeoutError::Timeout) => {}
                    // The window has closed.
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Self { shared, rumble }
    }
}

impl Pads for Gamepads {
    fn take(&mut self, dead_zone: f32) -> PadValues {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.dead_zone = dead_zone;
        let now = shared.values;
        std::mem::replace(&mut shared.peak, now)
    }

    fn state(&self) -> (usize, bool) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        (shared.devices, shared.forbidden)
    }

    fn rumble(&self, rumble: Rumble) {
        let _ = self.rumble.try_send(rumble);
    }
}

struct Reader<P: Ports> {
    ports: P,
    shared: Arc<Mutex<Shared>>,
    open: Vec<(PathBuf, P::Device, State)>,
}

impl<P: Ports> Reader<P> {
    fn look(&mut self) {
        let known: Vec<_> = self.open.iter().map(|(path, ..)| path.clone()).collect();
        let (found, forbidden) = self.ports.look(&known);
        for (path, device) in found.into_iter().take(DEVICES_MAX - self.open.len().min(DEVICES_MAX))
        {
            let state = State::new(device.about());
            self.open.push((path, device, state));
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        (shared.devices, shared.forbidden) = (self.open.len(), forbidden && self.open.is_empty());
    }

    fn read(&mut self) {
        let mut pulled = false;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let dead_zone = shared.dead_zone;
        let mut now = [0.0_f32; Pad::COUNT];
        self.open.retain_mut(|(_, device, state)| {
            let Ok(events) = device.read() else {
                pulled = true;
                return false;
            };
            for event in events {
                state.handle(event);
                // A button may have gone down and up within one reading.
                if matches!(event, Raw::Button(_, true)) {
                    join(&mut shared.peak, &state.values(dead_zone));
                }
            }
            join(&mut now, &state.values(dead_zone));
            true
        });
        shared.values = now;
        join(&mut shared.peak, &now);
        if pulled {
            shared.devices = self.open.len();
        }
    }

    fn rumble(&mut self, rumble: Rumble) {
        for (_, device, _) in &mut self.open {
            // The device has no motors, or was just unplugged.
            let _ = device.rumble(rumble);
        }
    }
}

/// Takes the larger of two deflections, part by part.
fn join(values: &mut PadValues, more: &PadValues) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value = value.max(*more));
}
