//! Rows of the server list: one per server, filtered and sorted.

use std::cmp::Ordering;

use phaselock::fingerprint::Fingerprint;
use phaselock_quic::address::Address;
use phaselock_quic::survey::{Found, Reply};

use super::server_lists::{Known, Pages};

/// Pages of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Favourites,
    History,
    Lan,
    Internet,
}

impl Tab {
    pub(crate) const ALL: [Self; 4] = [Self::Favourites, Self::History, Self::Lan, Self::Internet];
}

/// Columns by which the list can be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// The order of the file or the directory.
    Order,
    Name,
    Game,
    Players,
    Ping,
}

/// Which rows are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Part of the name, a game or the address.
    pub(crate) text: String,
    pub(crate) not_full: bool,
    pub(crate) not_empty: bool,
    pub(crate) no_password: bool,
}

/// A server in the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) address: Address,
    /// Name of the server, now or earlier; if unknown, its address.
    pub(crate) name: String,
    pub(crate) starred: bool,
    /// Certificate that it is listed with, or that it reports.
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) reply: Reply,
}

impl Row {
    fn new(address: Address, name: String, found: Option<&Found>, pages: &Pages) -> Self {
        let reply = found.map_or(Reply::Asking, |found| found.reply.clone());
        let (mut name, mut fingerprint) = (name, found.and_then(|found| found.listed));
        if let Reply::Answered(info, _) = &reply {
            fingerprint = fingerprint.or(info.fingerprint);
            name.clone_from(&info.server);
        }
        if name.trim().is_empty() {
            name = address.to_string();
        }
        Self { starred: pages.is_starred(&address), address, name, fingerprint, reply }
    }

    /// The games of its rotation.
    pub(crate) fn games(&self) -> String {
        let Reply::Answered(info, _) = &self.reply else { return String::new() };
        info.games.join(", ")
    }

    /// The game being played in the fullest room, if known.
    pub(crate) fn playing(&self) -> Option<&str> {
        let Reply::Answered(info, _) = &self.reply else { return None };
        let fullest = info.rooms.iter().rev().max_by_key(|room| room.players);
        let only = || info.games.first().filter(|_| info.games.len() == 1);
        fullest.map(|room| &room.game).or_else(only).map(String::as_str)
    }

    /// Whether all seats are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.players().is_some_and(|(players, seats, _)| players >= seats)
    }

    /// Number of people who play, and of seats.
    pub(crate) fn players(&self) -> Option<(u32, u32, u32)> {
        let Reply::Answered(info, _) = &self.reply else { return None };
        Some((info.players, info.players_max, info.bots))
    }

    pub(crate) fn ping_ms(&self) -> Option<f64> {
        let Reply::Answered(_, took) = &self.reply else { return None };
        Some(took.as_ms())
    }

    pub(crate) fn is_locked(&self) -> bool {
        matches!(&self.reply, Reply::Answered(info, _) if info.needs_password)
    }

    fn passes(&self, filter: &Filter) -> bool {
        let players = self.players();
        let wanted = filter.text.trim().to_lowercase();
        let texts = [self.name.clone(), self.games(), self.address.to_string()];
        let fits = texts.iter().any(|text| text.to_lowercase().contains(&wanted));
        fits && !(filter.not_full && players.is_none_or(|(players, seats, _)| players >= seats))
            && !(filter.not_empty && players.is_none_or(|(players, ..)| players == 0))
            && !(filter.no_password && self.is_locked())
    }
}

/// The rows of a page. Servers that do not answer come last, in any order.
pub(crate) fn rows(
    tab: Tab,
    found: &[Found],
    pages: &Pages,
    filter: &Filter,
    (column, is_reversed): (Column, bool),
) -> Vec<Row> {
    let of_book = |known: &Known| {
        let found = found.iter().find(|it| it.address == known.address);
        Row::new(known.address.clone(), known.name.clone(), found, pages)
    };
    let of_survey =
        |found: &Found| Row::new(found.address.clone(), String::new(), Some(found), pages);
    let rows: Vec<_> = match tab {
        Tab::Favourites => pages.favourites.iter().map(of_book).collect(),
        Tab::History => pages.history.iter().map(of_book).collect(),
        Tab::Lan => found.iter().filter(|it| it.via.lan).map(of_survey).collect(),
        Tab::Internet => found.iter().filter(|it| it.via.directory).map(of_survey).collect(),
    };
    let mut rows: Vec<_> = rows.into_iter().filter(|row| row.passes(filter)).collect();
    let is_silent = |row: &Row| !matches!(row.reply, Reply::Answered(..));
    rows.sort_by(|a, b| {
        let by = compare(a, b, column);
        let by = if is_reversed { by.reverse() } else { by };
        let silent = match column {
            Column::Order => Ordering::Equal,
            _ => is_silent(a).cmp(&is_silent(b)),
        };
        silent.then(by)
    });
    rows
}

/// Default order of a column: names alphabetically, the fullest server and the shortest round trip
/// first.
fn compare(a: &Row, b: &Row, column: Column) -> Ordering {
    let players = |row: &Row| row.players().map_or(0, |(players, ..)| players);
    let bots = |row: &Row| row.players().map_or(0, |(.., bots)| bots);
    match column {
        Column::Order => Ordering::Equal,
        Column::Name => a.name.to_lowercase().cmp(&b.name.to_lowercase()),
        Column::Game => a.playing().cmp(&b.playing()).then_with(|| a.games().cmp(&b.games())),
        Column::Players => players(b).cmp(&players(a)).then(bots(b).cmp(&bots(a))),
        Column::Ping => {
            let ping = |row: &Row| row.ping_ms().unwrap_or(f64::MAX);
            ping(a).total_cmp(&ping(b))
        }
    }
}
