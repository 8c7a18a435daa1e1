//! The host's actions on a server in this process, with players over QUIC.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use phaselock::server::{Command, Event, Mute};
use phaselock::wire::disconnect::Code;
use phaselock_quic::server::RoomEvent;

mod clocks;
mod ghosts;
mod restarts;
mod spellings;

use self::clocks::Hands;
use super::{Host, Whom};
use crate::api::{Drain, Punish};
use crate::author::{Author, Right, Role};
use crate::error::ActError;
use crate::people::Rules;
use crate::sentence::{Act, Sentence};
use crate::store::{audit_of, public_bests, records_of, results_of};
use crate::subject::{Subject, parse_key};
use crate::tests::{Served, author, serve};

impl Host {
    /// Whether a player of that name has a seat.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.roster().people().any(|it| it.name == name)
    }
}

fn whom(who: &str) -> Whom {
    Whom { who: who.into(), room: None }
}

fn against(who: &str, span: &str, reason: &str) -> Punish {
    Punish {
        who: Some(who.into()),
        span: Some(span.into()),
        reason: reason.into(),
        ..Punish::default()
    }
}

fn key_of(host: &Host, name: &str) -> String {
    host.roster().find(name, None).expect("a player has that name").key.to_string()
}

fn give(served: &Served, name: &str, role: Role) {
    let key = key_of(&served.host, name);
    let by = author(Role::Admin);
    served.wait(served.host.set_role(&by, None, Some(&key), Some(role))).expect("an admin may");
}

fn forbidden<T>(done: Result<T, ActError>) -> bool {
    matches!(done, Err(ActError::Forbidden(_)))
}

#[test]
fn a_drain_checks_its_time_and_redirect() {
    let served = serve(&[]);
    let _ada = served.join("Ada");
    let host = &served.host;
    let by = author(Role::Admin);
    let order = |within: &str, to: &str| {
        let order =
            Drain { within: Some(within.into()), redirect: Some(to.into()), ..Drain::default() };
        served.wait(host.drain(&by, &order)).map_err(|error| error.to_string())
    };
    for within in ["999w", "61m", "forever"] {
        let error = order(within, "two.example.org").expect_err(within);
        let expected = format!("a server drains for at most 1 hour, and {within} is longer");
        assert_eq!(error, expected);
    }
    for to in ["", "no where", "https://example.org", "two.example.org:0", "a..b:1", "::1:x"] {
        let error = order("5m", to).expect_err(to);
        let expected = format!("the redirect is {to:?}, but must be a name or an IP");
        assert!(error.starts_with(&expected), "{error}");
    }
    let long = Drain { text: Some("x".repeat(257)), ..Drain::default() };
    let error = served.wait(host.drain(&by, &long)).expect_err("too long").to_string();
    assert!(error.starts_with("the goodbye is "), "{error}");
    assert!(host.handle.draining().is_none(), "a refused message changes nothing");

    let done = order("45s", "Two.example.org").expect("it is drained");
    assert!(
        done.ends_with(
            "stops in 45 seconds at the latest; players are sent to \
        two.example.org:4433"
        ),
        "{done}"
    );
    let drain = host.status_now().draining.expect("it is visible at once");
    assert_eq!(drain.redirect.as_deref(), Some("two.example.org:4433"));
    assert_eq!(
        drain.text,
        "the server shuts down after this round, or in 45 seconds at the latest"
    );
    assert!((0..=46).contains(&(drain.until - host.clocks.unix())));
}

#[test]
fn each_right_has_a_minimum_role() {
    for (right, lowest) in
        [(Right::Look, Role::Viewer), (Right::Order, Role::Moderator), (Right::Manage, Role::Admin)]
    {
        for role in Role::ALL {
            assert_eq!(role.may(right), role >= lowest, "{role} and {right:?}");
            assert_eq!(author(role).needs(right).is_ok(), role >= lowest);
        }
    }
}

