//! Tests of the settings: faulty files, files shared by two windows, documentation.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::file::{FILE_BYTES_MAX, FileError, read, write};
use super::keys::{KEYS, Key};
use super::values::{FrameCap, Language, WindowSize};
use super::{Settings, Store};
use crate::manual_tests;
use crate::records::New;
use phaselock::client::GhostChoice;
use phaselock::game::Strength;
use phaselock::textfile::TextError;
use phaselock_quic::local::Bots;
use phaselock_ui::actions::{ALL, Action};
use phaselock_ui::color_vision::Palette;

const LATER: Duration = Duration::from_secs(10);

/// Settings without any default value.
fn others() -> Settings {
    let mut settings = Settings::default();
    settings.player.name = "Ada".into();
    (settings.player.color, settings.player.look) = (11, 7);
    settings.player.input_delay = 2;
    settings.player.keep_minutes = false;
    settings.player.ghost = GhostChoice::Of("Grace".into());
    let sound = &mut settings.sound;
    (sound.master, sound.effects, sound.music, sound.interface) = (1, 2, 3, 4);
    (sound.mute, sound.mute_in_background) = (true, false);
    let display = &mut settings.display;
    display.frame_cap = FrameCap::PerSecond(144);
    (display.vsync, display.fullscreen, display.reduced_motion) = (false, true, true);
    display.replays = false;
    display.window_size = WindowSize { width: 800, height: 600 };
    (display.ui_scale, display.text_scale) = (1.25, 1.1);
    display.palette = Palette::Tritanopia;
    display.language = Language::Code("eo".into());
    (settings.gamepad.rumble, settings.gamepad.dead_zone) = (0, 20);
    settings.last.server = "example.org:4433".into();
    settings.last.games = vec!["race".into(), "puck".into()];
    settings.last.bots = Bots { count: 0, strength: Strength::Hard };
    settings.last.panels = vec!["graph".into()];
    settings.seen.lessons = vec!["moving".into()];
    let race = settings.controls.entry("race".into()).or_default();
    race.insert("throttle".into(), vec!["W".into(), "Pad:RightTrigger".into()]);
    settings.note_record(New { game: "race", name: "lap", value: 38.25 });
    settings.note_record(New { game: "puck", name: "goals", value: 7.0 });
    settings
}

fn change(path: &Path, how: impl FnOnce(&mut Settings)) -> Store {
    let mut store = Store::open(Some(path.to_owned()));
    how(&mut store.settings);
    store.poll(Duration::ZERO);
    store.poll(LATER);
    store
}

#[test]
fn settings_come_back_as_they_were_and_every_key_is_documented() {
    let (base, now) = (Settings::default(), others());
    let text = write(b"", &base, &now).unwrap();
    assert_eq!(read(text.as_bytes()), Ok((now.clone(), Vec::new())), "{text}");
    for key in KEYS {
        let line = text.lines().position(|line| line.starts_with(&format!("{} =", key.name)));
        let above = line.and_then(|line| text.lines().nth(line - 1));
        assert_eq!(above, Some(&*format!("# {}", key.about)), "{text}");
        let mut fresh = base.clone();
        let differs = key.value(&mut fresh).to_string() != key.value(&mut now.clone()).to_string();
        assert!(differs, "{} is not tried here", key.name);
    }
    // Written again, the file stays the same byte for byte.
    assert_eq!(write(text.as_bytes(), &now, &now).as_deref(), Ok(&*text));
}

#[test]
fn page_for_players_lists_every_setting_and_every_action_of_all_games() {
    let Some(page) = manual_tests::page("reference.md") else { return };
    let setting = |key: &Key| format!("| `{}` | `{}` | {} |", key.section, key.name, key.about);
    let action = |action: &Action| {
        format!("| `{}` | {} | `{}` |", action.id, action.title, action.keys.join("`, `"))
    };
    let settings = KEYS.iter().map(setting).collect::<Vec<_>>().join("\n");
    let actions = ALL.iter().map(action).collect::<Vec<_>>().join("\n");
    for (head, rows) in [
        ("| section | key | |", settings),
        ("| action of all games | | unless bound otherwise |", actions),
    ] {
        let table = format!("\n{head}\n|---|---|---|\n{rows}\n\n");
        assert!(page.contains(&table), "the table in docs/playing/reference.md has to be:{table}");
    }
}

#[test]
fn bad_value_costs_its_own_default_and_a_sentence_with_its_line() {
    let text = "[sound]\nmaster = 200\neffects = 3\nvolume = 1\n[display]\nframe_cap = \"fast\"\n\
                ui_scale = nan\npalette = 7\nlanguage = \"../../etc\"\n[player]\n\
                name = \"\\u0000\"\n\
                color = -1\n[new]\nx = 1\n[controls]\nrace = 3\n[controls.all]\nchat = [7]\n\
                scores = [\"Tab\"]\n[records]\npuck = 3\n[records.race]\nlap = nan\ntime = 130\n";
    let (settings, problems) = read(text.as_bytes()).unwrap();
    let mut wanted = Settings::default();
    wanted.sound.effects = 3;
    wanted.controls.entry("all".into()).or_default().insert("scores".into(), vec!["Tab".into()]);
    wanted.note_record(New { game: "race", name: "time", value: 130.0 });
    assert_eq!(settings, wanted);
    let all = problems.join("\n");
    for says in [
        "line 2: master in [sound] must be a whole number from 0 to 100; its default is used.",
        "line 4: volume is not known; it stays.",
        "line 6: frame_cap in [display] must be \"display\", \"none\" or a number from 30 to 500",
        "line 7: ui_scale in [display] must be a number from 0.75 to 2",
        "line 8: palette",
        "line 9: language",
        "line 11: name",
        "line 12: color",
        "line 13: [new] is not known",
        "line 16: controls.race must be a table",
        "line 18: chat must be at most 8",
        "line 21: records.puck must be a table",
        "line 23: lap must be a number",
    ] {
        assert!(all.contains(says), "{says}\n---\n{all}");
    }
    assert_eq!(problems.len(), 13, "{all}");
    let many: String = (0..500).map(|n| format!("[section{n}]\n")).collect();
    assert_eq!(read(many.as_bytes()).unwrap().1.len(), 21);
}

