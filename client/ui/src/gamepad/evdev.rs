//! Gamepads on Linux, read from `/dev/input`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use evdev::{
    AbsoluteAxisCode, Device as Opened, EventSummary, FFEffect, FFEffectCode, FFEffectData,
    FFEffectKind, FFReplay, FFTrigger, KeyCode,
};

use super::driver::{Device, Ports};
use super::pad::{About, Range, Raw, Rumble};

const FOLDER: &str = "/dev/input";
/// Maximum number of files examined in the folder; the kernel makes no more than 1024.
const FILES_MAX: usize = 1024;
/// Share of the strength for the motor of fine rumble.
const FINE: f32 = 0.6;

/// The folder of devices.
#[derive(Debug)]
pub(super) struct Folder;

/// An open device file.
#[derive(Debug)]
pub(super) struct File {
    device: Opened,
    /// The playing rumble; it ends when dropped.
    effect: Option<FFEffect>,
}

impl Ports for Folder {
    type Device = File;

    fn look(&mut self, open: &[PathBuf]) -> (Vec<(PathBuf, File)>, bool) {
        let (mut found, mut denied, mut joystick) = (Vec::new(), false, false);
        let Ok(folder) = std::fs::read_dir(FOLDER) else { return (found, false) };
        for entry in folder.take(FILES_MAX).flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            joystick |= name.starts_with("js");
            if !name.starts_with("event") || open.contains(&path) {
                continue;
            }
            match Opened::open(&path) {
                Ok(device) if is_gamepad(&device) && device.set_nonblocking(true).is_ok() => {
                    found.push((path, File { device, effect: None }));
                }
                Ok(_) => {}
                Err(error) => denied |= error.kind() == io::ErrorKind::PermissionDenied,
            }
        }
        // Keyboards may not be readable either, as it should be.
        (found, denied && joystick)
    }
}

fn is_gamepad(device: &Opened) -> bool {
    let axes = device.supported_absolute_axes();
    let stick = axes.is_some_and(|axes| axes.contains(AbsoluteAxisCode::ABS_X));
    let keys = device.supported_keys();
    let buttons = [KeyCode::BTN_SOUTH, KeyCode::BTN_TRIGGER];
    stick && keys.is_some_and(|keys| buttons.iter().any(|it| keys.contains(*it)))
}

impl Device for File {
    fn about(&self) -> About {
        let infos = self.device.get_absinfo().map(Iterator::collect).unwrap_or_default();
        let infos: Vec<_> = infos;
        let range = |info: evdev::AbsInfo| Range {
            min: info.minimum(),
            max: info.maximum(),
            flat: info.flat(),
            value: info.value(),
        };
        let axes = infos.into_iter().map(|(code, info)| (code.0, range(info))).collect();
        About { vendor: self.device.input_id().vendor(), axes }
    }

    fn read(&mut self) -> io::Result<Vec<Raw>> {
        let events = match self.device.fetch_events() {
            Ok(events) => events,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let raw = |event: evdev::InputEvent| match event.destructure() {
            EventSummary::Key(_, code, value) => Some(Raw::Button(code.0, value != 0)),
            EventSummary::AbsoluteAxis(_, code, value) => Some(Raw::Axis(code.0, value)),
            _ => None,
        };
        Ok(events.filter_map(raw).collect())
    }

    fn rumble(&mut self, Rumble { strength, length }: Rumble) -> io::Result<()> {
        let can = self.device.supported_ff();
        if !can.is_some_and(|can| can.contains(FFEffectCode::FF_RUMBLE)) {
            return Ok(());
        }
        // The previous effect ends first: devices hold few effects.
        self.effect = None;
        let magnitude = |share: f32| (strength.clamp(0.0, 1.0) * share * 65535.0) as u16;
        let length = length.min(Duration::from_secs(1)).as_millis() as u16;
        let mut effect = self.device.upload_ff_effect(FFEffectData {
            direction: 0,
            trigger: FFTrigger::default(),
            replay: FFReplay { length, delay: 0 },
            kind: FFEffectKind::Rumble {
                strong_magnitude: magnitude(1.0),
                weak_magnitude: magnitude(FINE),
            },
        })?;
        effect.play(1)?;
        self.effect = Some(effect);
        Ok(())
    }
}