#[test]
fn each_action_requires_its_role() {
    let served = serve(&[]);
    let host = &served.host;
    let unseen = "ab".repeat(32);
    let key =
        || Punish { key: Some(unseen.clone()), span: Some("1m".into()), ..Default::default() };
    let forever = || Punish { key: Some(unseen.clone()), ..Default::default() };
    let network = || Punish {
        network: Some("192.0.2.0/24".into()),
        span: Some("1m".into()),
        ..Default::default()
    };
    for role in Role::ALL {
        let by = author(role);
        let orders = [
            ("kick", forbidden(served.wait(host.kick(&by, &whom("nobody"), None, "")))),
            ("ban", forbidden(served.wait(host.punish(&by, Act::Ban, &key())))),
            ("mute", forbidden(served.wait(host.punish(&by, Act::Mute, &forever())))),
            ("unban", forbidden(served.wait(host.lift(&by, Act::Ban, 99)))),
            ("unmute", forbidden(served.wait(host.lift(&by, Act::Mute, 99)))),
            ("say", forbidden(served.wait(host.say(&by, "hello", None)))),
        ];
        for (act, is_forbidden) in orders {
            assert_eq!(is_forbidden, role < Role::Moderator, "{act} by {role}");
        }
        let drain = Drain { redirect: Some("no where".into()), ..Drain::default() };
        let mine = author(Role::Admin);
        let acts = [
            ("ban for ever", forbidden(served.wait(host.punish(&by, Act::Ban, &forever())))),
            ("ban a network", forbidden(served.wait(host.punish(&by, Act::Ban, &network())))),
            ("game", forbidden(served.wait(host.play(&by, Some("chess"), None)))),
            ("round", forbidden(served.wait(host.play(&by, None, Some("99"))))),
            ("drain", forbidden(served.wait(host.drain(&by, &drain)))),
            ("undrain", forbidden(served.wait(host.undrain(&by)))),
            ("skip restart", forbidden(served.wait(host.skip_restart(&by)))),
            ("reload", forbidden(served.wait(host.reload(&by)))),
            ("log level", forbidden(served.wait(host.set_log_level(&by, "info")))),
            ("backup", forbidden(served.wait(host.backup(&by, "../x")))),
            ("token", forbidden(served.wait(host.make_token(&by, "no name", Role::Viewer)))),
            ("no token", forbidden(served.wait(host.drop_token(&by, "nobody's")))),
            (
                "role",
                forbidden(served.wait(host.set_role(&by, None, Some("x"), Some(Role::Admin)))),
            ),
        ];
        for (act, is_forbidden) in acts {
            assert_eq!(is_forbidden, role < Role::Admin, "{act} by {role}");
        }
        for ban in host.access.sentences(Act::Ban, 0) {
            assert!(role >= Role::Moderator, "a {role} has banned");
            served.wait(host.lift(&mine, Act::Ban, ban.id)).expect("an admin may");
        }
    }
}

#[test]
fn players_of_a_higher_role_cannot_be_acted_on() {
    let served = serve(&[]);
    let host = &served.host;
    let (mut ada, mut bob) = (served.join("Ada"), served.join("Bob"));
    give(&served, "Ada", Role::Admin);
    let moderator = author(Role::Moderator);
    let key = key_of(host, "Ada");
    let seat = format!("p{}", host.roster().find("Ada", None).expect("she is present").player.0);
    for who in ["Ada", "ada", &*seat, &key[..8], &key] {
        assert!(forbidden(served.wait(host.kick(&moderator, &whom(who), None, ""))), "{who}");
        for act in [Act::Ban, Act::Mute] {
            let done = served.wait(host.punish(&moderator, act, &against(who, "1m", "")));
            assert!(forbidden(done), "{act:?} of {who}");
        }
    }
    let by_key = Punish { key: Some(key), span: Some("1m".into()), ..Default::default() };
    assert!(forbidden(served.wait(host.punish(&moderator, Act::Ban, &by_key))));
    let address =
        Punish { address: Some("127.0.0.1".into()), span: Some("1m".into()), ..Default::default() };
    assert!(forbidden(served.wait(host.punish(&moderator, Act::Ban, &address))));
    assert_eq!(host.access.sentences(Act::Ban, 0), []);
    let done = served.wait(host.kick(&moderator, &whom("Bob"), None, "too\u{7} loud "));
    done.expect("Bob has no role");
    bob.is_put_out(Code::Kicked, "the moderator kicked you: too loud");
    ada.play(Duration::from_millis(50));
    assert!(ada.ends.is_empty());
}

