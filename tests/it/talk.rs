//! Chat: private audiences, floods, mutes, marks out of range, names, and why players left.

use phaselock::client::{Notice, Speaker};
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Place, Sides, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::server::{AnyRoom, Command, Mute};
use phaselock::time::Rates;
use phaselock::wire::control::Refusal;
use phaselock::wire::disconnect::Code;
use phaselock::wire::talk::{Audience, CommandHint, Look, Mark};
use phaselock_testing::Sim;

use crate::control::notices;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

record! {
    /// An entity, and an input that the rules ignore.
    struct Peg { hue: u8 = Field::count(1) }
}

/// A game with odd seats on one side and even ones on the other.
#[derive(Debug)]
struct Teams;

impl Game for Teams {
    const NAME: &'static str = "teams";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        sides: Sides {
            count: 2,
            of: |_, player| Some(Place { group: 0, side: (player.0 % 2) as u8 }),
            ..Sides::NONE
        },
        ..Kit::NONE
    };
    type Input = Peg;
    type Entity = Peg;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}

    fn step(&self, _world: &mut World<Self>, _inputs: &Inputs<Peg>) {}

    fn predict(&self, _: &mut Entities<Peg>, _: EntityId, _: &Peg, _: Ahead<'_>) {}

    fn repeat(last: &Peg, _missed: u64) -> Peg {
        *last
    }
}

/// Four players, the first and third on one side, who have read the notices of each other's
/// joining.
fn four() -> Sim<Teams> {
    let mut sim = Sim::<Teams>::new(5, 0);
    for _ in 0..4 {
        sim.join_bot(CABLE);
    }
    sim.run(1.0);
    (0..4).for_each(|client| drop(notices(&mut sim, client)));
    sim
}

fn refused(request: u32, refusal: Refusal) -> Notice {
    Notice::Refused { request, refusal }
}

/// Whether this is a host's line with these words.
fn is_of_host(told: &Notice, words: &str) -> bool {
    matches!(told, Notice::Chat { from: None, text, .. } if text.contains(words))
}

#[test]
fn chat_for_a_side_reaches_only_that_side() {
    let mut sim = four();
    let session = &mut sim.clients[2].session;
    session.say(Audience::Side, "they are on the left side").expect("sent");
    session.say_quick(Audience::Side, 3).expect("sent");
    session.mark(Audience::Side, Mark { kind: 1, x: 64, y: -64 }).expect("sent");
    sim.run(0.5);
    for friend in [0, 2] {
        let told = notices(&mut sim, friend);
        let [
            Notice::Chat { from: Some(Speaker { player, .. }), to: Audience::Side, text },
            Notice::Quick { to: Audience::Side, number: 3, .. },
            Notice::Mark { mark: Mark { kind: 1, x: 64, y: -64 }, .. },
        ] = &*told
        else {
            panic!("{told:?}")
        };
        assert_eq!((player, &**text), (&PlayerId(2), "they are on the left side"));
    }
    for foe in [1, 3] {
        assert_eq!(notices(&mut sim, foe), [], "no message came, of whatever kind");
    }
}

#[test]
fn a_side_without_sides_is_refused() {
    let mut sim = Sim::<phaselock_games::skirmish::Skirmish>::new(5, 0);
    let ada = sim.join_bot(CABLE);
    sim.run(1.0);
    notices(&mut sim, ada);
    sim.clients[ada].session.say(Audience::Side, "anybody?").expect("sent");
    sim.run(0.5);
    assert_eq!(notices(&mut sim, ada), [refused(2, Refusal::NoSide)]);
}

#[test]
fn floods_of_marks_and_quick_messages_are_refused() {
    let mut sim = four();
    for _ in 0..600 {
        let session = &mut sim.clients[0].session;
        session.say_quick(Audience::All, 1).expect("sent");
        session.mark(Audience::All, Mark { kind: 0, x: 0, y: 0 }).expect("sent");
        sim.run(1.0 / 60.0);
    }
    sim.run(1.0);
    let told = notices(&mut sim, 1);
    let count = |is: fn(&Notice) -> bool| told.iter().filter(|it| is(it)).count();
    let quick = count(|it| matches!(it, Notice::Quick { .. }));
    let marks = count(|it| matches!(it, Notice::Mark { .. }));
    assert!((8..=11).contains(&quick) && (12..=15).contains(&marks), "{quick} {marks}");
    assert_eq!(told.len(), quick + marks);
}

