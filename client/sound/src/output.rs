//! Sound on the default device: a thread that feeds it, and retries when there is none.
//!
//! On Linux it speaks the PulseAudio protocol, which PipeWire also understands. On Windows and
//! macOS, cpal passes frames to the system. From an order to the ear it takes about 40 ms: up to 10
//! ms until frames are requested, and 30 ms of buffer.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

use super::Stereo;
use super::mixer::{Mixer, Order};

#[cfg(any(target_os = "windows", target_os = "macos"))]
#[path = "output/system.rs"]
mod device;
#[cfg(target_os = "linux")]
#[path = "output/pulse.rs"]
mod device;
#[cfg(not(any(
    target_os = "linux",
    target_os = "windows",
    target_os = "macos",
    target_arch = "wasm32"
)))]
#[path = "output/none.rs"]
mod device;
#[cfg(any(target_os = "windows", target_os = "macos", test))]
mod resample;

/// Maximum number of waiting orders: those of about ten busy frames. Further ones are dropped.
pub const ORDERS_MAX: usize = 512;
/// Length of the buffer before the device: 30 ms.
pub const BUFFER_MS: u32 = 30;
/// Time from a failure to the next attempt: short enough for a newly plugged headset.
#[cfg(not(target_arch = "wasm32"))]
const RETRY: Duration = Duration::from_secs(4);
/// Interval between checks for orders while there is no device.
#[cfg(not(target_arch = "wasm32"))]
const NAP: Duration = Duration::from_millis(50);

/// State of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SoundStatus {
    /// The first attempt is in progress.
    #[default]
    Starting,
    /// A device plays, with its name if that is known.
    Playing(Option<String>),
    /// There is no sound. The sentence says why, and what to do. Another attempt follows.
    Silent(String),
}

/// Why there is no sound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// There is no sound server.
    #[error("there is no sound server; start PipeWire or PulseAudio to hear the game")]
    NoServer,
    /// There is no device.
    #[error("there is no sound device; plug one in to hear the game")]
    NoDevice,
    /// The sound server or the system refused, or the connection ended.
    #[error("the sound device cannot be used ({0}); check the system's sound settings")]
    Device(String),
    /// This platform is not supported.
    #[error("sound is not supported on this system; play on Linux, Windows or macOS to hear it")]
    Unsupported,
    /// No thread could be started.
    #[error("cannot start the sound thread ({0}); close other programs and start again")]
    NoThread(String),
}

/// Sound on the default device. Dropping it ends the sound.
#[derive(Debug)]
pub struct SoundOutput {
    orders: Option<SyncSender<Order>>,
    status: Arc<Mutex<SoundStatus>>,
    #[cfg(target_arch = "wasm32")]
    source: Option<Arc<Mutex<Source>>>,
}

impl SoundOutput {
    /// Starts the thread. The seed varies pitches and noise.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn start(seed: u32) -> Self {
        let (orders, waiting) = sync_channel(ORDERS_MAX);
        let status = Arc::new(Mutex::new(SoundStatus::Starting));
        let report = Report(status.clone());
        let source = Source { orders: waiting, mixer: Mixer::new(seed), is_over: false };
        let spawned = std::thread::Builder::new().name("sound".into()).spawn(move || {
            run(source, &report);
        });
        if let Err(error) = spawned {
            Report(status.clone())
                .set(SoundStatus::Silent(OutputError::NoThread(error.to_string()).to_string()));
        }
        Self { orders: Some(orders), status }
    }

    /// Returns an output that plays nothing and reports nothing.
    pub fn off() -> Self {
        Self {
            orders: None,
            status: Arc::default(),
            #[cfg(target_arch = "wasm32")]
            source: None,
        }
    }

    /// Passes on an order, which is dropped if too many are waiting. Never blocks. Returns whether
    /// the order was taken.
    pub fn send(&self, order: Order) -> bool {
        let sent = self.orders.as_ref().map(|orders| orders.try_send(order));
        !matches!(sent, Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None)
    }

    /// State of the output.
    pub fn status(&self) -> SoundStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Number of frames queued for a browser: 50 ms, and those that play in between. They are filled up
/// once per frame of the page.
#[cfg(target_arch = "wasm32")]
const PAGE_FRAMES: usize = 3200;

/// Sound of a page, which fetches frames instead of a thread playing them.
#[cfg(target_arch = "wasm32")]
impl SoundOutput {
    /// Starts the output. The seed varies pitches and noise.
    pub fn start(seed: u32) -> Self {
        let (orders, waiting) = sync_channel(ORDERS_MAX);
        let source = Source { orders: waiting, mixer: Mixer::new(seed), is_over: false };
        let (source, status) = (Arc::new(Mutex::new(source)), Arc::default());
        Self { orders: Some(orders), status, source: Some(source) }
    }