#[test]
fn a_kick_with_a_time_bans_a_player_who_has_just_left() {
    let served = serve(&[]);
    let host = &served.host;
    let ada = served.join("Ada");
    let person = host.roster().find("Ada", None).expect("she is present");
    drop(ada);
    // The room no longer has such a seat, or never had one.
    let gone = crate::host::roster::Person { player: phaselock::ids::PlayerId(77), ..person };
    let key = gone.key;
    host.roster().put(gone);
    let kicked = served.wait(host.kick(&author(Role::Admin), &whom("p77"), Some("1h"), "gone"));
    let bans = host.access.sentences(Act::Ban, 0);
    let written =
        served.wait(host.store.read(|db| {
            db.query_row("SELECT count(*) FROM sentences", [], |row| row.get::<_, u32>(0))
        }));
    // Both in memory and on the disk, or in neither.
    assert_eq!(bans.len(), written.expect("it can be read") as usize, "{kicked:?}");
    assert!(bans.iter().all(|ban| ban.subject == Subject::Key(key)));
    assert_eq!(kicked.is_ok(), bans.len() == 1, "{kicked:?}");
}

#[test]
fn a_moderator_cannot_lift_an_admins_ban() {
    for act in [Act::Ban, Act::Mute] {
        lifts_nothing_of_an_admin(act);
    }
}

fn lifts_nothing_of_an_admin(act: Act) {
    let served = serve(&[]);
    let host = &served.host;
    let made = |role: Role| {
        let request =
            Punish { key: Some("cd".repeat(32)), span: Some("7d".into()), ..Punish::default() };
        let (sentences, ..) = served.wait(host.punish(&author(role), act, &request)).expect("done");
        sentences[0].id
    };
    let id = made(Role::Admin);
    assert!(forbidden(served.wait(host.lift(&author(Role::Moderator), act, id))));
    served.wait(host.lift(&author(Role::Admin), act, id)).expect("an admin may");
    let id = made(Role::Moderator);
    served.wait(host.lift(&author(Role::Moderator), act, id)).expect("it is a moderator's");
}

#[test]
fn lifting_all_leaves_only_what_the_author_may_not_lift() {
    let served = serve(&[]);
    let host = &served.host;
    let _ada = served.join("Ada");
    let [moderator, admin] = [Role::Moderator, Role::Admin].map(author);
    let key = key_of(host, "Ada");
    let player = host.roster().find("Ada", None).expect("she is present").player;
    let seat = format!("p{}", player.0);
    let mute = |by: &Author, key: Option<String>, address: Option<&str>| {
        let request = Punish {
            key,
            address: address.map(str::to_owned),
            span: Some("7d".into()),
            ..Punish::default()
        };
        served.wait(host.punish(by, Act::Mute, &request)).expect("done");
    };
    // The mute that cannot be lifted comes first.
    mute(&admin, None, Some("127.0.0.1"));
    mute(&moderator, Some(key.clone()), None);
    let lines = served.wait(host.lift_all(&moderator, Act::Mute, &whom(&seat))).expect("one is");
    let stays = "127.0.0.1 is still muted: the admin decided this as admin and outranks the \
                 moderator, who is moderator";
    assert_eq!(lines, [format!("{key} is no longer muted"), stays.to_owned()]);
    let error = served.wait(host.lift_all(&moderator, Act::Mute, &whom(&seat)));
    assert_eq!(error.expect_err("none is").to_string(), stays);
}

#[test]
fn only_players_with_a_role_can_use_chat_commands() {
    let served = serve(&[]);
    let (mut ada, mut bob) = (served.join("Ada"), served.join("Bob"));
    bob.say("/kick Ada now");
    bob.wait_for_line("you have no command /kick");
    bob.say("/help");
    bob.wait_for_line("/help");
    assert!(!bob.lines.iter().any(|line| line.contains("/ban")), "{:?}", bob.lines);
    bob.say("/players");
    bob.wait_for_line("Ada, p");
    give(&served, "Ada", Role::Moderator);
    ada.say("/help");
    ada.wait_for_line("/kick PLAYER [TIME] [REASON]");
    ada.wait_for_line("your role is moderator");
    ada.say("/game puck");
    ada.wait_for_line("you have no command /game");
    ada.say("/kick");
    ada.wait_for_line("usage: /kick PLAYER [TIME] [REASON]");
    ada.say("/players");
    ada.wait_for_line("Ada (moderator)");
    ada.say("/mute bob 1h he shouts");
    ada.wait_for_line("is muted");
    bob.say("can anybody hear me?");
    bob.wait_for_line("he shouts");
    ada.say("/unmute \"Bob\"");
    ada.wait_for_line("is no longer muted");
    ada.say("/kick bob 10m too loud");
    bob.is_put_out(Code::Kicked, "too loud");
    ada.wait_for_line("Bob was kicked");
    drop(bob);
    let mut again = served.knock("Bob", None);
    let end = again.is_put_out(Code::Banned, "you are banned for another");
    assert!(end.text.contains("too loud"), "{end:?}");
    assert!(!ada.lines.iter().any(|line| line.contains("can anybody")), "{:?}", ada.lines);
    // No other player has seen a command.
    assert!(!ada.lines.iter().any(|line| line.starts_with("Bob: /")), "{:?}", ada.lines);
    let audit = served.wait(served.host.store.read(|db| audit_of(db, None, 100)));
    let audit = audit.expect("it can be read");
    let kick = audit.iter().find(|line| line.act == "kick").expect("it was written");
    // Names can be chosen at will, so the key is shown with it.
    assert!(kick.by.starts_with("Ada ["), "{}", kick.by);
    assert_eq!((&*kick.role, kick.why.as_deref()), ("moderator", Some("too loud")));
    assert!(!audit.iter().any(|line| line.by.starts_with("Bob")));
}

