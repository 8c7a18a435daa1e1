//! Control messages, as bodies of frames and as streams of frames.

use std::fmt::Debug;

use phaselock::limits::{
    COMMAND_BYTES_MAX, COMMANDS_MAX, CONTROL_BYTES_MAX, GAMES_MAX, GHOSTS_MAX, NAME_BYTES_MAX,
    QUICK_MESSAGES_MAX, ROSTER_CHUNK, RUN_BYTES_MAX, RUN_PART_BYTES, TEXT_BYTES_MAX,
    TICKET_BYTES_MAX, USAGE_BYTES_MAX, WATCHERS_MAX, WEB_HASHES_MAX, WEB_HOST_BYTES_MAX,
};
use phaselock::time::Tick;
use phaselock::wire::control::{ClientMessage, ServerMessage, body_len, frame};
use phaselock::wire::ghost::GhostNotice;
use phaselock::wire::round::{Poll, Proposal, RoundNotice};
use phaselock::wire::text::{clean_name, clip, printable};
use serde::Serialize;

/// A client's control messages.
pub fn client_message(data: &[u8]) -> bool {
    bodies(data).into_iter().filter(|body| one_of_client(body)).count() > 0
}

fn one_of_client(body: &[u8]) -> bool {
    let head = ClientMessage::parse_hello_head(body);
    if let Ok((_, version)) = &head {
        assert!(version.len() <= TEXT_BYTES_MAX);
    }
    let Ok(message) = ClientMessage::parse(body) else { return head.is_ok() };
    framed_again(&message, ClientMessage::parse);
    let ClientMessage::Hello(hello) = message else { return true };
    assert_eq!(
        head,
        Ok((hello.wire, hello.version.clone())),
        "the head is the same in all versions"
    );
    assert!(hello.name.len() <= TEXT_BYTES_MAX && hello.games.len() <= GAMES_MAX);
    assert!(hello.games.iter().all(|(game, _)| game.len() <= NAME_BYTES_MAX));
    if let Some(name) = clean_name(&hello.name) {
        assert!(!name.is_empty() && name.len() <= NAME_BYTES_MAX && name.trim() == name);
        assert_eq!(printable(&name), name);
        assert_eq!(clean_name(&name).as_deref(), Some(&*name), "a clean text stays unchanged");
    }
    true
}

/// A server's control messages.
pub fn server_message(data: &[u8]) -> bool {
    bodies(data).into_iter().filter(|body| one_of_server(body)).count() > 0
}

fn one_of_server(body: &[u8]) -> bool {
    let Ok(message) = ServerMessage::parse(body) else { return false };
    framed_again(&message, ServerMessage::parse);
    let shown = |text: &str, max: usize| {
        assert!(text.len() <= max && printable(text) == text && clip(text, max) == text);
    };
    match &message {
        ServerMessage::Disconnect(goodbye) => {
            shown(&goodbye.text, TEXT_BYTES_MAX);
            goodbye.redirect.iter().for_each(|redirect| shown(redirect, TEXT_BYTES_MAX));
            assert!(goodbye.ticket.as_ref().is_none_or(|it| it.len() <= TICKET_BYTES_MAX));
            assert!(goodbye.web.hashes.len() <= WEB_HASHES_MAX);
            shown(&goodbye.web.host, WEB_HOST_BYTES_MAX);
        }
        ServerMessage::Chat { text, .. } => shown(text, TEXT_BYTES_MAX),
        ServerMessage::Joined(seats) => {
            assert!(seats.len() <= ROSTER_CHUNK);
            for (_, seat) in seats {
                shown(&seat.name, NAME_BYTES_MAX);
                assert!(seat.look.is_valid());
            }
        }
        ServerMessage::Welcome(welcome) => {
            shown(&welcome.server, TEXT_BYTES_MAX);
            assert!(welcome.game.len() <= NAME_BYTES_MAX && welcome.tick <= Tick::MAX_SENT);
            assert!(welcome.rates.validate().is_ok());
        }
        ServerMessage::Status(status) => {
            shown(&status.server, TEXT_BYTES_MAX);
            shown(&status.version, TEXT_BYTES_MAX);
            shown(&status.game, NAME_BYTES_MAX);
        }
        ServerMessage::Round(RoundNotice::House(house)) => {
            assert!(house.games.len() <= GAMES_MAX);
            house.games.iter().chain(&house.next).for_each(|game| shown(game, NAME_BYTES_MAX));
        }
        ServerMessage::Round(RoundNotice::Presence(players)) => {
            assert!(players.len() <= ROSTER_CHUNK);
        }
        ServerMessage::Round(RoundNotice::Poll(Poll { motion, .. }))
        | ServerMessage::Round(RoundNotice::Voted { motion, .. }) => {
            if let Proposal::Game(name) = motion {
                shown(name, NAME_BYTES_MAX);
            }
        }
        ServerMessage::Watching { players, .. } => {
            assert!(players.len() <= usize::from(WATCHERS_MAX));
        }
        ServerMessage::Left { .. }
        | ServerMessage::Epoch { .. }
        | ServerMessage::Refused { .. }
        | ServerMessage::Places { .. }
        | ServerMessage::Game(_) => {}
        ServerMessage::Quick { number, .. } => assert!(*number < QUICK_MESSAGES_MAX),
        ServerMessage::Mark { mark, .. } => assert!(mark.is_valid()),
        ServerMessage::Commands(commands) => {
            assert!(commands.len() <= COMMANDS_MAX);
            for command in commands {
                shown(&command.name, COMMAND_BYTES_MAX);
                shown(&command.usage, USAGE_BYTES_MAX);
            }
        }
        ServerMessage::Ghosts(GhostNotice::Offers(offers)) => {
            assert!(offers.len() <= GHOSTS_MAX);
            for offer in offers {
                shown(&offer.name, NAME_BYTES_MAX);
                assert!(offer.bytes as usize <= RUN_BYTES_MAX);
            }
        }
        ServerMessage::Ghosts(GhostNotice::Part { bytes, .. }) => {
            assert!(bytes.len() <= RUN_PART_BYTES);
        }
    }
    true
}

/// Returns the bytes as one body, and as a stream the bodies of its frames.
fn bodies(data: &[u8]) -> Vec<&[u8]> {
    let mut bodies = vec![data];
    let mut stream = data;
    while let Some((prefix, rest)) = stream.split_first_chunk() {
        let Ok(len) = body_len(*prefix) else { break };
        assert!(len <= CONTROL_BYTES_MAX);
        let Some((body, rest)) = rest.split_at_checked(len) else { break };
        bodies.push(body);
        stream = rest;
    }
    bodies
}

/// Asserts that a message that was read can be sent again, and reads back unchanged.
fn framed_again<M: Serialize + PartialEq + Debug>(
    message: &M,
    parse: impl Fn(&[u8]) -> Result<M, phaselock::wire::WireError>,
) {
    let framed = frame(message).expect("it came in a frame");
    let (prefix, body) = framed.split_first_chunk().expect("a frame has a length");
    assert_eq!(body_len(*prefix), Ok(body.len()));
    assert_eq!(parse(body).as_ref(), Ok(message));
}
