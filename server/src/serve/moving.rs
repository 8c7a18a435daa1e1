//! Finds seats on other servers for the players of rooms that end.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::wire::directory::play::{Placed, PlayRefusal};
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::announce::{Announcement, PlacesWish, place};
use phaselock_quic::server::Leaving;
use tokio::time::{sleep, timeout};

use crate::config::Redirect;
use crate::people::{Exit, Exits};

/// Time in which rooms that end at once are gathered: all of them tick within it.
const GATHER: Duration = Duration::from_millis(40);
/// Time for the answers of several directories, which are asked in turn. Players wait for them, for
/// 2 s at least.
const ROUND: Duration = Duration::from_millis(1800);
/// Time until directories that have no seats are asked again.
const AGAIN: Duration = Duration::from_millis(500);

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
        for rooms in by_game.into_values() {
            let (exits, announcements) = (Arc::clone(&exits), Arc::clone(&announcements));
            tokio::spawn(async move { find(&exits, &announcements, rooms).await });
        }
    }
}

/// Looks for seats for the players of rooms with one game, while the rooms ask for them.
async fn find(exits: &Exits, announcements: &[Announcement], rooms: Vec<Leaving>) {
    let Some(game) = rooms.first().map(|room| room.game) else { return };
    let mut unseated = Unseated::of(&rooms);
    let people = unseated.count();
    let is_hopeless = tokio::select! {
        is_hopeless = search(exits, announcements, game, &mut unseated) => is_hopeless,
        () = abandoned(exits, &rooms) => false,
    };
    let missing = unseated.count();
    if missing > 0 {
        let seats = people - missing;
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
    exits.settle(&rooms, is_hopeless);
}

/// Resolves when none of the rooms asks any more.
async fn abandoned(exits: &Exits, rooms: &[Leaving]) {
    while exits.are_wanted(rooms) {
        sleep(AGAIN).await;
    }
}

/// Asks the directories in turn until everyone has a seat. Returns `true` if all of them refuse to
/// find seats for this server.
async fn search(
    exits: &Exits,
    announcements: &[Announcement],
    game: &str,
    unseated: &mut Unseated,
) -> bool {
    let mut willing: Vec<_> = announcements.iter().collect();
    while !willing.is_empty() {
        // A single directory is asked without a break: asking again would start at the end of its
        // queue.
        let share = match willing.len() {
            1 => Duration::MAX,
            several => ROUND / u32::try_from(several).unwrap_or(u32::MAX),
        };
        let mut still_willing = Vec::new();
        for announcement in willing {
            if timeout(share, ask(exits, announcement, game, unseated)).await != Ok(Err(Refused)) {
                still_willing.push(announcement);
            }
            if unseated.count() == 0 {
                return false;
            }
        }
        willing = still_willing;
        sleep(AGAIN).await;
    }
    true
}

/// The directory will find no seats for this server, now or later.
#[derive(Debug, PartialEq, Eq)]
struct Refused;

/// Asks a directory for seats for everyone who has none.
async fn ask(
    exits: &Exits,
    announcement: &Announcement,
    game: &str,
    unseated: &mut Unseated,
) -> Result<(), Refused> {
    let directory = &announcement.directory;
    let wish = PlacesWish {
        directory: directory.to_string(),
        game: game.to_owned(),
        people: unseated.count(),
        port: announcement.port,
        own: exits.own(),
        region: exits.region(),
        fleet: exits.fleet(),
    };
    let note = |placed, remote| unseated.seat(exit(placed, remote), |room, it| exits.add(room, it));
    match place(announcement, &wish, note).await {
        Ok(None) => {}
        Ok(Some(refusal)) => {
            tracing::debug!(%directory, %refusal, "no places");
            if matches!(refusal, PlayRefusal::Stranger | PlayRefusal::Game) {
                return Err(Refused);
            }
        }
        Err(error) => tracing::debug!(%directory, %error, "no places"),
    }
    Ok(())
}

fn exit(placed: Placed, directory: SocketAddr) -> Exit {
    let Placed { server, people, room, web, .. } = placed;
    let address = server.address(directory).to_string();
    let redirect = Redirect { address, fingerprint: Some(server.fingerprint) };
    Exit { redirect, web, room, people }
}

/// Numbers of players without a seat, by room.
struct Unseated(Vec<(RoomCode, u16)>);

impl Unseated {
    fn of(rooms: &[Leaving]) -> Self {
        Self(rooms.iter().map(|room| (room.room.clone(), room.people)).collect())
    }

    fn count(&self) -> u16 {
        self.0.iter().fold(0, |sum, (_, people)| sum.saturating_add(*people))
    }

    /// Divides the seats of an exit among rooms, so that the players of a room stay together where
    /// possible. `add` returns whether it accepts them.
    fn seat(&mut self, mut exit: Exit, add: impl Fn(&RoomCode, Exit) -> bool) {
        for (room, missing) in &mut self.0 {
            let people = exit.people.min(*missing);
            if people > 0 && add(room, Exit { people, ..exit.clone() }) {
                (*missing, exit.people) = (*missing - people, exit.people - people);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

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
        let rooms = [room("1", 3), room("2", 2), room("3", 4)];
        let mut unseated = Unseated::of(&rooms);
        let told = RefCell::new(Vec::new());
        for exit in [exit("a:1", 4), exit("b:1", 0), exit("own:1", 2), exit("c:1", 3)] {
            unseated.seat(exit, |room, exit| {
                let (address, people) = (exit.redirect.address, exit.people);
                let is_other = address != "own:1";
                told.borrow_mut().extend(is_other.then(|| format!("{room} {address} {people}")));
                is_other
            });
        }
        assert_eq!(told.into_inner(), ["1 a:1 3", "2 a:1 1", "2 c:1 1", "3 c:1 2"]);
        assert_eq!((unseated.count(), unseated.0[2].1), (2, 2));
    }
}
