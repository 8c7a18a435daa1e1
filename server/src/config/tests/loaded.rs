//! Origins of values, what differs between two configurations, and commands that print settings.

use super::*;

#[test]
fn each_value_has_its_origin() {
    let file = ConfigFile::new("\nbots = 3\nname = \"x\"");
    let args = ["--config", file.path(), "--rounds=9", "--password=sesame"];
    let list = loaded(&args, &["PHASELOCK_BOTS=4"]).list();
    assert_eq!(list.len(), settings().count());
    for (setting, value, origin) in [
        ("bots", "4", "the environment variable PHASELOCK_BOTS"),
        ("name", "x", &format!("name in {}:3", file.path())),
        ("rounds", "9", "the flag --rounds"),
        ("password", "(hidden)", "the flag --password"),
        ("tick_hz", "60", "default"),
        ("favour", "the game's", "default"),
        ("listen", "[::]:4433", "default"),
    ] {
        let found = list.iter().find(|it| it.setting == setting).expect("it is listed");
        assert_eq!((found.value.as_str(), found.origin.as_str()), (value, origin));
    }
}

#[test]
fn changes_are_told_with_what_takes_a_restart() {
    let file = ConfigFile::new("bots = 3\ntick_hz = 50\npassword = \"old\"");
    let args = ["--config", file.path(), "--rounds=9"];
    let before = loaded(&args, &[]);
    fs::write(file.path(), "bots = 4\ntick_hz = 30\nrounds = 5\npassword = \"new\"")
        .expect("writable");
    let after = before.load_again(&judge).expect("it is good");
    let changes = before.changes(&after);
    let told: Vec<_> = changes
        .iter()
        .map(|it| (it.setting.as_str(), it.from.as_str(), it.to.as_str(), it.restart.is_some()))
        .collect();
    // The default of the snapshots goes with the ticks.
    assert_eq!(
        told,
        [
            ("bots", "3", "4", false),
            ("tick_hz", "50", "30", true),
            ("snapshot_hz", "25", "30", true),
            ("password", "(hidden)", "(hidden)", false),
        ]
    );
    let in_force = before.in_force(&after).expect("the settings fit together");
    let config = &in_force.config;
    assert_eq!(
        (config.play.bots, config.play.tick_hz, config.play.snapshot_hz, config.play.rounds),
        (4, 50, 25, 9)
    );
    assert_eq!(config.joining.password, Some(Password("new".to_owned())));
    assert_eq!(in_force.changes(&after).len(), 2, "changes that need a restart are pending");

    fs::write(file.path(), "bots = -1\nname = 4").expect("writable");
    let mistakes = before.load_again(&judge).expect_err("it is wrong");
    assert_eq!(mistakes.len(), 2);
}

#[test]
fn keys_that_change_in_their_file_are_a_change() {
    let list = ConfigFile::new(&"01".repeat(32));
    let before = loaded(&["--allow-list", list.path()], &[]);
    assert_eq!(before.changes(&before.load_again(&judge).expect("it is good")), []);
    fs::write(list.path(), "02".repeat(32)).expect("writable");
    let changes = before.changes(&before.load_again(&judge).expect("it is good"));
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].setting.as_str(), changes[0].restart), ("allow_list", None));
}

#[test]
fn commands_about_settings() {
    let shown = |args: &[&str]| match run(args, &["PHASELOCK_BOTS=5"]) {
        Ok(Command::Show { settings, is_json }) => (settings.config.play.bots, is_json),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&["config"]), (5, false));
    assert_eq!(shown(&["config", "--json", "--bots=6"]), (6, true));
    assert!(matches!(run(&["--check-config"], &[]), Ok(Command::Check(_))));
    let error = refused(&["--check-config", "--bots=x", "--rounds=0"], &["PHASELOCK_LOG=x"]);
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn tables_of_games_and_rooms_have_settings_of_rooms_alone() {
    let file = ConfigFile::new(
        "[per_game.race]\nrounds = 5\n[per_room.lobby]\nmax_players = 8\nvotes = [\"kick\"]",
    );
    let settings = loaded(&["--config", file.path(), "--max-players=9"], &[]);
    let special: Vec<_> = settings
        .config
        .special
        .iter()
        .map(|it| {
            let room = it.room.as_ref().map(|code| code.as_str());
            (room, it.game.as_deref(), it.config.play.rounds, it.config.play.max_players)
        })
        .collect();
    assert_eq!(
        special,
        [
            (None, Some("race"), 5, 9),
            (Some("lobby"), None, 2, 8),
            (Some("lobby"), Some("race"), 5, 8),
        ]
    );
    let list = settings.list();
    let shown = list.iter().find(|it| it.setting == "per_room.lobby.max_players").expect("listed");
    let origin = format!("max_players of [per_room.lobby] in {}:4", file.path());
    assert_eq!((&*shown.value, &*shown.origin), ("8", &*origin));
    for (content, problem) in [
        ("[per_room.lobby]\nmax_players = 0", "max_players of [per_room.lobby] in"),
        ("[per_room.lobby]\nlisten = 5", "\"listen\" of [per_room.lobby] in"),
        ("[per_room.lobby]\nmax_player = 5", "did you mean max_players?"),
        ("[per_room.\"No Code\"]\nbots = 5", "the code of a room"),
        ("[per_room]\nlobby = 5", ":2 is \"5\", but must be a table"),
        ("per_room = 5", ":1 is \"5\", but must be tables such as [per_room.lobby]"),
        ("per_game = 'race'", ":1 is \"'race'\", but must be tables such as [per_game.race]"),
        ("[[per_game]]", "but must be tables such as [per_game.race]"),
    ] {
        let file = ConfigFile::new(content);
        let error = refused(&["--config", file.path()], &[]);
        assert!(error.contains(problem), "{content}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