#[test]
fn a_new_key_does_not_evade_the_ban_of_an_address() {
    let served = serve(&[]);
    let host = &served.host;
    let (mut ada, mut root) = (served.join("Ada"), served.join("Root"));
    give(&served, "Root", Role::Admin);
    let request = Punish {
        address: Some("127.0.0.1".into()),
        reason: "a crowd of bots".into(),
        ..Punish::default()
    };
    let (bans, ..) =
        served.wait(host.punish(&author(Role::Admin), Act::Ban, &request)).expect("done");
    ada.is_put_out(Code::Banned, "your address is banned for good: a crowd of bots");
    drop(ada);
    let mut other = served.knock("Eve", None);
    other.is_put_out(Code::Banned, "your address is banned for good: a crowd of bots");
    // A moderator is not kicked with a neighbour, and can join again.
    root.play(Duration::from_millis(100));
    assert!(root.ends.is_empty());
    drop(root);
    served.join("Root");
    served.wait(host.lift(&author(Role::Admin), Act::Ban, bans[0].id)).expect("it is there");
    served.join("Zoe");
}

#[test]
fn a_player_who_moves_is_held_to_the_bans_and_mutes_of_the_new_address() {
    let served = serve(&[]);
    let host = &served.host;
    let (mut ada, mut bob) = (served.join("Ada"), served.join("Bob"));
    for (act, address) in [(Act::Ban, "192.0.2.9"), (Act::Mute, "::ffff:198.51.100.9")] {
        let address = Some(address.into());
        let request = Punish { address, reason: "spam".into(), ..Punish::default() };
        served.wait(host.punish(&author(Role::Admin), act, &request)).expect("done");
    }
    let go = |address: &str, is_muted| {
        let person = host.roster().find("Ada", None).expect("she is present");
        let address = address.parse().expect("an address");
        let event = Event::Moved { player: person.player, address, is_muted };
        served
            .wait(host.handle_event(RoomEvent { room: person.room, event }, &mut BTreeMap::new()));
    };
    // The figures have her real address, and come once a second.
    served.until("the new address", |host| {
        go("198.51.100.9:5000", false);
        let found = host.roster().find("Ada", None).expect("she is present");
        found.address == "198.51.100.9:5000".parse().ok()
    });
    ada.say("first");
    ada.wait_for_line("spam");
    go("[2001:db8::1]:5000", true);
    ada.say("second");
    bob.wait_for_line("Ada: second");
    assert!(!bob.lines.iter().any(|line| line.contains("first")), "{:?}", bob.lines);
    // The event does not undo a mute that it does not know of yet.
    let person = host.roster().find("Ada", None).expect("she is present");
    let mute = Some(Mute { within: None, reason: "made just now".into() });
    let order = Command::Mute { player: person.target(), mute };
    served.wait(host.handle.command_in(&person.room, order)).expect("she is present");
    go("[2001:db8::2]:5000", false);
    ada.say("third");
    ada.wait_for_line("made just now");
    go("192.0.2.9:5000", false);
    ada.is_put_out(Code::Banned, "your address is banned for good: spam");
}

