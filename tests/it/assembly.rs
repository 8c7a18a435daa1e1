//! People in rounds: sides, readiness, votes, pings, and bots that make way.

use phaselock::client::Notice;
use phaselock::game::{Game, RoundPart};
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, ClientId, Event, Output, Pass, RoomConfig};
use phaselock::time::Micros;
use phaselock::wire::control::{ClientMessage, Refusal, ServerMessage};
use phaselock::wire::disconnect::Code;
use phaselock::wire::round::{
    Ballot, Outcome, Proposal, ReadyUp, RoundNotice, RoundRequest, VoteKinds,
};
use phaselock_games::puck::seats::place_of;
use phaselock_games::puck::{Mallet, ShufflePuck};
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::Bells;

use super::control::notices;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

fn config(bots: u16) -> RoomConfig {
    let games = vec!["puck".to_owned(), "race".to_owned()];
    room_config(5, bots).with(|it| {
        it.games = games;
        it.rounds = Some(2);
    })
}

/// A game of Shuffle Puck with a number of bots and people, after half a minute.
fn puck(bots: u16, people: usize) -> Sim<ShufflePuck> {
    let mut sim = Sim::<ShufflePuck>::with(config(bots));
    for _ in 0..people {
        sim.join_bot(CABLE);
    }
    sim.run(31.0);
    (0..people).for_each(|client| drop(notices(&mut sim, client)));
    sim
}

/// Whether the room has asked its driver for Race.
fn chose_race(sim: &mut Sim<ShufflePuck>) -> bool {
    let mut events = std::iter::from_fn(|| sim.room.poll_event());
    events.any(|event| event == Event::Chosen { game: "race".into() })
}

fn ask<G: Game>(sim: &mut Sim<G>, client: usize, request: RoundRequest) {
    sim.clients[client].session.ask_round(request).expect("sent");
    sim.run(0.2);
}

fn player<G: Game>(sim: &Sim<G>, client: usize) -> PlayerId {
    sim.clients[client].core().player()
}

fn side(sim: &Sim<ShufflePuck>, client: usize) -> u8 {
    let place = place_of(&sim.room.world().entities, player(sim, client));
    place.expect("the player is on a rink").side
}

/// Returns the refusals of a client's requests about the round.
fn refusals<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<Refusal> {
    let refused = |notice| match notice {
        Notice::Refused { request: 4, refusal } => Some(refusal),
        _ => None,
    };
    notices(sim, client).into_iter().filter_map(refused).collect()
}

/// Returns the ends of votes that a client has received.
fn outcomes<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<Outcome> {
    let outcome = |notice| match notice {
        Notice::Voted { outcome, .. } => Some(outcome),
        _ => None,
    };
    notices(sim, client).into_iter().filter_map(outcome).collect()
}

fn clock(sim: &Sim<ShufflePuck>) -> (RoundPart, u64) {
    let clock = (ShufflePuck::KIT.clock)(sim.room.world()).expect("it has rounds");
    (clock.part, clock.ticks_left)
}

fn people_on(sim: &Sim<ShufflePuck>, people: usize) -> [usize; 2] {
    let right = (0..people).filter(|client| side(sim, *client) == 1).count();
    [people - right, right]
}

#[test]
fn a_vote_for_more_time_passes_with_more_than_half() {
    let mut sim = puck(0, 4);
    let (part, before) = clock(&sim);
    assert_eq!(part, RoundPart::Play);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::MoreTime));
    let by = "client 0".to_owned();
    let called = notices(&mut sim, 3);
    assert!(called.contains(&Notice::Called { by, motion: Proposal::MoreTime }), "{called:?}");
    ask(&mut sim, 1, RoundRequest::Vote(Ballot::Yes));
    let (poll, _) = sim.clients[2].core().common().poll().expect("it runs").clone();
    assert_eq!((poll.yes, poll.no, poll.voters), (2, 0, 4));
    assert!(clock(&sim).1 <= before, "half of the votes is not enough");
    ask(&mut sim, 2, RoundRequest::Vote(Ballot::Yes));
    assert_eq!(outcomes(&mut sim, 3), [Outcome::Passed]);
    assert!(clock(&sim).1 > before + 170 * 60, "{:?} was {before}", clock(&sim));
    assert_eq!(sim.clients[2].core().common().poll(), None);
}