#[test]
fn comments_and_unknown_keys_stay_when_the_file_is_written() {
    let text = "# mine\n[sound] # loud\n# why\nmaster = 90 # so\nvolume = 1\n[new]\nx = [1,\n 2]\n";
    let (base, _) = read(text.as_bytes()).unwrap();
    let mut now = base.clone();
    now.sound.master = 10;
    let written = write(text.as_bytes(), &base, &now).unwrap();
    let start = "# mine\n[sound] # loud\n# why\nmaster = 10 # so\nvolume = 1\n";
    assert!(written.starts_with(start), "{written}");
    assert!(written.contains("[new]\nx = [1,\n 2]\n"), "{written}");
    assert_eq!(read(written.as_bytes()).unwrap().0, now);
}

#[test]
fn files_beyond_use_are_told_with_the_cause() {
    let refused = |bytes| read(bytes).expect_err("it is no text");
    let too_long = TextError::TooLong(FILE_BYTES_MAX);
    assert_eq!(refused(&[b' '; FILE_BYTES_MAX + 1]), FileError::Text(too_long));
    assert_eq!(refused(b"\n\xff"), FileError::Text(TextError::Utf8(2)));
    assert_eq!(refused(b"\xff\xfe[\0"), FileError::Text(TextError::Utf16));
    let error = read(b"[sound]\nmaster = = 3\n").unwrap_err().to_string();
    assert!(error.starts_with("line 2: "), "{error}");
    let deep = "a = ".to_owned() + &"[".repeat(30_000);
    assert!(matches!(read(deep.as_bytes()), Err(FileError::Toml { .. })));
    for text in ["\u{feff}[sound]\nmaster = 3", "[sound]\r\nmaster = 3  \r", "[sound]\rmaster = 3"]
    {
        let (settings, problems) = read(text.as_bytes()).unwrap();
        assert_eq!((settings.sound.master, problems.len()), (3, 0), "{text:?}");
    }
    let (_, problems) = read(b"\xef\xbb\xbf[sound]\r\rmaster = 300\r").unwrap();
    assert!(problems[0].starts_with("line 3: master"), "{problems:?}");
}

#[test]
fn broken_file_is_set_aside_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    for n in ["", "-2"] {
        let broken = format!("what is this{n}");
        fs::write(&path, &broken).unwrap();
        let store = Store::open(Some(path.clone()));
        assert!(store.problems()[0].contains("cannot be read, so the defaults are used: line 1"));
        drop(store);
        assert_eq!(fs::read_to_string(&path).unwrap(), broken, "reading changes nothing");
        let store = change(&path, |settings| settings.sound.master = 7);
        let aside = folder.path().join(format!("settings.toml.broken{n}"));
        assert_eq!(fs::read_to_string(aside).unwrap(), broken);
        assert!(store.problems()[0].contains(&format!(".broken{n}")));
        assert_eq!(Store::open(Some(path.clone())).settings.sound.master, 7);
    }
}

#[test]
fn two_windows_keep_each_others_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("phaselock/settings.toml");
    let mut first = Store::open(Some(path.clone()));
    let mut second = Store::open(Some(path.clone()));
    first.settings.sound.master = 7;
    first.settings.controls.entry("all".into()).or_default().insert("chat".into(), vec![]);
    first.save();
    first.settings.note_record(New { game: "race", name: "lap", value: 40.0 });
    first.save();
    second.settings.display.fullscreen = true;
    second.settings.note_record(New { game: "puck", name: "goals", value: 3.0 });
    second.settings.controls.entry("all".into()).or_default().insert("ready".into(), vec![]);
    second.save();
    let both = Store::open(Some(path)).settings;
    assert_eq!((both.sound.master, both.display.fullscreen), (7, true));
    assert_eq!(both.controls["all"].len(), 2);
    assert_eq!(both.records.len(), 2);
}

#[test]
fn file_is_written_a_second_after_the_last_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let mut store = Store::open(Some(path.clone()));
    let ms = Duration::from_millis;
    store.poll(ms(0));
    for n in 0..30 {
        store.settings.sound.master = n;
        store.poll(ms(100 * u64::from(n)));
    }
    store.poll(ms(3_800));
    assert!(!path.exists(), "the last change is 900 ms old");
    store.poll(ms(3_900));
    assert_eq!(Store::open(Some(path)).settings.sound.master, 29);
}

#[test]
fn path_that_cannot_be_used_costs_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let store = change(folder.path(), |settings| settings.sound.mute = true);
    let problem = &store.problems()[0];
    assert!(
        problem.contains("Cannot save the settings in") && problem.contains("not a file"),
        "{problem}"
    );
    assert!(store.settings.sound.mute);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let store = change(&file.join("settings.toml"), |settings| settings.sound.mute = true);
    assert!(store.problems()[0].contains("Cannot save the settings in"), "{:?}", store.problems());
}