    /// Renders what is missing when `waiting` frames are queued; nothing if it is `None`, as no one
    /// can hear it.
    pub fn render(&self, waiting: Option<usize>, hand: impl FnOnce(&[Stereo])) {
        let Some(source) = &self.source else { return };
        let Some(waiting) = waiting else {
            let _ = lock(source).skip();
            return;
        };
        let mut frames = vec![Stereo::default(); PAGE_FRAMES.saturating_sub(waiting)];
        if !frames.is_empty() {
            let _ = lock(source).fill(&mut frames);
            hand(&frames);
        }
    }
}

/// Reports the state of the output.
#[cfg(not(target_arch = "wasm32"))]
struct Report(Arc<Mutex<SoundStatus>>);

#[cfg(not(target_arch = "wasm32"))]
impl Report {
    fn set(&self, status: SoundStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// A mixer with the orders waiting for it.
#[derive(Debug)]
struct Source {
    orders: Receiver<Order>,
    mixer: Mixer,
    /// Whether the sender of orders is gone.
    is_over: bool,
}

impl Source {
    /// Carries out waiting orders, and renders the next frames. Breaks when the sender of orders is
    /// gone.
    fn fill(&mut self, frames: &mut [Stereo]) -> ControlFlow<()> {
        let left = self.take_orders(|_| true);
        self.mixer.render(frames);
        left
    }

    /// Takes waiting orders while there is no device: volumes are kept, sounds are dropped.
    fn skip(&mut self) -> ControlFlow<()> {
        self.take_orders(|order| matches!(order, Order::Volumes(_) | Order::Hush))
    }

    fn take_orders(&mut self, wanted: impl Fn(&Order) -> bool) -> ControlFlow<()> {
        for _ in 0..ORDERS_MAX {
            match self.orders.try_recv() {
                Ok(order) if wanted(&order) => self.mixer.handle(order),
                Ok(_) => {}
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.is_over = true;
                    break;
                }
            }
        }
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Plays until the sender of orders is gone; retries after a failure.
#[cfg(not(target_arch = "wasm32"))]
fn run(source: Source, report: &Report) {
    let source = Arc::new(Mutex::new(source));
    loop {
        let error = match device::play(&source, report) {
            Ok(()) => return,
            Err(error) => error,
        };
        report.set(SoundStatus::Silent(error.to_string()));
        let mut waited = Duration::ZERO;
        while waited < RETRY {
            if lock(&source).skip().is_break() {
                return;
            }
            std::thread::sleep(NAP);
            waited += NAP;
        }
    }
}

fn lock(source: &Mutex<Source>) -> std::sync::MutexGuard<'_, Source> {
    source.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixer::Volumes;
    use crate::patch::{Layer, Sound};
    use crate::place::Placed;

    const TONE: Sound = Sound { layers: &[Layer::SINE], ..Sound::EFFECT };

    fn source() -> (SyncSender<Order>, Source) {
        let (orders, waiting) = sync_channel(ORDERS_MAX);
        (orders, Source { orders: waiting, mixer: Mixer::new(1), is_over: false })
    }

    #[test]
    fn queue_is_bounded_and_a_full_one_blocks_nobody() {
        let (orders, waiting) = sync_channel(ORDERS_MAX);
        let output = SoundOutput { orders: Some(orders), status: Arc::default() };
        let order = Order::play(&TONE, Placed::MIDDLE);
        let taken = (0..2 * ORDERS_MAX).filter(|_| output.send(order)).count();
        assert_eq!(taken, ORDERS_MAX);
        drop(waiting);
        assert!(!output.send(order));
        assert!(!SoundOutput::off().send(order));
    }

    #[test]
    fn without_a_device_volumes_are_kept_and_sounds_forgotten() {
        let (orders, mut source) = source();
        orders.send(Order::play(&TONE, Placed::MIDDLE)).expect("there is space");
        orders.send(Order::Volumes(Volumes::NONE)).expect("there is space");
        assert!(source.skip().is_continue());
        assert_eq!(source.mixer.voices(), 0);
        orders.send(Order::play(&TONE, Placed::MIDDLE)).expect("there is space");
        let mut frames = [[0.0; 2]; 48_000];
        assert!(source.fill(&mut frames[..24_000]).is_continue());
        assert!(frames.iter().skip(20_000).flatten().all(|sample| sample.abs() < 1e-3));
        drop(orders);
        assert!(source.fill(&mut frames).is_break());
    }

    #[test]
    fn every_error_says_what_to_do() {
        let errors = [
            OutputError::NoServer,
            OutputError::NoDevice,
            OutputError::Device("busy".into()),
            OutputError::Unsupported,
            OutputError::NoThread("limit".into()),
        ];
        for error in errors.map(|error| error.to_string()) {
            assert!(error.contains(';'), "{error}");
        }
    }
}