#[test]
fn a_vote_for_another_game_is_handed_to_the_driver_after_a_while() {
    let mut sim = puck(0, 1);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Game("race".into())));
    assert_eq!(outcomes(&mut sim, 0), [Outcome::Passed], "a single player decides");
    assert_eq!(sim.clients[0].core().common().house().next.as_deref(), Some("race"));
    assert!(!chose_race(&mut sim), "no player's turn is cut off");
    sim.run(5.5);
    assert!(chose_race(&mut sim));
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Game("chess".into())));
    assert_eq!(refusals(&mut sim, 0), [Refusal::Off], "the rotation has no such game");
}

#[test]
fn a_chosen_game_is_handed_to_the_driver_even_if_its_voters_leave() {
    let mut sim = puck(0, 1);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Game("race".into())));
    sim.room.handle_left(sim.clients[0].id, "bored");
    sim.run(5.5);
    assert!(chose_race(&mut sim));
}

#[test]
fn a_vote_fails_times_out_and_its_caller_waits() {
    let mut sim = puck(0, 4);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Shuffle));
    ask(&mut sim, 1, RoundRequest::Call(Proposal::MoreTime));
    assert_eq!(refusals(&mut sim, 1), [Refusal::Busy]);
    ask(&mut sim, 1, RoundRequest::Vote(Ballot::No));
    ask(&mut sim, 2, RoundRequest::Vote(Ballot::No));
    assert_eq!(outcomes(&mut sim, 3), [Outcome::Failed]);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Shuffle));
    assert_eq!(refusals(&mut sim, 0), [Refusal::Soon]);
    // Another player may. No one else votes, so the vote fails when its time is up.
    ask(&mut sim, 3, RoundRequest::Call(Proposal::Shuffle));
    sim.run(31.0);
    assert_eq!(outcomes(&mut sim, 0), [Outcome::Failed]);
}

#[test]
fn players_who_leave_lose_their_vote() {
    let mut sim = puck(0, 5);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Shuffle));
    ask(&mut sim, 1, RoundRequest::Vote(Ballot::Yes));
    for client in [0, 1] {
        sim.room.handle_left(sim.clients[client].id, "bored");
    }
    sim.run(0.5);
    let (poll, _) = sim.clients[2].core().common().poll().expect("it runs").clone();
    assert_eq!((poll.yes, poll.voters), (2, 5), "there have been no votes since");
    ask(&mut sim, 2, RoundRequest::Vote(Ballot::Yes));
    let (poll, _) = sim.clients[2].core().common().poll().expect("it runs").clone();
    assert_eq!((poll.yes, poll.voters), (1, 3));
    ask(&mut sim, 3, RoundRequest::Vote(Ballot::Yes));
    assert_eq!(outcomes(&mut sim, 4), [Outcome::Passed]);
}

#[test]
fn a_player_who_is_voted_out_stays_out_for_a_while() {
    let mut sim = puck(0, 4);
    let target = player(&sim, 3);
    let profile = sim.room.world().profile(target).expect("a player");
    let key = profile.key.expect("a person");
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Kick(target)));
    ask(&mut sim, 3, RoundRequest::Vote(Ballot::No));
    assert_eq!(refusals(&mut sim, 3), [Refusal::Off], "the target does not decide");
    ask(&mut sim, 1, RoundRequest::Vote(Ballot::Yes));
    assert_eq!(outcomes(&mut sim, 2), [Outcome::Passed]);
    assert_eq!(sim.room.seats_taken(), 3);
    let greet = |sim: &mut Sim<ShufflePuck>, pass: Pass| {
        let mut hello = hello::<ShufflePuck>("again", sim.now);
        hello.credentials.key = key;
        let bytes = body(&ClientMessage::Hello(hello));
        sim.room.handle_arrival(sim.now, ClientId(900), &bytes, pass);
        std::iter::from_fn(|| sim.room.poll_output(sim.now)).find_map(|output| match output {
            Output::Control { client: ClientId(900), message } => Some(message),
            _ => None,
        })
    };
    match greet(&mut sim, Pass::default()) {
        Some(ServerMessage::Disconnect(goodbye)) => assert_eq!(goodbye.code, Code::Kicked),
        other => panic!("admitted: {other:?}"),
    }
    sim.run(600.0);
    assert!(matches!(greet(&mut sim, Pass::default()), Some(ServerMessage::Welcome(_))));
}

