//! The window's sound: cues for the mixer, volumes from the settings, and muting in the background.

use phaselock_sound::mixer::{Order, Volumes};
use phaselock_sound::output::{SoundOutput, SoundStatus};

use super::settings::Sound;
use phaselock_ui::cues::Cues;

/// Seed of the pitch variations; any will do.
const SEED: u32 = 7;
/// Seconds for which a notice about the sound is shown.
const NOTICE_SECS: f32 = 10.0;

/// Sound on the default device. Call [`advance`](Self::advance) once per frame.
pub(crate) struct Sounds {
    output: SoundOutput,
    volumes: Option<Volumes>,
    /// Whether the window is in the background.
    pub(crate) away: bool,
    /// Whether time does not run as it should be heard: a recording in slow motion.
    pub(crate) held: bool,
    /// The last reason for silence, and the seconds for which it has been shown.
    notice: Option<(String, f32)>,
}

impl Sounds {
    /// Opens the device, unless sound is muted for the whole run.
    pub(crate) fn new(mute: bool) -> Self {
        Self {
            output: if mute { SoundOutput::off() } else { SoundOutput::start(SEED) },
            volumes: None,
            away: false,
            held: false,
            notice: None,
        }
    }

    /// Plays the cues of a frame of `secs` seconds, at the volumes in the settings. If no thread
    /// feeds the device, `play` does.
    pub(crate) fn advance(
        &mut self,
        cues: &Cues,
        settings: &Sound,
        secs: f32,
        play: impl FnOnce(&mut SoundOutput),
    ) {
        let volumes = volumes(settings, self.away, self.held);
        // A full queue takes it in the next frame.
        if self.volumes != Some(volumes) && self.output.send(Order::Volumes(volumes)) {
            self.volumes = Some(volumes);
        }
        for order in cues.take_orders() {
            self.output.send(order);
        }
        play(&mut self.output);
        self.take_note(secs);
    }

    /// Stops all sounds of the world when it is left.
    pub(crate) fn hush(&self) {
        self.output.send(Order::Hush);
    }

    /// Why there is no sound, for a while after that is known.
    pub(crate) fn notice(&self) -> Option<&str> {
        let (reason, age) = self.notice.as_ref()?;
        (*age < NOTICE_SECS).then_some(reason)
    }

    fn take_note(&mut self, secs: f32) {
        if let Some((_, age)) = &mut self.notice {
            *age += secs;
        }
        match self.output.status() {
            SoundStatus::Starting => {}
            SoundStatus::Playing(_) => self.notice = None,
            // Every attempt fails the same way; that is not news.
            SoundStatus::Silent(reason) => {
                if self.notice.as_ref().is_none_or(|(before, _)| *before != reason) {
                    self.notice = Some((reason, 0.0));
                }
            }
        }
    }
}

/// Volumes from the settings, for a window in the background or not. While time is `held`, only the
/// sounds of the menu are heard.
fn volumes(settings: &Sound, away: bool, held: bool) -> Volumes {
    let of_world = if held { 0.0 } else { 1.0 };
    let part = |percent: u16| f32::from(percent.min(100)) / 100.0;
    let muted = settings.mute || (away && settings.mute_in_background);
    Volumes {
        master: if muted { 0.0 } else { part(settings.master) },
        channels: [
            part(settings.effects) * of_world,
            part(settings.music) * of_world,
            part(settings.interface),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn background_and_mute_are_silent_and_each_channel_has_its_volume() {
        let sound = Sound { music: 30, ..Settings::default().sound };
        let open = volumes(&sound, false, false);
        assert_eq!((open.master, open.channels[1]), (0.8, 0.3));
        let held = volumes(&sound, false, true);
        assert_eq!((held.master, &held.channels[..2]), (open.master, &[0.0, 0.0][..]));
        assert!(held.channels[2] > 0.0 && held.channels[2] == open.channels[2]);
        assert_eq!(volumes(&sound, true, false).master, 0.0);
        let loud = Sound { mute_in_background: false, ..sound };
        assert_eq!(volumes(&loud, true, false), open);
        assert_eq!(volumes(&Sound { mute: true, ..loud }, false, false).master, 0.0);
    }
}
