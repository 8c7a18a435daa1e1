//! Returning players get back seat, score and body: while the old connection lingers, after a
//! restart, under another name, and as watchers.

use phaselock::client::State;
use phaselock::game::Game;
use phaselock::identity::{Credentials, PublicKey};
use phaselock::ids::PlayerId;
use phaselock::server::{AnyRoom, ClientId, Event, Output, Pass, Room, RoomConfig, Rotation};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{
    ClientMessage, Hello, ServerMessage, WISH_WAIT, WISH_WATCH, Welcome,
};
use phaselock::wire::disconnect::Code;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, body, hello, room_config};

/// Everything that a room sent, by recipient: control messages and closes.
#[derive(Default)]
struct Sent(Vec<Output>);

impl Sent {
    fn by<G: Game>(room: &mut Room<G>) -> Self {
        Self(std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000))).collect())
    }

    fn welcome(&self, client: u64) -> Welcome {
        let welcome = self.0.iter().find_map(|output| match output {
            Output::Control { client: ClientId(to), message: ServerMessage::Welcome(it) }
                if *to == client =>
            {
                Some(it.clone())
            }
            _ => None,
        });
        welcome.unwrap_or_else(|| panic!("{client} is not welcomed: {:?}", self.0))
    }

    fn closed(&self, client: u64) -> Option<Code> {
        self.0.iter().find_map(|output| match output {
            Output::Close { client: ClientId(to), goodbye } if *to == client => Some(goodbye.code),
            _ => None,
        })
    }

    /// Names of a player that a client has received, the newest last.
    fn names(&self, client: u64, player: PlayerId) -> Vec<String> {
        let told = self.0.iter().filter_map(|output| match output {
            Output::Control { client: ClientId(to), message: ServerMessage::Joined(seats) }
                if *to == client =>
            {
                seats.iter().find(|(it, _)| *it == player).map(|(_, seat)| seat.name.clone())
            }
            _ => None,
        });
        told.collect()
    }
}

fn hello_of<G: Game>(key: u8, name: &str, wishes: u32) -> Vec<u8> {
    let credentials = Credentials { key: PublicKey([key; 32]), ..Credentials::default() };
    let hello = Hello { credentials, wishes, ..hello::<G>(name, LocalTime(0)) };
    body(&ClientMessage::Hello(hello))
}

/// Lets a client join with this hello. Returns what the room sends in response.
fn come<G: Game>(room: &mut Room<G>, client: u64, hello: &[u8]) -> Sent {
    room.handle_arrival(LocalTime(1), ClientId(client), hello, Pass::default());
    Sent::by(room)
}

fn events<G: Game>(room: &mut Room<G>) -> Vec<Event> {
    std::iter::from_fn(|| room.poll_event()).collect()
}

#[test]
fn a_connection_that_lingers_gives_way_at_once() {
    let mut room = Room::<Skirmish>::new(room_config(1, 2));
    let first = come(&mut room, 0, &hello_of::<Skirmish>(7, "Ada", 0)).welcome(0);
    come(&mut room, 1, &hello_of::<Skirmish>(8, "Bob", 0));
    // Her packets arrive; then her network changes, and her program has no token.
    room.handle_datagram(LocalTime(1), ClientId(0), &crate::control::an_input());
    let bodies = room.world().entities.owned_by(first.player).map(|slot| slot.id);
    let bodies: Vec<_> = bodies.collect();
    events(&mut room);
    let sent = come(&mut room, 2, &hello_of::<Skirmish>(7, "Ada", 0));
    let back = sent.welcome(2);
    assert_eq!((back.player, back.resumed), (first.player, true));
    assert_eq!(sent.closed(0), Some(Code::Replaced));
    assert_eq!(room.seats_taken(), 2, "no second seat");
    let now: Vec<_> = room.world().entities.owned_by(first.player).map(|slot| slot.id).collect();
    assert_eq!(now, bodies, "no second body");
    assert_eq!(events(&mut room), [Event::Resumed { player: first.player }]);
    // Late packets of the old connection have no effect and take no seat.
    room.handle_lost(LocalTime(2), ClientId(0), "it timed out");
    assert_eq!((room.seats_taken(), events(&mut room)), (2, Vec::new()));
}

