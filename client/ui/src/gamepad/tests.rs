//! Tests of the gamepad: streams of events, calibration, plugging and unplugging.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::driver::{Device, Gamepads, Ports};
use super::pad::{About, Pads, Range, Raw, Rumble, State};
use crate::bindings::Pad;
use crate::controls::PadValues;

const DEAD_ZONE: f32 = 0.15;

fn range(min: i32, max: i32, flat: i32) -> Range {
    Range { min, max, flat, value: (min + max) / 2 }
}

/// An Xbox pad as its driver describes it.
fn xbox() -> About {
    let stick = range(-32768, 32767, 128);
    let trigger = Range { value: 0, ..range(0, 1023, 0) };
    let axes = [(0, stick), (1, stick), (2, trigger), (3, stick), (4, stick), (5, trigger)];
    let hats = [(16, range(-1, 1, 0)), (17, range(-1, 1, 0))];
    About { vendor: 0x045e, axes: axes.into_iter().chain(hats).collect() }
}

/// A PlayStation pad: axes of bytes.
fn playstation() -> About {
    let trigger = Range { value: 0, ..range(0, 255, 0) };
    let stick = range(0, 255, 0);
    let axes = vec![(0, stick), (1, stick), (2, trigger), (3, stick), (4, stick), (5, trigger)];
    About { vendor: 0x054c, axes }
}

/// Parts that are deflected after these events, with their deflections in percent.
fn after(about: About, events: &[Raw]) -> Vec<(Pad, i32)> {
    let mut state = State::new(about);
    events.iter().for_each(|event| state.handle(*event));
    deflected(&state.values(DEAD_ZONE))
}

fn deflected(values: &PadValues) -> Vec<(Pad, i32)> {
    let percent = values.map(|value| (value * 100.0).round() as i32);
    Pad::ALL.into_iter().zip(percent).filter(|(_, percent)| *percent > 0).collect()
}

#[test]
fn sticks_rest_in_their_dead_zone_and_reach_all_the_way() {
    assert_eq!(after(xbox(), &[]), []);
    assert_eq!(after(playstation(), &[]), []);
    // A worn stick rests off its middle.
    assert_eq!(after(xbox(), &[Raw::Axis(0, 3000), Raw::Axis(1, -2500)]), []);
    assert_eq!(after(xbox(), &[Raw::Axis(0, 32767)]), [(Pad::LeftStickRight, 100)]);
    assert_eq!(after(xbox(), &[Raw::Axis(1, -32768)]), [(Pad::LeftStickUp, 100)]);
    let half = after(xbox(), &[Raw::Axis(3, -18842)]);
    assert_eq!(half, [(Pad::RightStickLeft, 50)]);
    // A corner is no farther than an end.
    let corner = after(playstation(), &[Raw::Axis(0, 255), Raw::Axis(1, 0)]);
    assert_eq!(corner, [(Pad::LeftStickUp, 71), (Pad::LeftStickRight, 71)]);
}

#[test]
fn triggers_hats_and_buttons_are_told_by_place() {
    assert_eq!(after(xbox(), &[Raw::Axis(2, 1023)]), [(Pad::LeftTrigger, 100)]);
    assert_eq!(after(xbox(), &[Raw::Axis(5, 40)]), []);
    assert_eq!(after(xbox(), &[Raw::Axis(17, -1)]), [(Pad::DPadUp, 100)]);
    assert_eq!(after(xbox(), &[Raw::Button(0x133, true)]), [(Pad::X, 100)]);
    assert_eq!(after(playstation(), &[Raw::Button(0x133, true)]), [(Pad::Y, 100)]);
    let pressed = [Raw::Button(0x130, true), Raw::Button(0x130, false), Raw::Button(0x13b, true)];
    assert_eq!(after(xbox(), &pressed), [(Pad::Start, 100)]);
    // An unknown pad: numbered buttons, and the right stick where others have triggers.
    let stick = range(0, 255, 15);
    let plain =
        About { vendor: 0x0079, axes: vec![(0, stick), (1, stick), (2, stick), (5, stick)] };
    let events = [Raw::Button(0x121, true), Raw::Axis(2, 255), Raw::Axis(5, 128)];
    assert_eq!(after(plain, &events), [(Pad::B, 100), (Pad::RightStickRight, 100)]);
}

#[test]
fn device_that_lies_yields_finite_deflections() {
    for (min, max) in [(0, 0), (5, -5), (i32::MIN, i32::MAX), (i32::MAX, i32::MAX)] {
        for value in [i32::MIN, -1, 0, 1, i32::MAX] {
            for flat in [i32::MIN, 0, i32::MAX] {
                let axes = (0..80).map(|code| (code, Range { min, max, flat, value: 0 }));
                let mut state = State::new(About { vendor: 0, axes: axes.collect() });
                for code in 0..700 {
                    state.handle(Raw::Axis(code, value));
                    state.handle(Raw::Button(code, true));
                }
                let values = state.values(0.6);
                assert!(values.iter().all(|it| (0.0..=1.0).contains(it)), "{values:?}");
            }
        }
    }
}