#[test]
fn a_mute_holds_across_a_reconnect_and_until_it_is_lifted() {
    let served = serve(&[]);
    let host = &served.host;
    let (mut ada, bob) = (served.join("Ada"), served.join("Bob"));
    let admin = author(Role::Admin);
    served.wait(host.punish(&admin, Act::Mute, &against("Bob", "1h", "spam"))).expect("done");
    bob.driver.close("bye");
    served.until("his leaving", |host| host.roster().find("Bob", None).is_err());
    let mut bob = served.join("Bob");
    bob.say("first");
    bob.wait_for_line("spam");
    let first = host.access.sentences(Act::Mute, 0).remove(0);
    let mute = first.id;
    // A number is never a name, though a database may have such names.
    let subject = Subject::parse("address", "192.0.2.9").expect("an address");
    let other = Sentence { id: 0, subject, name: Some(mute.to_string()), ..first };
    let (other, _) = host.access.add(other, true).expect("there is space");
    let seat = format!("p{}", host.roster().find("Bob", None).expect("he is present").player.0);
    for (text, found) in [
        (mute.to_string(), mute),
        ("192.0.2.9".into(), other.id),
        // The ways to name him when he is muted: seat, name, and beginning of the key.
        (seat.clone(), mute),
        ("bob".into(), mute),
        (key_of(host, "Bob")[..8].to_owned(), mute),
    ] {
        let found_by = host.find_sentences(Act::Mute, &whom(&text)).ok();
        assert_eq!(found_by, Some(vec![found]), "{text}");
    }
    assert!(host.find_sentences(Act::Ban, &whom(&seat)).is_err(), "he is not banned");
    let lifted = served.wait(host.lift_all(&admin, Act::Mute, &whom(&seat))).expect("it is there");
    assert_eq!(lifted.len(), 1);
    bob.say("second");
    ada.wait_for_line("Bob: second");
    assert!(!ada.lines.iter().any(|line| line.contains("first")), "{:?}", ada.lines);
}

#[test]
fn old_figures_do_not_bring_back_a_player_who_left() {
    // Its clocks stand still, so that she has just left however long the test takes.
    let served = Hands::new().serve_with(&[]);
    let host = &served.host;
    let ada = served.join("Ada");
    let has_ada =
        |host: &Host| host.handle.rooms().iter().any(|it| !it.measured.players.is_empty());
    served.until("figures with her", |host| has_ada(host));
    let (figures, now) = (host.handle.rooms(), host.clocks.now());
    ada.driver.close("bye");
    served.until("her leaving", |host| host.roster().find("Ada", None).is_err());
    host.roster().correct(&figures, now);
    assert_eq!(host.roster().people().count(), 0);
    // If the event of a return were lost, she would be found by those figures.
    let later = crate::clocks::Now { awake: now.awake + 60, ..now };
    host.roster().correct(&figures, later);
    assert_eq!(host.roster().people().count(), 1);
}

#[test]
fn similar_names_are_distinguished() {
    let served = serve(&[]);
    let host = &served.host;
    let _ada = served.join("Ada");
    let mut other = served.knock("ADA", None);
    other.until("being in the game", |it| it.joined > 0);
    served.until("two players", |host| host.roster().people().count() == 2);
    let names: Vec<_> = host.roster().people().map(|it| it.name.clone()).collect();
    assert_eq!(names.iter().map(|it| it.to_lowercase()).collect::<BTreeSet<_>>().len(), 2);
    assert!(names.contains(&"Ada".to_owned()), "{names:?}");
    let found = host.roster().find("ada", None).expect("one of that name");
    assert_eq!(found.name, "Ada");
    let found = host.roster().find("nobody", None);
    assert!(matches!(found, Err(ActError::NotFound(_))));
    // A seat is named by its number, with or without the letter.
    let seat = host.roster().people().next().expect("two").player.0;
    for who in [format!("p{seat}"), format!("#{seat}"), seat.to_string()] {
        assert_eq!(host.roster().find(&who, None).expect("a seat").player.0, seat);
    }
}