#[test]
fn marks_looks_and_numbers_out_of_range_are_refused() {
    let mut sim = four();
    let session = &mut sim.clients[0].session;
    session.mark(Audience::All, Mark { kind: 0, x: i32::MIN, y: 0 }).expect("sent");
    session.mark(Audience::All, Mark { kind: 9, x: 0, y: 0 }).expect("sent");
    session.say_quick(Audience::All, 32).expect("sent");
    session.restyle("Ada", Look { color: 13, pattern: 0 }).expect("sent");
    sim.run(0.5);
    let range = |request| refused(request, Refusal::Range);
    assert_eq!(notices(&mut sim, 0), [range(7), range(7), range(6), range(8)]);
    assert_eq!(notices(&mut sim, 1), []);
}

#[test]
fn a_mute_holds_for_every_kind_of_talk() {
    let mut sim = four();
    let mute = Mute { within: None, reason: "enough".into() };
    let order = Command::Mute { player: PlayerId(0).into(), mute: Some(mute) };
    sim.room.handle_command(sim.now, order).expect("the player is there");
    let session = &mut sim.clients[0].session;
    session.say(Audience::Side, "psst").expect("sent");
    session.say_quick(Audience::All, 1).expect("sent");
    session.mark(Audience::All, Mark { kind: 0, x: 0, y: 0 }).expect("sent");
    session.restyle("Buy My Boat", Look::default()).expect("sent");
    sim.run(0.5);
    let told = notices(&mut sim, 0);
    let is_answer = |it: &Notice| is_of_host(it, "muted for good: enough");
    assert!(told.len() == 4 && told.iter().all(is_answer), "{told:?}");
    for client in 1..4 {
        assert_eq!(notices(&mut sim, client), []);
    }
}

#[test]
fn names_and_looks_change_for_everybody_and_stay_unique() {
    let mut sim = four();
    let look = Look { color: 7, pattern: 3 };
    sim.clients[0].session.restyle("client 2", look).expect("sent");
    sim.clients[1].session.restyle("Admin", look).expect("sent");
    sim.run(0.5);
    let told = notices(&mut sim, 3);
    let [Notice::Renamed { before, who }] = &*told else { panic!("{told:?}") };
    assert_eq!((&**before, &*who.seat.name), ("client 0", "client 2 2"));
    assert_eq!(who.seat.look, look);
    let told = notices(&mut sim, 1);
    assert!(told.iter().any(|it| is_of_host(it, "reserved for the host")), "{told:?}");
    let roster = sim.clients[3].core().roster();
    assert_eq!(roster[&PlayerId(1)].name, "client 1");
    assert!(roster.values().all(|seat| seat.person.is_some()));
    assert_eq!(sim.room.world().profile(PlayerId(0)).map(|it| &*it.name), Some("client 2 2"));
}

#[test]
fn all_players_learn_who_joins_and_who_leaves_and_why() {
    let mut sim = four();
    let fifth = sim.join_bot(CABLE);
    sim.run(0.5);
    for client in 0..4 {
        let told = notices(&mut sim, client);
        assert!(matches!(&*told, [Notice::Joined { who }] if who.player == PlayerId(4)));
    }
    let told = notices(&mut sim, fifth);
    assert!(!told.iter().any(|it| matches!(it, Notice::Joined { .. })), "{told:?}");
    let kick = Command::Kick { player: PlayerId(4).into(), text: "be nice".into() };
    sim.room.handle_command(sim.now, kick).expect("the player is there");
    let ban = Command::Ban { player: PlayerId(3).into(), text: "never again".into() };
    sim.room.handle_command(sim.now, ban).expect("the player is there");
    let left = sim.clients[2].id;
    sim.room.handle_left(left, "home");
    sim.run(0.5);
    let codes: Vec<_> = notices(&mut sim, 0)
        .into_iter()
        .filter_map(|it| match it {
            Notice::Left { who, code } => Some((who.player.0, code)),
            _ => None,
        })
        .collect();
    assert_eq!(codes, [(4, Code::Kicked), (3, Code::Banned), (2, Code::Left)]);
}

#[test]
fn commands_are_sent_to_one_player() {
    let mut sim = four();
    let help = CommandHint { name: "help".into(), usage: String::new() };
    let order = Command::Offer { player: PlayerId(1).into(), commands: vec![help.clone()] };
    sim.room.handle_command(sim.now, order).expect("the player is there");
    sim.run(0.5);
    assert_eq!(notices(&mut sim, 1), [Notice::Commands(vec![help])]);
    assert_eq!(notices(&mut sim, 0), []);
}
