//! The public page as HTML. Names come from strangers: the macro escapes whatever is inserted, and
//! `bdi` keeps right-to-left names from reordering the text around them.

use maud::{DOCTYPE, Markup, html};
use phaselock::game::Unit;

use super::board::{Board, Person, Place, Records, Room, unit_name};
use super::words::{LANGUAGES, Words};
use crate::time::day;

/// Returns the page in a language.
pub(super) fn html(board: &Board, words: &Words) -> String {
    let summary = summary(board, words);
    let page = html! {
        (DOCTYPE)
        html lang=(words.tag) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                meta name="description" content=(summary);
                meta property="og:title" content=(board.name);
                meta property="og:description" content=(summary);
                title { (board.name) " – " (words.title) }
                link rel="icon" href="icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="public.css";
            }
            body {
                header {
                    div {
                        h1 { bdi { (board.name) } }
                        p { (summary) }
                    }
                    a.play href="./" { (words.play) }
                }
                main {
                    @if board.needs_password {
                        p.none { (words.private) }
                    } @else {
                        (playing(&board.rooms, words))
                        (records(&board.records, words))
                    }
                }
                (foot(words))
            }
        }
    };
    page.into_string()
}

/// Returns a line that sums up all rooms.
fn summary(board: &Board, words: &Words) -> String {
    let sum = |count: fn(&Room) -> u16| board.rooms.iter().map(|it| u32::from(count(it))).sum();
    let games = board.games.iter().map(|game| capital(game)).collect::<Vec<_>>().join(", ");
    if board.needs_password {
        return games;
    }
    let bots = Some(sum(|room| room.bots)).filter(|bots| *bots > 0).map(words.bots);
    let parts = [Some((words.people)(sum(|room| room.players))), bots, Some(games)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn playing(rooms: &[Room], words: &Words) -> Markup {
    let (busy, free): (Vec<_>, Vec<_>) = rooms.iter().partition(|room| room.players > 0);
    html! {
        section aria-labelledby="now" {
            h2 id="now" { (words.now) }
            @if busy.is_empty() {
                p.none { ((words.people)(0)) "." }
            } @else {
                div.cards { @for room in busy { (card(room, words)) } }
            }
            @if !free.is_empty() {
                p.free {
                    (words.free_rooms)
                    @for (at, (game, count, code)) in by_game(&free).into_iter().enumerate() {
                        @if at > 0 { "," }
                        " "
                        a href={ "./?room=" (code) } {
                            (capital(game)) @if count > 1 { " × " (count) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the games of rooms, each with the number of its rooms and the code of the first.
fn by_game<'a>(rooms: &[&'a Room]) -> Vec<(&'a str, usize, &'a str)> {
    let mut games: Vec<(&str, usize, &str)> = Vec::new();
    for room in rooms {
        match games.iter_mut().find(|(game, ..)| *game == room.game) {
            Some((_, count, _)) => *count += 1,
            None => games.push((&room.game, 1, &room.code)),
        }
    }
    games
}

fn card(room: &Room, words: &Words) -> Markup {
    let columns = columns(&room.people);
    let more = usize::from(room.players).saturating_sub(room.people.len());
    html! {
        article.card {
            h3 { (capital(&room.game)) " " small { (words.room) " " (room.code) } }
            p.facts {
                (words.round) " " (room.round) " · " ((words.seats)(room.players, room.seats))
                @if room.bots > 0 { " · " ((words.bots)(room.bots.into())) }
            }
            table {
                thead {
                    tr {
                        th scope="col" { (words.player) }
                        @for (measure, _) in &columns {
                            th.number scope="col" { (capital(words.measure(measure))) }
                        }
                    }
                }
                tbody { @for person in &room.people { (row(person, &columns, words)) } }
            }
            @if more > 0 {
                p.more { ((words.more)(u32::try_from(more).unwrap_or(u32::MAX))) }
            }
            @if room.players < room.seats {
                a.join href={ "./?room=" (room.code) } { (words.join) }
            } @else {
                p.more { (words.full) }
            }
        }
    }
}

/// Returns the scores that any player has, with their units.
fn columns(people: &[Person]) -> Vec<(&str, &'static str)> {
    let mut columns = Vec::new();
    for score in people.iter().flat_map(|person| &person.scores) {
        let column = (&*score.measure, score.unit);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn row(person: &Person, columns: &[(&str, &'static str)], words: &Words) -> Markup {
    html! {
        tr {
            th scope="row" { bdi { (person.name) } }
            @for (measure, unit) in columns {
                @let score = person.scores.iter().find(|it| it.measure == *measure);
                td.number { (score.map_or("–".to_owned(), |it| number(it.value, unit, words))) }
            }
        }
    }
}

fn records(records: &[Records], words: &Words) -> Markup {
    html! {
        section aria-labelledby="records" {
            h2 id="records" { (words.records) }
            @if records.is_empty() {
                p.none { (words.no_records) }
            }
            @for it in records {
                h3 { (capital(&it.game)) " " small { (capital(words.measure(&it.measure))) } }
                div.cards {
                    @for (spans, places) in lists(it, words) {
                        article.card {
                            h4 { (spans) }
                            (places_table(places, it.unit, words))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the lists of a score with their spans; equal lists are merged.
fn lists<'a>(records: &'a Records, words: &Words) -> Vec<(String, &'a [Place])> {
    let Records { all_time, month, week, .. } = records;
    let mut lists: Vec<(String, &[Place])> = Vec::new();
    for (span, places) in [(words.all_time, all_time), (words.month, month), (words.week, week)] {
        match lists.last_mut() {
            Some((spans, before)) if *before == &**places => *spans += &format!(" · {span}"),
            _ if places.is_empty() => {}
            _ => lists.push((span.to_owned(), places)),
        }
    }
    lists
}

fn places_table(places: &[Place], unit: &str, words: &Words) -> Markup {
    html! {
        table {
            thead.hidden {
                tr {
                    th scope="col" { (words.place) }
                    th scope="col" { (words.player) }
                    th scope="col" { (words.records) }
                    th scope="col" { (words.day) }
                }
            }
            tbody {
                @for (place, Place { name, value, time }) in (1..).zip(places) {
                    @let day = day(*time);
                    tr {
                        td.place { (place) "." }
                        th scope="row" { bdi { (name) } }
                        td.number { (number(*value, unit, words)) }
                        td.day { time datetime=(day) { (day) } }
                    }
                }
            }
        }
    }
}

fn foot(words: &Words) -> Markup {
    html! {
        footer {
            p { (words.foot) }
            nav aria-label=(words.languages) {
                @for it in LANGUAGES {
                    a href={ "?lang=" (it.tag) } lang=(it.tag) hreflang=(it.tag)
                        aria-current=[(it.tag == words.tag).then_some("true")] {
                        (it.own_name)
                    }
                }
                a href="public.json" { "JSON" }
            }
        }
    }
}

/// Formats a score for people.
fn number(value: f64, unit: &str, words: &Words) -> String {
    let units = [Unit::Count, Unit::Seconds];
    let unit = units.into_iter().find(|it| unit_name(*it) == unit).unwrap_or(Unit::Count);
    unit.text(value).replace('.', words.decimal)
}

/// Returns a word with its first letter capitalised.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().chars()).collect()
}