#[test]
fn staff_cannot_be_voted_out_and_may_veto() {
    let mut sim = puck(2, 3);
    let now = sim.now;
    let staff = Pass { is_staff: true, ..Pass::default() };
    let mut send_control = |message: &ClientMessage, first: bool| {
        let bytes = body(message);
        match first {
            true => sim.room.handle_arrival(now, ClientId(900), &bytes, staff.clone()),
            false => sim.room.handle_control(now, ClientId(900), &bytes),
        }
        let outputs = std::iter::from_fn(|| sim.room.poll_output(now));
        let mine = outputs.filter_map(|output| match output {
            Output::Control { client: ClientId(900), message } => Some(message),
            _ => None,
        });
        mine.collect::<Vec<_>>()
    };
    let said = send_control(&ClientMessage::Hello(hello::<ShufflePuck>("Mo", now)), true);
    let Some(ServerMessage::Welcome(welcome)) = said.first() else { panic!("{said:?}") };
    let moderator = welcome.player;
    let is_staff = |message: &ServerMessage| match message {
        ServerMessage::Round(RoundNotice::House(house)) => house.is_staff,
        _ => false,
    };
    assert!(said.iter().any(is_staff), "{said:?}");
    sim.run(0.5);
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Kick(moderator)));
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Kick(PlayerId(0))));
    assert_eq!(refusals(&mut sim, 0), [Refusal::Protected; 2], "neither staff nor bots");
    ask(&mut sim, 0, RoundRequest::Call(Proposal::Shuffle));
    ask(&mut sim, 1, RoundRequest::Vote(Ballot::Veto));
    assert_eq!(refusals(&mut sim, 1), [Refusal::Off]);
    let veto = body(&ClientMessage::Round(RoundRequest::Vote(Ballot::Veto)));
    sim.room.handle_control(sim.now, ClientId(900), &veto);
    sim.run(0.2);
    assert_eq!(outcomes(&mut sim, 2), [Outcome::Vetoed]);
}

#[test]
fn requests_about_the_round_are_limited_and_what_is_off_is_refused() {
    let votes = VoteKinds::NONE;
    let mut sim = Sim::<Bells>::with(room_config(1, 0).with(|it| it.votes = votes));
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    for request in [
        RoundRequest::Ready(true),
        RoundRequest::Side(0),
        RoundRequest::Side(200),
        RoundRequest::Call(Proposal::Game("bells".into())),
        RoundRequest::Vote(Ballot::Yes),
    ] {
        sim.clients[client].session.ask_round(request).expect("sent");
    }
    sim.run(0.3);
    assert_eq!(refusals(&mut sim, client), [Refusal::Off; 5], "a game without rounds and sides");
    sim.run(5.0);
    for _ in 0..40 {
        sim.clients[client].session.ask_round(RoundRequest::Side(0)).expect("sent");
    }
    sim.run(0.3);
    let refused = refusals(&mut sim, client);
    let many = refused.iter().filter(|it| **it == Refusal::TooMany).count();
    assert_eq!((refused.len(), many), (40, 34));
}

#[test]
fn a_warm_up_ends_early_when_everybody_is_ready() {
    let left = |ready: usize| {
        let mut sim = Sim::<ShufflePuck>::with(config(1));
        for _ in 0..3 {
            sim.join_bot(CABLE);
        }
        sim.run(1.5);
        for client in 0..ready {
            ask(&mut sim, client, RoundRequest::Ready(true));
        }
        let first = player(&sim, 0);
        let shown = sim.clients[2].core().common().presence()[&first];
        assert_eq!(shown.is_ready, ready > 0);
        sim.run(2.5);
        clock(&sim)
    };
    assert!(matches!(left(2), (RoundPart::WarmUp, 100..)), "one is missing: {:?}", left(2));
    assert!(left(3).1 < 60 || left(3).0 == RoundPart::Play);
}