#[test]
fn a_returning_player_has_the_new_name() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let player = come(&mut room, 0, &hello_of::<Skirmish>(7, "Ada", 0)).welcome(0).player;
    come(&mut room, 1, &hello_of::<Skirmish>(8, "Bob", 0));
    events(&mut room);
    let mut back = |client, stated: &str| {
        let sent = come(&mut room, client, &hello_of::<Skirmish>(7, stated, 0));
        assert_eq!(sent.welcome(client).player, player);
        let name = room.world().profile(player).expect("she has a seat").name.clone();
        assert_eq!(sent.names(client, player).last(), Some(&name), "the line was sent to her");
        let others = sent.names(1, player);
        (name, others, events(&mut room))
    };
    let resumed = Event::Resumed { player };
    let renamed = |name: &str| Event::Renamed { player, name: name.into() };
    let (name, others, told) = back(2, "Countess");
    assert_eq!((&*name, others), ("Countess", vec!["Countess".to_owned()]));
    assert_eq!(told, [resumed.clone(), renamed("Countess")]);
    assert_eq!(back(3, "Countess"), ("Countess".into(), Vec::new(), vec![resumed.clone()]));
    // A taken name gets a number; if the new name is deceptive, the old one stays.
    assert_eq!(back(4, "Bob").0, "Bob 2");
    assert_eq!(back(5, "admin").0, "Bob 2");
    assert_eq!(back(6, "Ada").2, [resumed, renamed("Ada")]);
}

#[test]
fn watchers_come_back_and_change_sides_without_ghosts() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0).with(|it| it.watchers_max = 4));
    let bob = come(&mut room, 1, &hello_of::<Skirmish>(8, "Bob", 0)).welcome(1).player;
    come(&mut room, 0, &hello_of::<Skirmish>(7, "Ada", WISH_WATCH));
    room.handle_datagram(LocalTime(1), ClientId(0), &crate::control::an_input());
    let sent = come(&mut room, 2, &hello_of::<Skirmish>(7, "Ada", WISH_WATCH));
    assert!(sent.welcome(2).watching.is_some());
    assert_eq!((sent.closed(0), room.watchers(), room.seats_taken()), (Some(Code::Replaced), 1, 1));
    // From watching to playing, and back, each over its own connection.
    let sent = come(&mut room, 3, &hello_of::<Skirmish>(7, "Ada", 0));
    assert!(sent.welcome(3).watching.is_none());
    assert_eq!((sent.closed(2), room.watchers(), room.seats_taken()), (Some(Code::Replaced), 0, 2));
    room.handle_datagram(LocalTime(1), ClientId(3), &crate::control::an_input());
    let sent = come(&mut room, 4, &hello_of::<Skirmish>(7, "Ada", WISH_WATCH));
    let watcher = sent.welcome(4);
    assert!(watcher.watching.is_some());
    assert_eq!((sent.closed(3), room.watchers(), room.seats_taken()), (Some(Code::Replaced), 1, 1));
    let mut owners = room.world().entities.iter().filter_map(|slot| slot.owner);
    assert!(owners.all(|owner| owner == bob), "no body is left");
}

#[test]
fn a_second_window_that_is_refused_costs_the_first_one_nothing() {
    let config = room_config(1, 0).with(|it| it.watchers_max = 0);
    let mut room = Room::<Skirmish>::new(config);
    let first = come(&mut room, 0, &hello_of::<Skirmish>(7, "Ada", 0)).welcome(0);
    room.handle_datagram(LocalTime(1), ClientId(0), &crate::control::an_input());
    let owned = |room: &Room<Skirmish>| -> Vec<_> {
        let owned = room.world().entities.owned_by(first.player);
        owned.map(|slot| (slot.id, slot.entity)).collect()
    };
    let before = owned(&room);
    events(&mut room);
    let sent = come(&mut room, 1, &hello_of::<Skirmish>(7, "Ada", WISH_WATCH));
    assert_eq!((sent.closed(0), sent.closed(1)), (None, Some(Code::Full)));
    assert_eq!((room.seats_taken(), events(&mut room)), (1, Vec::new()));
    assert!(!before.is_empty() && owned(&room) == before, "score and body are kept");
    let back = come(&mut room, 2, &hello_of::<Skirmish>(7, "Ada", 0)).welcome(2);
    assert_eq!((back.player, back.resumed), (first.player, true));
}