#[test]
fn several_lines_become_one_with_words_separated() {
    let list = tempfile::NamedTempFile::new().expect("a file");
    let path = list.path().to_str().expect("text");
    let served = serve(&["--allow-list", path]);
    let (host, admin) = (&served.host, author(Role::Admin));
    served.kept.gate.set_rules(Rules::default());
    let mut ada = served.join("Ada");
    let key = key_of(host, "Ada");
    let done = served.wait(host.allow(&admin, &key, "Eve\nBob\t\r\nCyd\n")).expect("an admin may");
    assert!(done.starts_with("Eve Bob Cyd ("), "{done}");
    let written = std::fs::read_to_string(list.path()).expect("a file");
    assert_eq!(written, format!("{key} Eve Bob Cyd\n"));
    served.wait(host.say(&admin, "all\nof\u{2028}you", None)).expect("an admin may");
    ada.wait_for_line("all of you");
    served.wait(host.send_line_to(&admin, &whom("Ada"), "you\talone")).expect("an admin may");
    ada.wait_for_line("you alone");
    let order = Drain { text: Some("good\nbye".into()), ..Drain::default() };
    served.wait(host.drain(&admin, &order)).expect("an admin may");
    let (goodbye, _) = host.handle.draining().expect("it is");
    assert_eq!(goodbye.text, "good bye");
}

#[test]
fn a_seat_in_two_rooms_is_ambiguous_without_the_room() {
    let served = serve(&["--rooms", "2", "--max-players", "2"]);
    let host = &served.host;
    let players: Vec<_> = ["Ada", "Bob", "Cyd", "Dot"].map(|name| served.join(name)).into();
    let seats: Vec<_> = host.roster().people().map(|it| (it.room.clone(), it.player.0)).collect();
    let rooms: BTreeSet<_> = seats.iter().map(|(room, _)| room.clone()).collect();
    assert_eq!(rooms.len(), 2, "{seats:?}");
    let (room, seat) = &seats[0];
    let twice = seats.iter().filter(|(_, it)| it == seat).count() == 2;
    assert!(twice, "{seats:?}");
    let error = host.roster().find(&format!("p{seat}"), None).expect_err("there are two");
    assert!(error.to_string().contains("name the seat, and the room"), "{error}");
    assert_eq!(&host.roster().find(&format!("p{seat}"), Some(room)).expect("one").room, room);
    drop(players);
}

#[test]
fn the_password_and_the_allow_list_are_enforced() {
    let served = serve(&["--password", "sesame"]);
    served.knock("Ada", None).is_put_out(Code::Password, "needs a password");
    served.knock("Ada", Some("Sesame")).is_put_out(Code::Password, "is not the server's password");
    let mut ada = served.knock("Ada", Some("sesame"));
    ada.until("being in the game", |it| it.joined > 0);
    served.until("her seat", |host| host.roster().find("Ada", None).is_ok());
    let key = key_of(&served.host, "Ada");
    let allowed = Some([parse_key(&key).expect("a key")].into());
    served.kept.gate.set_rules(Rules { allowed, ..Rules::default() });
    served.knock("Bob", None).is_put_out(Code::NotListed, "players on its list");
    ada.driver.close("bye");
    served.until("her leaving", |host| host.roster().find("Ada", None).is_err());
    served.join("Ada");
    served.kept.gate.set_rules(Rules::default());
    served.join("Bob");
}

#[test]
fn clients_older_than_the_host_wants_are_told_where_to_get_a_newer_one() {
    let served = serve(&["--download", "https://example.org/get"]);
    let oldest = |version: &str| {
        let oldest_client = Some(version.parse().expect("a version"));
        served.kept.gate.set_rules(Rules {
            oldest_client,
            download: "https://example.org/get".to_owned(),
            ..Rules::default()
        });
    };
    oldest("999.0.0");
    let mut knock = served.knock("Ada", None);
    let text = concat!(
        "your client (",
        env!("CARGO_PKG_VERSION"),
        ") is too old: this server accepts version 999.0.0 or later; update it from \
         https://example.org/get"
    );
    knock.is_put_out(Code::OldClient, text);
    // A release comes after its own candidates, and builds of a release are alike.
    for version in [
        env!("CARGO_PKG_VERSION"),
        concat!(env!("CARGO_PKG_VERSION"), "-rc.1"),
        concat!(env!("CARGO_PKG_VERSION"), "+hotfix"),
    ] {
        oldest(version);
        served.join(version);
    }
}

