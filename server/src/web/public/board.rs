//! What strangers may know about a server: its rooms, the players in them, and the records.
//!
//! Everything here is public. Private rooms are left out, and a server with a password shows only
//! its name and its games.

use std::cmp::Ordering;

use phaselock::game::{Best, Unit};
use phaselock::server::PlayerFigures;
use phaselock_quic::server::RoomFigures;
use serde::Serialize;

use crate::host::Host;
use crate::store::{PublicBest, day_of, public_bests};

/// Maximum players listed by name, in a room and in all; the rest are only counted. Arbitrary.
pub(super) const NAMES_OF_ROOM_MAX: usize = 100;
pub(super) const NAMES_MAX: usize = 500;
/// Maximum places of a list of records.
const PLACES: u32 = 10;
/// Days covered by the lists of a month and of a week, including today.
const MONTH: i64 = 30;
const WEEK: i64 = 7;

/// Everything that is shown.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Board {
    /// The server's name.
    pub(super) name: String,
    /// Names of the server's games.
    pub(super) games: Vec<String>,
    /// Whether players need a password to join. If so, rooms and records are not shown.
    pub(super) needs_password: bool,
    /// Public rooms, those with the most players first.
    pub(super) rooms: Vec<Room>,
    /// Records, by game and score.
    pub(super) records: Vec<Records>,
}

/// A room.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Room {
    pub(super) code: String,
    /// Name of the game played in the room.
    pub(super) game: String,
    /// Number of the round, the first being 1.
    pub(super) round: u32,
    /// Players, without bots.
    pub(super) players: u16,
    /// Seats for players.
    pub(super) seats: u16,
    /// Bots in the game.
    pub(super) bots: u16,
    /// Players, best first; incomplete if there are very many.
    pub(super) people: Vec<Person>,
}

/// A player.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Person {
    pub(super) name: String,
    /// Scores in the current game, such as points.
    pub(super) scores: Vec<Score>,
}

/// A player's score in a game.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Score {
    pub(super) measure: String,
    pub(super) unit: &'static str,
    pub(super) value: f64,
}

/// The records of a score, each player once.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Records {
    pub(super) game: String,
    pub(super) measure: String,
    pub(super) unit: &'static str,
    /// `most` if higher scores are better, otherwise `least`.
    pub(super) best: &'static str,
    pub(super) all_time: Vec<Place>,
    pub(super) month: Vec<Place>,
    pub(super) week: Vec<Place>,
}

/// A place in a list of records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) value: f64,
    /// Unix time in seconds.
    pub(super) time: i64,
}

/// Public bests from the database: of all time, of a month and of a week.
#[derive(Debug, Default)]
pub(super) struct Bests([Vec<PublicBest>; 3]);

impl Bests {
    /// Reads them again. If the database cannot be read, they stay unchanged.
    pub(super) async fn read(&mut self, host: &Host) {
        let today = day_of(host.clocks.unix());
        let spans = [None, Some(today - MONTH + 1), Some(today - WEEK + 1)];
        let read = host.store.read(move |db| {
            let [all_time, month, week] = spans.map(|since| public_bests(db, since, PLACES));
            Ok([all_time?, month?, week?])
        });
        match read.await {
            Ok(bests) => self.0 = bests,
            Err(error) => {
                tracing::debug!(%error, "cannot refresh the records of the public page")
            }
        }
    }

    /// Returns the lists of a game's score.
    fn of(&self, game: &str, measure: &str) -> [Vec<Place>; 3] {
        self.0.each_ref().map(|bests| {
            let own = bests.iter().filter(|it| it.game == game && it.measure == measure);
            own.map(|PublicBest { name, value, time, .. }| Place {
                name: name.clone(),
                value: *value,
                time: *time,
            })
            .collect()
        })
    }
}