#[test]
fn an_unavailable_seat_costs_no_place_in_the_queue() {
    let config = room_config(1, 0).with(|it| {
        it.players_max = 1;
        it.watchers_max = 1;
    });
    let mut room = Room::<Skirmish>::new(config);
    come(&mut room, 0, &hello_of::<Skirmish>(8, "Bob", 0)).welcome(0);
    let waits = come(&mut room, 1, &hello_of::<Skirmish>(7, "Ada", WISH_WAIT)).welcome(1);
    assert!(waits.watching.is_some());
    let sent = come(&mut room, 2, &hello_of::<Skirmish>(7, "Ada", 0));
    assert_eq!((sent.closed(1), sent.closed(2)), (None, Some(Code::Full)));
    // The only place is her own, so it is free for her.
    let sent = come(&mut room, 3, &hello_of::<Skirmish>(7, "Ada", WISH_WAIT));
    assert!(sent.welcome(3).watching.is_some());
    assert_eq!((sent.closed(1), room.watchers()), (Some(Code::Replaced), 1));
}

/// After a restart, all players get their former seats, and the world is untouched.
fn a_restart_costs_nothing<G: Game>() {
    let mut sim = Sim::<G>::new(5, 1);
    let clients: Vec<_> = (0..3).map(|_| sim.join_bot(super::control::CABLE)).collect();
    sim.run(8.0);
    let seats: Vec<_> = clients.iter().map(|it| sim.clients[*it].core().player()).collect();
    let owned = |sim: &Sim<G>, player: PlayerId| -> Vec<_> {
        sim.room.world().entities.owned_by(player).map(|slot| slot.entity).collect()
    };
    let before: Vec<_> = seats.iter().map(|player| owned(&sim, *player)).collect();
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    for client in &clients {
        sim.cut(*client);
    }
    let config = RoomConfig { start: sim.now, ..room_config(5, 1) }
        .with(|it| it.resume = Micros::from_ms(9000));
    sim.room = Room::restore(Rotation::new(config), &[], &kept, sim.now).expect("it is whole");
    let after: Vec<_> = seats.iter().map(|player| owned(&sim, *player)).collect();
    assert!(before == after, "{}: scores and bodies are kept", G::NAME);
    let there = sim.room.world().entities.len();
    // One player has changed the name meanwhile, unknown to the server.
    let restyled = sim.clients[clients[0]].session.restyle("Countess", Default::default());
    assert!(restyled.is_err(), "there is no connection");
    sim.run(3.0);
    let playing = |it: &&usize| matches!(sim.clients[**it].session.state(), State::Connected);
    assert_eq!(clients.iter().filter(playing).count(), 3, "{}", G::NAME);
    let back: Vec<_> = clients.iter().map(|it| sim.clients[*it].core().player()).collect();
    assert_eq!((back, sim.room.seats_taken()), (seats.clone(), 3), "{}", G::NAME);
    let name = |player| sim.room.world().profile(player).map(|it| it.name.clone());
    assert_eq!(name(seats[0]).as_deref(), Some("Countess"), "{}", G::NAME);
    let owners = sim.room.world().entities.iter().filter_map(|slot| slot.owner);
    let strange: Vec<_> = owners.filter(|it| name(*it).is_none()).collect();
    assert!(strange.is_empty(), "{}: bodies of {strange:?}, who are not here", G::NAME);
    assert!(there > 0);
}

#[test]
fn a_restart_costs_no_seat_and_no_score_in_any_game() {
    a_restart_costs_nothing::<Skirmish>();
    a_restart_costs_nothing::<Asteroids>();
    a_restart_costs_nothing::<ShufflePuck>();
    a_restart_costs_nothing::<Race>();
    a_restart_costs_nothing::<Platformer>();
}