/// A device for tests: batches of events, then an error if it is unplugged.
#[derive(Debug, Default)]
struct Script {
    batches: Vec<Vec<Raw>>,
    pulled: bool,
    rumbles: Vec<Rumble>,
}

type Shared = Arc<Mutex<Script>>;

struct Fake(Shared);

struct Socket(Option<Shared>);

impl Device for Fake {
    fn about(&self) -> About {
        xbox()
    }

    fn read(&mut self) -> io::Result<Vec<Raw>> {
        let mut script = self.0.lock().unwrap();
        if script.pulled {
            return Err(io::Error::other("no such device"));
        }
        Ok(script.batches.pop().unwrap_or_default())
    }

    fn rumble(&mut self, rumble: Rumble) -> io::Result<()> {
        self.0.lock().unwrap().rumbles.push(rumble);
        Ok(())
    }
}

impl Ports for Socket {
    type Device = Fake;

    fn look(&mut self, _: &[PathBuf]) -> (Vec<(PathBuf, Fake)>, bool) {
        let found = self.0.take().map(|script| (PathBuf::from("pad"), Fake(script)));
        let forbidden = found.is_none();
        (found.into_iter().collect(), forbidden)
    }
}

/// Waits until a condition holds, for as long as a slow computer may need.
fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never comes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn short_press_is_felt_and_a_device_may_be_pulled_out() {
    let script = Shared::default();
    // Down and up within one reading.
    script.lock().unwrap().batches =
        vec![vec![Raw::Button(0x130, true), Raw::Button(0x130, false)]];
    let mut pads = Gamepads::with(Socket(Some(script.clone())));
    let mut seen = Vec::new();
    until(|| {
        seen = deflected(&pads.take(DEAD_ZONE));
        !seen.is_empty()
    });
    assert_eq!(seen, [(Pad::A, 100)]);
    until(|| deflected(&pads.take(DEAD_ZONE)).is_empty());
    let rumble = Rumble { strength: 0.5, length: Duration::from_millis(100) };
    pads.rumble(rumble);
    until(|| script.lock().unwrap().rumbles == [rumble]);
    assert_eq!(pads.state(), (1, false));
    script.lock().unwrap().batches = vec![vec![Raw::Axis(0, 32767)]];
    until(|| deflected(&pads.take(DEAD_ZONE)) == [(Pad::LeftStickRight, 100)]);
    script.lock().unwrap().pulled = true;
    until(|| pads.state().0 == 0 && deflected(&pads.take(DEAD_ZONE)).is_empty());
}

#[test]
fn gamepads_that_may_not_be_read_are_told() {
    let pads = Gamepads::with(Socket(None));
    until(|| pads.state() == (0, true));
}

/// The whole way through the kernel, where `/dev/uinput` may be written.
#[cfg(target_os = "linux")]
#[test]
fn virtual_gamepad_is_found_read_and_lost() {
    use evdev::uinput::VirtualDevice;
    use evdev::{
        AbsInfo, AbsoluteAxisCode, AttributeSet, EventType, InputEvent, KeyCode, UinputAbsSetup,
    };

    let Ok(builder) = VirtualDevice::builder() else {
        eprintln!("no /dev/uinput that may be written: not tried");
        return;
    };
    let keys = AttributeSet::from_iter([KeyCode::BTN_SOUTH, KeyCode::BTN_START]);
    let axis = |code| UinputAbsSetup::new(code, AbsInfo::new(0, -100, 100, 0, 0, 1));
    let built = builder.name("Phaselock's test").with_keys(&keys).and_then(|builder| {
        let builder = builder.with_absolute_axis(&axis(AbsoluteAxisCode::ABS_X))?;
        builder.with_absolute_axis(&axis(AbsoluteAxisCode::ABS_Y))?.build()
    });
    let mut device = built.expect("a virtual device");
    // In a container the kernel may make the device, but no file for it.
    let mut nodes = device.enumerate_dev_nodes_blocking().into_iter().flatten().flatten();
    if !nodes.any(|node| node.exists()) {
        eprintln!("no file in /dev/input for a new gamepad: not tried");
        return;
    }
    let mut pads = super::start();
    until(|| pads.state().0 > 0);
    let press = InputEvent::new(EventType::KEY.0, KeyCode::BTN_SOUTH.0, 1);
    device.emit(&[press]).expect("an event");
    until(|| deflected(&pads.take(DEAD_ZONE)) == [(Pad::A, 100)]);
    drop(device);
    until(|| deflected(&pads.take(DEAD_ZONE)).is_empty());
}
