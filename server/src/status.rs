//! Queries the status of a running server, and prints it.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use anyhow::{Context, Result};
use phaselock::wire::query::Info;
use phaselock_quic::address::Address;
use phaselock_quic::query;
use serde_json::json;
use tokio::runtime::Runtime;

/// Checks that a server is healthy, and prints its status as text. Fails if it is not.
pub(crate) fn check_health(address: SocketAddr) -> Result<()> {
    let (info, _) = runtime()?.block_on(query::query(address))?;
    // The exit status is the answer; the output may be closed.
    let _ = write!(io::stdout(), "{}", text(&info));
    Ok(())
}

/// Queries any server's status, and prints it.
pub(crate) fn query(address: &Address, json: bool) -> Result<()> {
    let (info, took) = runtime()?.block_on(query::query_named(address))?;
    let took = took.as_secs_f64() * 1000.0;
    let printed = match json {
        true => {
            let mut object = object(&info);
            object["round_trip_ms"] = took.into();
            format!("{object}\n")
        }
        false => format!("{}version {}, answered in {took:.1} ms\n", text(&info), info.version),
    };
    write!(io::stdout(), "{printed}").context("cannot write to the standard output")
}

fn runtime() -> Result<Runtime> {
    Runtime::new().context("cannot start the network runtime")
}

/// Formats a line for the server, and one for each room if there are several.
fn text(info: &Info) -> String {
    let password = if info.needs_password { ", with a password" } else { "" };
    let mut text = format!(
        "{} plays {}: {} of {} players, {} bots, round {}{password}\n",
        info.server,
        info.games.join(","),
        info.players,
        info.players_max,
        info.bots,
        info.round
    );
    for room in info.rooms.iter().filter(|_| info.rooms.len() > 1) {
        text += &format!(
            "room {} plays {}: {} of {} players, {} bots\n",
            room.code, room.game, room.players, room.players_max, room.bots
        );
    }
    text
}

fn object(info: &Info) -> serde_json::Value {
    let rooms = info.rooms.iter().map(|room| {
        json!({
            "code": room.code.as_str(),
            "game": room.game,
            "players": room.players,
            "players_max": room.players_max,
            "bots": room.bots,
        })
    });
    json!({
        "server": info.server,
        "version": info.version,
        "games": info.games,
        "players": info.players,
        "players_max": info.players_max,
        "bots": info.bots,
        "round": info.round,
        "rooms_count": info.rooms_count,
        "needs_password": info.needs_password,
        "region": info.region,
        "free": info.free,
        "rooms": rooms.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::wire::rooms::{RoomCode, RoomStatus};

    #[test]
    fn status_is_text_or_json() {
        let room = |number| RoomStatus {
            code: RoomCode::numbered(number),
            game: "chess".into(),
            players: 1,
            players_max: 2,
            bots: 0,
        };
        let mut info = Info {
            server: "Here".into(),
            games: vec!["chess".into(), "go".into()],
            players: 1,
            players_max: 2,
            rooms: vec![room(1)],
            ..Info::default()
        };
        assert_eq!(text(&info), "Here plays chess,go: 1 of 2 players, 0 bots, round 0\n");
        info.rooms.push(room(2));
        assert_eq!(text(&info).lines().count(), 3);
        assert_eq!(object(&info)["rooms"][1]["code"], "2");
    }
}