#[test]
fn a_warm_up_that_waits_ends_when_most_are_ready_or_after_two_minutes() {
    let mut sim = Sim::<ShufflePuck>::with(config(0).with(|it| it.ready = ReadyUp::Wait));
    for _ in 0..3 {
        sim.join_bot(CABLE);
    }
    sim.run(60.0);
    assert_eq!(clock(&sim).0, RoundPart::WarmUp, "no player is ready");
    ask(&mut sim, 0, RoundRequest::Ready(true));
    sim.run(20.0);
    assert_eq!(clock(&sim).0, RoundPart::WarmUp, "one of three is");
    ask(&mut sim, 1, RoundRequest::Ready(true));
    sim.run(12.0);
    assert_eq!(clock(&sim).0, RoundPart::Play, "most are");
    let mut sim = Sim::<ShufflePuck>::with(config(0).with(|it| it.ready = ReadyUp::Wait));
    sim.join_bot(CABLE);
    sim.run(135.0);
    assert_eq!(clock(&sim).0, RoundPart::Play, "the warm-up does not wait forever");
}

#[test]
fn sides_are_chosen_as_long_as_they_stay_even() {
    let mut sim = puck(2, 4);
    assert_eq!(people_on(&sim, 4), [2, 2], "evened out when the play began");
    let from = side(&sim, 0);
    ask(&mut sim, 0, RoundRequest::Side(1 - from));
    assert_eq!(refusals(&mut sim, 0), [Refusal::Uneven]);
    assert_eq!(side(&sim, 0), from);
    let leaver = (1..4).find(|client| side(&sim, *client) != from).expect("two are");
    sim.room.handle_left(sim.clients[leaver].id, "bored");
    sim.run(0.5);
    ask(&mut sim, 0, RoundRequest::Side(1 - from));
    assert_eq!(side(&sim, 0), 1 - from, "there is one less now");
    let entities = &sim.room.world().entities;
    let right = entities.records::<Mallet>().filter(|slot| slot.entity.right).count();
    let all = entities.records::<Mallet>().count();
    assert!(right.abs_diff(all - right) <= 1, "bots balance the sides: {right} of {all}");
}

#[test]
fn people_go_before_bots() {
    for people in 1..=4 {
        let sim = puck(6, people);
        let places: Vec<_> = (0..people)
            .filter_map(|it| place_of(&sim.room.world().entities, player(&sim, it)))
            .collect();
        assert!(places.iter().all(|place| place.group == places[0].group), "{places:?}");
    }
    // As soon as a player joins, not only when a round begins.
    let mut sim = Sim::<ShufflePuck>::new(2, 6);
    for _ in 0..2 {
        sim.join_bot(CABLE);
    }
    sim.run(1.0);
    let places = [0, 1].map(|it| place_of(&sim.room.world().entities, player(&sim, it)));
    assert_eq!(places[0].map(|it| it.group), places[1].map(|it| it.group));
    assert_ne!(places[0].map(|it| it.side), places[1].map(|it| it.side));
}

#[test]
fn bots_make_way_where_they_only_fill_up() {
    let mut sim = Sim::<ShufflePuck>::with(room_config(1, 3).with(|it| it.fill = true));
    let bots = |sim: &Sim<ShufflePuck>| sim.room.status().bots;
    assert_eq!(bots(&sim), 3);
    for left in [2, 1, 0, 0] {
        sim.join_bot(CABLE);
        sim.run(1.0);
        assert_eq!(bots(&sim), left);
    }
    for (client, left) in [(0, 0), (1, 1), (2, 2)] {
        sim.room.handle_left(sim.clients[client].id, "bored");
        sim.run(0.5);
        assert_eq!(bots(&sim), left);
    }
}

#[test]
fn all_players_get_all_pings() {
    let mut sim = Sim::<ShufflePuck>::new(4, 1);
    let near = sim.join_bot(LinkConfig::delayed(10, 0));
    let far = sim.join_bot(LinkConfig::delayed(100, 0));
    sim.run(6.0);
    let players = [near, far].map(|client| player(&sim, client));
    for client in [near, far] {
        let presence = sim.clients[client].core().common().presence();
        let pings = players.map(|player| presence[&player].ping_ms);
        assert!((18..40).contains(&pings[0]) && (198..240).contains(&pings[1]), "{pings:?}");
    }
    // People get no notice of it.
    drop(notices(&mut sim, near));
    let mut told = 0;
    let until = sim.now + Micros::from_ms(20_000);
    while sim.now < until {
        sim.run(0.1);
        told += notices(&mut sim, near).len();
    }
    assert_eq!(told, 0);
    sim.room.handle_left(sim.clients[far].id, "bored");
    sim.run(0.5);
    let presence = sim.clients[near].core().common().presence();
    assert!(!presence.contains_key(&players[1]));
}
