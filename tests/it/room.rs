//! A server's room by itself: fed by hand, without clients.

use phaselock::game::Game;
use phaselock::server::{AnyRoom, ClientId, Output, Room, RoomConfig};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock::wire::protocol::game_text;
use phaselock::wire::state::Codec;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{body, hello, room_config};

#[test]
fn a_client_that_is_behind_is_spared_snapshots_without_gaps_in_their_numbers() {
    let config = RoomConfig { players_max: 2, ..room_config(1, 3) };
    let mut room = Room::<Skirmish>::new(config);
    let clients = [ClientId(1), ClientId(2)];
    let players = clients.map(|client| {
        let hello = body(&ClientMessage::Hello(hello::<Skirmish>("Ada", LocalTime(0))));
        room.handle_first(LocalTime(0), client, &hello);
        let outputs = std::iter::from_fn(|| room.poll_output(LocalTime(0))).collect::<Vec<_>>();
        let welcome = outputs.into_iter().find_map(|output| match output {
            Output::Control { message: ServerMessage::Welcome(welcome), .. } => Some(welcome),
            _ => None,
        });
        welcome.expect("there is a seat").player
    });
    let game = Skirmish::new(Rates::DEFAULT, 1);
    let mut numbers = [Vec::new(), Vec::new()];
    for tick in 1..=20 {
        let now = room.next_timeout();
        room.handle_timeout(now);
        let behind = |client| client == clients[0] && tick <= 10;
        while let Some(output) = room.poll_output_unless(now, &behind) {
            let Output::Datagram { client, bytes } = output else { continue };
            let at = usize::from(client == clients[1]);
            let mut store = Store::new(Codec::new(Rates::DEFAULT), players[at], room.tick());
            let received = store.handle_packet(&game, &bytes);
            numbers[at].push(received.expect("a snapshot").header.seq);
        }
    }
    assert_eq!(numbers, [(0..5).collect::<Vec<_>>(), (0..10).collect()]);
    let packets = clients.map(|client| room.member_stats(client).map(|stats| stats.packets));
    assert_eq!(packets, [Some(5), Some(10)]);
}

#[test]
fn a_games_text_is_as_documented() {
    let text = game_text::<Skirmish>();
    let start =
        "record Command\nright -2 2 0 linear all predicted steered still nothing 0 value 3\n";
    assert!(text.starts_with("game skirmish 3\ntables "), "{text}");
    assert!(text.contains(start), "{text}");
    let documented = include_str!("../../shared/netcode/WIRE.md");
    assert!(documented.contains(start), "WIRE.md shows another start");
    assert!(text.contains("\nrecord Player\n"), "{text}");
    for (field, greatest) in [("hits 0 4 0 step owner", 15), ("health 0 7 0 step all", 127)] {
        let line = format!("\n{field} server steered still nothing 0 value {greatest}\n");
        assert!(text.contains(&line), "{text}");
    }
}