#[test]
fn results_of_a_round_are_stored_with_their_players() {
    let served = serve(&["--game", "race", "--rounds", "1"]);
    let host = &served.host;
    let mut events = host.events();
    let mut ada = served.join("Ada");
    let admin = author(Role::Admin);
    ada.until("a new beginning", |_| served.wait(host.play(&admin, None, None)).is_ok());
    // Clients leave a server that changes its game more than once a second.
    let again = || served.wait(host.play(&admin, Some("race"), None));
    ada.until("a refusal", |_| matches!(again(), Err(ActError::Conflict(_))));
    ada.until("another game", |_| again().is_ok());
    ada.play(Duration::from_millis(500));
    assert!(ada.ends.is_empty(), "{:?}", ada.ends);
    let mut names = BTreeSet::new();
    ada.until("news of all kinds", |_| {
        while let Ok(event) = events.try_recv() {
            names.insert(event.name());
        }
        ["joined", "audit"].iter().all(|name| names.contains(name))
    });
    let results = served.wait(host.store.read(|db| results_of(db, 10))).expect("it can be read");
    // Nobody has driven a lap.
    assert!(results.is_empty(), "{results:?}");
    assert!(host.facts.records.keys().any(|(game, _)| game == "race"), "race has no records");
}

#[test]
fn only_public_play_makes_public_records() {
    let served = serve(&["--game", "race", "--rooms-max", "2"]);
    let host = &served.host;
    let _ada = served.join("Ada");
    let mut bob = served.knock_by("Bob", |config| config.room = "den".parse().ok());
    bob.until("being in the game", |it| it.joined > 0);
    let sees =
        |host: &Host, name: &str| host.figures().borrow().players.iter().any(|it| it.name == name);
    served.until("both seats", |host| sees(host, "Ada") && sees(host, "Bob"));
    let report = |name: &str, measure, value| {
        let person = host.roster().find(name, None).expect("a player has that name");
        let event = Event::Report { name: measure, player: Some(person.player), value, run: None };
        served
            .wait(host.handle_event(RoomEvent { room: person.room, event }, &mut BTreeMap::new()));
    };
    let names = || {
        let bests = served.wait(host.store.read(|db| public_bests(db, None, 10)));
        let bests = bests.expect("it can be read").into_iter();
        bests.map(|it| (it.name, it.measure, it.value)).collect::<Vec<_>>()
    };
    report("Bob", "lap", 20.0);
    report("Ada", "lap", 30.0);
    // A score of zero is not a record, and neither is one that no game measures.
    report("Ada", "time", 0.0);
    report("Ada", "height", 5.0);
    assert_eq!(names(), [("Ada".to_owned(), "lap".to_owned(), 30.0)]);
    let by = author(Role::Admin);
    served.wait(host.set_setting(&by, "password", Some("sesame"))).expect("an admin may");
    report("Ada", "lap", 25.0);
    assert_eq!(names(), [("Ada".to_owned(), "lap".to_owned(), 30.0)]);
    // The host sees all of them.
    let records = served.wait(host.store.read(|db| records_of(db, None))).expect("read");
    let values: Vec<_> = records.iter().map(|it| (&*it.name, it.value)).collect();
    assert_eq!(values, [("Bob", 20.0), ("Ada", 25.0), ("Ada", 0.0)]);
}

#[test]
fn newcomers_are_greeted_and_players_who_left_can_be_banned() {
    let served = serve(&["--greeting", "Be nice."]);
    let host = &served.host;
    let mut ada = served.join("Ada");
    ada.until("a greeting", |it| it.lines.iter().any(|line| line == "Be nice."));
    served.wait(host.send_line_to(&author(Role::Moderator), &whom("ada"), "hello")).expect("here");
    ada.until("a word", |it| it.lines.iter().any(|line| line == "hello"));
    let refused = served.wait(host.send_line_to(&author(Role::Viewer), &whom("ada"), "hello"));
    assert!(forbidden(refused));
    let key = key_of(host, "Ada");
    drop(ada);
    served.until("an empty roster", |host| host.roster().people().next().is_none());
    assert_eq!(host.left().iter().map(|it| &*it.name).collect::<Vec<_>>(), ["Ada"]);
    let kicked = served.wait(host.kick(&author(Role::Admin), &whom("ada"), None, ""));
    assert!(matches!(kicked, Err(ActError::NotFound(_))), "{kicked:?}");
    let request = against("ada", "1h", "gone at once");
    let (made, ..) =
        served.wait(host.punish(&author(Role::Moderator), Act::Ban, &request)).expect("known");
    assert_eq!((made.len(), made[0].subject.to_string()), (1, key));
    let mut back = served.knock("Ada", None);
    back.until("a refusal", |it| it.ends.iter().any(|end| end.code == Code::Banned));
}
