//! Finds seats on other servers for the players of rooms that end.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::wire::directory::play::Placed;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::announce::{Announcement, PlacesWish, place};
use phaselock_quic::server::Leaving;
use tokio::time::{Instant, sleep, timeout};

use crate::config::Redirect;
use crate::people::{Exit, Exits};

/// Time in which rooms that end at once are gathered: all of them tick within it.
const GATHER: Duration = Duration::from_millis(40);
/// Time for the directories' answers. Players wait for them, for 2 s at most.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(1800);

/// Looks for exits whenever rooms ask.
pub(crate) async fn find_exits(exits: Arc<Exits>, announcements: Vec<Announcement>) {
    let announcements = Arc::new(announcements);
    loop {
        let mut rooms = exits.wanted().await;
        sleep(GATHER).await;
        rooms.extend(exits.take_wanted());
        let mut by_game: BTreeMap<&str, Vec<Leaving>> = BTreeMap::new();
        for leaving in rooms {
            by_game.entry(leaving.game).or_default().push(leaving);
        }
        for (game, rooms) in by_game {
            let (exits, announcements) = (Arc::clone(&exits), Arc::clone(&announcements));
            tokio::spawn(async move {
                let people = rooms.iter().map(|room| u32::from(room.people)).sum();
                let found = search(&announcements, game, people, &exits).await;
                for (room, found) in share(rooms, found) {
                    exits.settle(room, found);
                }
            });
        }
    }
}

/// Asks the directories one after the other for seats for these people. Each may take an even share
/// of the time that is left.
async fn search(
    announcements: &[Announcement],
    game: &str,
    people: u32,
    exits: &Exits,
) -> Vec<Exit> {
    let mut found: Vec<Exit> = Vec::new();
    let end = Instant::now() + SEARCH_TIMEOUT;
    for (announcement, left) in announcements.iter().zip((1..=announcements.len()).rev()) {
        let seats: u32 = found.iter().map(|exit| u32::from(exit.people)).sum();
        let missing = u16::try_from(people.saturating_sub(seats)).unwrap_or(u16::MAX);
        if missing == 0 {
            break;
        }
        let note = |placed, remote| found.push(exit(placed, remote));
        let directory = &announcement.directory;
        let wish = PlacesWish {
            directory: directory.to_string(),
            game: game.to_owned(),
            people: missing,
            port: announcement.port,
            own: exits.own(),
            region: exits.region(),
            fleet: exits.fleet(),
        };
        let asked = place(announcement, &wish, note);
        let share = (end - Instant::now()) / u32::try_from(left).unwrap_or(u32::MAX);
        match timeout(share, asked).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(refusal))) => tracing::debug!(%directory, %refusal, "no places"),
            Ok(Err(error)) => tracing::debug!(%directory, %error, "no places"),
            Err(_) => tracing::debug!(%directory, "no answer about places in time"),
        }
    }
    let seats: u32 = found.iter().map(|exit| u32::from(exit.people)).sum();
    if seats < people {
        tracing::warn!(
            name: "places_missing",
            game,
            people,
            seats,
            "directories found too few seats; some players will be disconnected"
        );
    } else {
        tracing::info!(name: "places_found", game, people, "players go to other servers");
    }
    found
}

fn exit(placed: Placed, directory: SocketAddr) -> Exit {
    let Placed { server, people, room, web, .. } = placed;
    let address = server.address(directory).to_string();
    let redirect = Redirect { address, fingerprint: Some(server.fingerprint) };
    Exit { redirect, web, room, people }
}

/// Divides exits among rooms, so that the players of a room stay together where possible.
fn share(rooms: Vec<Leaving>, found: Vec<Exit>) -> Vec<(RoomCode, Vec<Exit>)> {
    let mut found = found.into_iter().filter(|exit| exit.people > 0).peekable();
    let mut shared = Vec::new();
    for Leaving { room, people, .. } in rooms {
        let (mut missing, mut exits) = (people, Vec::new());
        while missing > 0
            && let Some(exit) = found.peek_mut()
        {
            let taken = exit.people.min(missing);
            exits.push(Exit { people: taken, ..exit.clone() });
            (missing, exit.people) = (missing - taken, exit.people - taken);
            if exit.people == 0 {
                found.next();
            }
        }
        shared.push((room, exits));
    }
    shared
}

#[cfg(test)]
mod tests {
    use phaselock::wire::query::WebIdentity;

    use super::*;

    #[test]
    fn rooms_share_exits_in_order() {
        let room = |code: &str, people| Leaving {
            room: code.parse().expect("a code"),
            game: "chess",
            people,
            is_redirected: false,
        };
        let exit = |address: &str, people| Exit {
            redirect: Redirect { address: address.into(), fingerprint: None },
            web: WebIdentity::default(),
            room: None,
            people,
        };
        let rooms = vec![room("1", 3), room("2", 2), room("3", 4)];
        let shared = share(rooms, vec![exit("a:1", 4), exit("b:1", 0), exit("c:1", 3)]);
        let told: Vec<Vec<_>> = shared
            .iter()
            .map(|(_, exits)| exits.iter().map(|it| (&*it.redirect.address, it.people)).collect())
            .collect();
        assert_eq!(told, [vec![("a:1", 3)], vec![("a:1", 1), ("c:1", 1)], vec![("c:1", 2)]]);
    }
}