impl Board {
    /// Returns the board of a server as it is now.
    pub(super) fn of(host: &Host, bests: &Bests) -> Self {
        let config = host.reloader.config().borrow().clone();
        let board = Self {
            name: config.play.name.clone(),
            games: host.handle.games(),
            needs_password: config.joining.password.is_some(),
            rooms: Vec::new(),
            records: Vec::new(),
        };
        if board.needs_password {
            return board;
        }
        let records = records(host, bests, &board.games);
        Self { rooms: rooms(host, &host.handle.rooms()), records, ..board }
    }
}

/// Returns the public rooms.
pub(super) fn rooms(host: &Host, figures: &[RoomFigures]) -> Vec<Room> {
    let mut rooms: Vec<_> =
        figures.iter().filter(|it| it.is_open).map(|figures| room(host, figures)).collect();
    rooms.sort_by(|a, b| {
        let code = |room: &Room| (room.code.len(), room.code.clone());
        b.players.cmp(&a.players).then_with(|| code(a).cmp(&code(b)))
    });
    let mut left = NAMES_MAX;
    for room in &mut rooms {
        room.people.truncate(left.min(NAMES_OF_ROOM_MAX));
        left -= room.people.len();
    }
    rooms
}

fn room(host: &Host, figures: &RoomFigures) -> Room {
    let RoomFigures { status, rounds, measured, .. } = figures;
    let known = |name: &str| host.facts.records.get(&(status.game.clone(), name.to_owned()));
    let mut people: Vec<_> = measured.players.iter().filter(|it| !it.is_watching).collect();
    // Players who have not finished may lack a score, such as a time.
    let most = people.iter().max_by_key(|it| it.scores.len());
    let first = most.and_then(|it| it.scores.first()).map(|(name, _)| *name);
    let best = first.and_then(known).map_or(Best::Most, |(best, _)| *best);
    people.sort_by(|a, b| {
        let value = |it: &PlayerFigures| {
            it.scores.iter().find(|(name, _)| Some(*name) == first).map(|(_, value)| *value)
        };
        in_order(best, value(a), value(b)).then_with(|| a.name.cmp(&b.name))
    });
    let score = |(name, value): &(&'static str, f64)| Score {
        measure: (*name).to_owned(),
        unit: known(name).map_or("count", |(_, unit)| unit_name(*unit)),
        value: *value,
    };
    let person = |it: &PlayerFigures| Person {
        name: it.name.clone(),
        scores: it.scores.iter().filter(|(_, value)| value.is_finite()).map(score).collect(),
    };
    Room {
        code: status.code.as_str().to_owned(),
        game: status.game.clone(),
        round: rounds.saturating_add(1),
        players: status.players,
        seats: status.players_max,
        bots: status.bots,
        people: people.into_iter().map(person).collect(),
    }
}

/// Orders two scores, the better one first; `None` comes last.
pub(super) fn in_order(best: Best, a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b, best) {
        (Some(a), Some(b), Best::Least) => a.total_cmp(&b),
        (Some(a), Some(b), Best::Most) => b.total_cmp(&a),
        _ => b.is_some().cmp(&a.is_some()),
    }
}

/// Returns the records of all games that the program has, those of the hosted ones first.
fn records(host: &Host, bests: &Bests, games: &[String]) -> Vec<Records> {
    let known = host.facts.records.iter().map(|((game, measure), (best, unit))| {
        let [all_time, month, week] = bests.of(game, measure);
        Records {
            game: game.clone(),
            measure: measure.clone(),
            unit: unit_name(*unit),
            best: match best {
                Best::Least => "least",
                Best::Most => "most",
            },
            all_time,
            month,
            week,
        }
    });
    let mut records: Vec<_> = known.filter(|it| !it.all_time.is_empty()).collect();
    let at = |game: &str| games.iter().position(|it| it == game).unwrap_or(games.len());
    records.sort_by_key(|it| at(&it.game));
    records
}

/// Returns the name of a unit in JSON.
pub(super) fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Seconds => "seconds",
    }
}
