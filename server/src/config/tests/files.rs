//! The configuration file, and the files that settings name.

use std::path::Path;

use super::*;

#[test]
fn a_missing_or_broken_file_is_an_error() {
    let error = refused(&[], &["PHASELOCK_CONFIG=/nowhere/at.toml"]);
    assert!(
        error.starts_with(
            "cannot read /nowhere/at.toml, which the environment variable PHASELOCK_CONFIG names: "
        ),
        "{error}"
    );
    let error = refused(&["--config=/nowhere/at.toml"], &["PHASELOCK_CONFIG=/else"]);
    assert!(
        error.starts_with("cannot read /nowhere/at.toml, which the flag --config names: "),
        "{error}"
    );

    for (content, line) in [("bots = 1\nname = \n", 2), ("bots", 1), ("\n\n[", 3)] {
        let file = ConfigFile::new(content);
        let error = refused(&["--config", file.path()], &[]);
        assert!(
            error.starts_with(&format!("line {line} of {} is not valid TOML: ", file.path())),
            "{content:?}: {error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let file = ConfigFile::new("bots = 1\nseed = 2\n\nbots = 3\nbots = 4");
    let doubled = |line: usize| {
        format!("bots is set twice in {}, in lines 1 and {line}; remove one", file.path())
    };
    let lines = refused(&["--config", file.path()], &[]);
    let lines: Vec<_> = lines.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with(&doubled(4)), "{lines:?}");
    assert!(lines[1].starts_with(&doubled(5)), "{lines:?}");
    for (content, key, lines) in [
        ("bots = 5\n[per_game.race]\nbots=1\nbots=3", "bots", "lines 3 and 4"),
        ("[per_game.race]\nbots=1\n# bots\nbots=3", "bots", "lines 2 and 4"),
        ("[per_game.puck]\nbots=1\n[per_game.race]\nbots=1\nbots=3", "bots", "lines 4 and 5"),
        ("[per_game.race]\nbots=1\n[per_game.puck]\n[per_game.race]", "race", "lines 1 and 4"),
        (
            "per_game.race.bots=1\nper_game.puck.bots=1\nper_game.race.bots=2",
            "bots",
            "lines 1 and 3",
        ),
        (
            "[[webhook]]\nurl='http://a'\n[[webhook]]\nurl='http://b'\n\"url\"='http://url'",
            "\"url\"",
            "lines 4 and 5",
        ),
        ("webhook = [{url='http://a'}, {url='http://b', url='http://c'}]", "url", "line 1"),
    ] {
        let file = ConfigFile::new(content);
        let error = refused(&["--config", file.path()], &[]);
        let doubled = format!("{key} is set twice in {}, in {lines}; remove", file.path());
        assert!(error.lines().any(|line| line.starts_with(&doubled)), "{content}: {error}");
    }
    // However many there are, this ends soon, and each is named.
    let file = ConfigFile::new(&"a=1\n".repeat(2000));
    let lines = refused(&["--config", file.path()], &[]);
    assert_eq!(lines.lines().filter(|line| line.starts_with("a is set twice")).count(), 256);
    assert!(lines.lines().any(|line| line.ends_with(": duplicate key a")), "{lines}");
    let file = ConfigFile::new("[server]\nbots = 1");
    assert!(refused(&["--config", file.path()], &[]).starts_with("\"server\" in "));
    let file = ConfigFile::new("bots = = 1\n\nseed = 5\ntick_hz = 5\nname = \nrooms = 2");
    let lines = refused(&["--config", file.path()], &[]);
    let places: Vec<_> = lines.lines().collect();
    assert_eq!(places.len(), 3, "{lines}");
    assert!(places[0].starts_with("line 1 of ") && places[1].starts_with("line 5 of "), "{lines}");
    assert!(places[2].contains(":4 is \"5\""), "{lines}");

    // As long as it may be, and longer by one.
    let file = ConfigFile::new(&"#".repeat(65_536));
    assert_eq!(serve(&["--config", file.path()], &[]), Config::default());
    let file = ConfigFile::new(&"#".repeat(65_537));
    let error = refused(&["--config", file.path()], &[]);
    assert!(error.ends_with("it is larger than 65536 bytes, the limit"), "{error}");
}

#[test]
fn values_in_a_file_have_their_own_types() {
    let file = ConfigFile::new(
        "watch_config = true\nlisten = [4433, \"127.0.0.1:7\"]\ngame = [\"a\", \"b\"]\nseed = 1_0",
    );
    let config = serve(&["--config", file.path()], &[]);
    assert!(config.operation.watch_config);
    assert_eq!(
        (config.joining.listen.len(), config.play.game.len(), config.play.seed),
        (2, 2, Some(10))
    );
    for (line, rule) in [
        ("name = 5", "text in quotes"),
        ("name = [\"a\"]", "text in quotes"),
        ("password = 12345", "text in quotes"),
        ("bots = 1.5", "a whole number"),
        ("bots = true", "a whole number"),
        ("bots = [1]", "a whole number"),
        ("bots = 2020-01-01", "a whole number"),
        ("watch_config = 1", "true or false"),
        ("game = true", "text in quotes, or several in square brackets"),
        ("game = [[\"a\"]]", "text in quotes, or several in square brackets"),
        ("listen = {}", "text in quotes, or several in square brackets"),
    ] {
        let (key, value) = line.split_once(" = ").expect("a line");
        let value = if key == "password" { "(hidden)" } else { value };
        let file = ConfigFile::new(line);
        let error = refused(&["--config", file.path()], &[]);
        let expected = format!("{key} in {}:1 is {value:?}, but must be {rule}", file.path());
        assert_eq!(error, expected);
    }
}

#[test]
fn all_mistakes_of_all_sources_are_told_at_once() {
    let file = ConfigFile::new("tick_hz = 9\nboots = 4\nmax_players = 0\nsnapshot_hz = 7");
    let lines = refused(
        &["--config", file.path(), "--rounds=0", "--key-file=x"],
        &["PHASELOCK_BOTS=many", "PHASELOCK_BOX=1"],
    );
    let path = file.path();
    for part in [
        "variable PHASELOCK_BOX is not a setting",
        &format!("\"boots\" in {path}:2 is not a setting; did you mean bots?"),
        &format!("tick_hz in {path}:1 is \"9\""),
        &format!("max_players in {path}:3 is \"0\""),
        "variable PHASELOCK_BOTS is \"many\"",
        "the flag --rounds is \"0\"",
        "the flag --key-file is not enough: cert_file is needed too",
    ] {
        assert!(lines.contains(part), "{part}\n{lines}");
    }
    assert_eq!(lines.lines().count(), 7, "the snapshots are not mentioned:\n{lines}");
}

#[test]
fn no_mistake_hides_behind_another() {
    let path = |file: &ConfigFile| file.path().to_owned();
    // An unknown game behind a wrong type, a wrong rate and another game of no type.
    let file = ConfigFile::new("game = [\"nonesuch\"]\nname = 7\ntick_hz = [60]\nsnapshot_hz = 7");
    let lines = refused(&["--config", file.path()], &[]);
    let at = path(&file);
    for part in [
        &format!("game in {at}:1 names \"nonesuch\", but there is no such game"),
        &format!("name in {at}:2 is \"7\""),
        &format!("tick_hz in {at}:3 is \"[60]\""),
    ] {
        assert!(lines.contains(part), "{part}\n{lines}");
    }
    assert_eq!(lines.lines().count(), 3, "the snapshots are not mentioned:\n{lines}");
    // A flag in place of what is wrong in the file decides what depends on it.
    let file = ConfigFile::new("tick_hz = [60]\nsnapshot_hz = 7");
    let lines = refused(&["--config", file.path(), "--tick-hz=60"], &[]);
    assert!(lines.contains("snapshot_hz") && lines.lines().count() == 2, "{lines}");
}

#[test]
fn every_mistake_in_a_list_is_told_with_its_place() {
    let secret = ConfigFile::new("short");
    let bad = format!(
        "deny_lists = [\"ftp://x/\", \"/nope\"]\n\
         web_origins = [\"https://a\", \"ftp://b\", \"c\", \"https://A\"]\n\
         directories = [\"a b\", \"one.example.org\", \"x:0\"]\n\
         listen = [\"nowhere\", 4433, \"1.2.3.4\"]\n\
         game = [\"Race\", \"puck\", \"\"]\nvotes = [\"rum\", \"kick\", \"cola\"]\n\
         send = [\"Rock=often\", \"Rock\"]\n[[webhook]]\nurl = \"ftp://x/\"\n\
         secret_file = {:?}\n[[webhook]]\nurl = \"https://discord.com/x\"\n\
         [[webhook]]\nulr = \"x\"\nevents = [\"jions\", \"alarms\", \"bans\"]\n",
        secret.path()
    );
    let file = ConfigFile::new(&bad);
    let told = refused(&["--config", file.path()], &[]);
    let mut told: Vec<_> = told.lines().collect();
    for (setting, problem) in [
        ("deny_lists", "; number 1 needs a URL of at most"),
        ("deny_lists", "; number 2 cannot be used: /nope: "),
        ("web_origins", "; number 2 is \"ftp://b\""),
        ("web_origins", "; number 3 is \"c\""),
        ("web_origins", "; number 4 repeats 1"),
        ("directories", "; number 1 is \"a b\""),
        ("directories", "; number 3 is \"x:0\""),
        ("listen", "; number 1 is \"nowhere\""),
        ("listen", "; number 3 is \"1.2.3.4\""),
        ("game", "; number 1 is \"Race\""),
        ("game", "; number 3 is \"\""),
        ("votes", "; number 1 is \"rum\""),
        ("votes", "; number 3 is \"cola\""),
        ("send", "; number 1 is \"Rock=often\": "),
        ("send", "; number 2 is \"Rock\""),
        ("webhook", "but number 1 needs a URL of at most"),
        ("webhook", "but number 1 has a secret that is not 16 to 256 bytes long"),
        ("webhook", "but number 3 has a mistake: unknown field `ulr`"),
        ("webhook", "but number 3 has a mistake: unknown variant `jions`"),
        ("webhook", "but number 3 has a mistake: unknown variant `bans`"),
    ] {
        let is_it = |line: &&str| line.starts_with(setting) && line.contains(problem);
        let at = told.iter().position(is_it).unwrap_or_else(|| panic!("{problem}\n{told:#?}"));
        told.remove(at);
    }
    assert_eq!(told, [""; 0]);
}

#[test]
fn two_services_do_not_share_a_port() {
    for (flags, mistake) in [
        (
            &["--web=4434"][..],
            "the flag --web has [::]:4434, but 127.0.0.1:4434 of the default of admin_listen \
             listens there; give one of them another port",
        ),
        (
            &["--web=127.0.0.1:80", "--admin-listen=127.0.0.1:80"],
            "the flag --web has 127.0.0.1:80, but 127.0.0.1:80 of the flag --admin-listen \
             listens there; give one of them another port",
        ),
        (
            &["--listen=127.0.0.1:7,0.0.0.0:7"],
            "the flag --listen has 0.0.0.0:7, but 127.0.0.1:7 of the same setting listens \
             there; give one of them another port",
        ),
        (
            &["--listen=[::]:7,192.0.2.7:7"],
            "the flag --listen has 192.0.2.7:7, but [::]:7 of the same setting listens there; \
             give one of them another port",
        ),
        (
            &["--listen=7,7"],
            "the flag --listen has [::]:7, but [::]:7 of the same setting listens there; give one \
             of them another port",
        ),
    ] {
        assert_eq!(refused(flags, &[]), mistake);
    }
    for good in [
        &["--web=4433"][..],
        &["--web=127.0.0.2:4434"],
        &["--web=4434", "--admin-listen=off"],
        &["--web=0", "--admin-listen=0"],
        &["--listen=127.0.0.1:7,127.0.0.2:7,[::1]:7"],
    ] {
        serve(good, &[]);
    }
}

#[test]
fn a_public_page_needs_a_listener_for_browsers() {
    let mistake = "the flag --public-page is not enough: web is needed too";
    assert_eq!(refused(&["--public-page"], &[]), mistake);
    assert_eq!(refused(&["--public-page", "--web=off"], &[]), mistake);
    assert!(serve(&["--public-page", "--web=4433"], &[]).http.public_page);
    let wrong = refused(&["--public-page", "--web=nowhere"], &[]);
    assert_eq!(wrong.lines().count(), 1, "{wrong}");
    let wrong = refused(&["--public-page=yes"], &[]);
    assert_eq!(wrong, "the flag --public-page is \"yes\", but must be true or false");
    // The listener opens with the next start, so a reload takes both over without a complaint.
    let file = ConfigFile::new("name = \"Here\"");
    let before = loaded(&["--config", file.path()], &[]);
    let closed = before.with("public_page", Some("true"), "root").expect_err("no listener");
    assert!(closed.to_string().ends_with("web is needed too"), "{closed}");
    fs::write(file.path(), "web = 4433\npublic_page = true").expect("writable");
    let newer = before.load_again(&judge).expect("it is good");
    let in_force = before.in_force(&newer).expect("the settings fit together").config;
    assert_eq!((in_force.http.public_page, in_force.http.web), (true, None));
}

#[test]
fn passwords_are_words_from_a_flag_or_a_file_and_shown_nowhere() {
    let file = ConfigFile::new("open sesame\r\n");
    let config = serve(&["--password-file", file.path()], &[]);
    let word = Some(Password("open sesame".to_owned()));
    assert_eq!(
        (&config.joining.password, serve(&["--password=open sesame"], &[]).joining.password),
        (&word, word.clone())
    );
    assert!(!format!("{:?}", loaded(&["--password=open sesame"], &[])).contains("sesame"));
    let both = refused(&["--password=a", "--password-file", file.path()], &[]);
    let expected = "the flag --password and the flag --password-file cannot be used together; \
                    remove one of them";
    assert_eq!(both, expected);
    let bad = [" x", "a\tb", "a\u{200b}", "\u{2060}", "a\u{a0}b", &"x".repeat(65)];
    for bad in bad {
        let error = refused(&[&format!("--password={bad}")], &[]);
        assert!(error.starts_with("the flag --password is \"(hidden)\", but must be 1 to 64"));
        let file = ConfigFile::new(bad);
        let error = refused(&["--password-file", file.path()], &[]);
        assert!(error.contains(", but must be a file with a password of 1 to 64 bytes"), "{error}");
    }
    for bad in ["", "x "] {
        refused(&[&format!("--password={bad}")], &[]);
    }
    for bad in ["/", "/nowhere", "/dev/null"] {
        let error = refused(&["--password-file", bad], &[]);
        assert!(error.contains(", but must be a file with the password; "), "{error}");
    }
}

#[test]
fn traces_of_editors_mean_nothing_in_the_files_of_a_host() {
    let key = "AB".repeat(32);
    for edit in [
        |text: &str| format!("\u{feff}{text}"),
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| format!("\u{feff}{}", text.replace('\n', "\r")),
        |text: &str| text.replace('\n', "  \n"),
        |text: &str| text.trim_end().to_owned(),
    ] {
        let file = ConfigFile::new(&edit("open sesame\n"));
        let password = serve(&["--password-file", file.path()], &[]).joining.password;
        assert_eq!(password, Some(Password("open sesame".to_owned())));
        let file = ConfigFile::new(&edit(&format!("{key} ada\n# none\n{key}\n")));
        let list = serve(&["--allow-list", file.path()], &[]).joining.allow_list.expect("a list");
        assert_eq!(list.keys, [(PublicKey([0xab; 32]), "ada".to_owned())].into());
        let file = ConfigFile::new(&edit("bots = 3\n# none\nrounds = 7\n"));
        let config = serve(&["--config", file.path()], &[]);
        assert_eq!((config.play.bots, config.play.rounds), (3, 7));
        let file = ConfigFile::new(&edit("bots = 3\n\nrounds = 0\n"));
        let error = refused(&["--config", file.path()], &[]);
        assert!(error.starts_with(&format!("rounds in {}:3 is \"0\"", file.path())), "{error}");
    }
}

#[test]
fn what_cannot_be_read_as_text_is_said() {
    let utf16: Vec<u8> = "\u{feff}bots = 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = b"open\nses\xe9me";
    for (flag, bytes, says) in [
        ("--config", &utf16[..], "it is in UTF-16 or UTF-32; save it as text in UTF-8"),
        ("--config", &utf16[2..], "line 1 has a zero byte"),
        ("--config", latin, "line 2 is not UTF-8"),
        ("--password-file", &utf16, "it is in UTF-16"),
        ("--password-file", latin, "line 2 is not UTF-8"),
        ("--password-file", b" \r\n", "it is empty"),
        ("--password-file", b"one\n\ntwo\n", "line 3 is one too many"),
        ("--allow-list", &utf16, "it is in UTF-16"),
        ("--allow-list", latin, "line 2 is not UTF-8"),
    ] {
        let file = ConfigFile::new("");
        fs::write(file.path(), bytes).expect("a temporary file");
        let error = refused(&[flag, file.path()], &[]);
        assert!(error.contains(says) && error.contains(file.path()), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_list_of_keys_says_which_line_has_none() {
    let key = "AB".repeat(32);
    let file = ConfigFile::new(&format!("# all\n\n  {key} ada\n{key}\n"));
    let list = serve(&["--allow-list", file.path()], &[]).joining.allow_list.expect("a list");
    assert_eq!(
        (list.path.as_path(), list.keys),
        (Path::new(file.path()), [(PublicKey([0xab; 32]), "ada".to_owned())].into())
    );
    for bad in [
        "x",
        &key[1..],
        &format!("\u{feff}{key}"),
        &format!("{key}0"),
        &"g".repeat(64),
        &"é".repeat(64),
    ] {
        let file = ConfigFile::new(&format!("{key}\n{bad}\n"));
        let error = refused(&["--allow-list", file.path()], &[]);
        assert!(error.ends_with("64 hexadecimal digits a line, and line 2 has none"), "{error}");
    }
    let numbers = (1..=20).map(|line| line.to_string()).collect::<Vec<_>>();
    for (count, told) in [
        (3, "and lines 1, 2 and 3 have none".to_owned()),
        (20, format!("and lines {} and 20 have none", numbers[..19].join(", "))),
        (33, format!("and lines {} and 13 more have none", numbers.join(", "))),
    ] {
        let file = ConfigFile::new(&format!("{}{key}", "x\n".repeat(count)));
        let error = refused(&["--allow-list", file.path()], &[]);
        assert!(error.lines().count() == 1 && error.ends_with(&told), "{error}");
    }
}

#[test]
fn the_file_takes_numbers_as_numbers() {
    let file = ConfigFile::new("listen = 9000\nseed = 0x10\nbots = 4");
    let config = serve(&["--config", file.path()], &[]);
    assert_eq!(
        (config.joining.listen[0].to_string().as_str(), config.play.seed, config.play.bots),
        ("[::]:9000", Some(16), 4)
    );
}
