//! The public page's languages.

/// The words of a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Language tag, as in `<html lang>`.
    pub(super) tag: &'static str,
    /// Name of the language in itself.
    pub(super) own_name: &'static str,
    /// After the server's name in the title.
    pub(super) title: &'static str,
    pub(super) play: &'static str,
    pub(super) join: &'static str,
    pub(super) now: &'static str,
    pub(super) records: &'static str,
    pub(super) room: &'static str,
    pub(super) round: &'static str,
    pub(super) player: &'static str,
    pub(super) place: &'static str,
    pub(super) day: &'static str,
    pub(super) all_time: &'static str,
    pub(super) month: &'static str,
    pub(super) week: &'static str,
    /// Shown for a room without a free seat.
    pub(super) full: &'static str,
    pub(super) free_rooms: &'static str,
    pub(super) no_records: &'static str,
    pub(super) private: &'static str,
    pub(super) foot: &'static str,
    pub(super) languages: &'static str,
    /// Decimal separator.
    pub(super) decimal: &'static str,
    pub(super) people: fn(u32) -> String,
    pub(super) bots: fn(u32) -> String,
    pub(super) seats: fn(u16, u16) -> String,
    pub(super) more: fn(u32) -> String,
    /// What to call the numbers that many games have; all others are shown by name.
    measures: &'static [(&'static str, &'static str)],
}

impl Words {
    /// What to call a number.
    pub(super) fn measure<'a>(&self, name: &'a str) -> &'a str {
        self.measures.iter().find(|(it, _)| *it == name).map_or(name, |(_, word)| *word)
    }
}

/// All languages. The first is the default.
pub(super) const LANGUAGES: [&Words; 2] = [
    &Words {
        tag: "en",
        own_name: "English",
        title: "players and records",
        play: "Play in your browser",
        join: "Join",
        now: "Playing now",
        records: "Records",
        room: "Room",
        round: "Round",
        player: "Player",
        place: "Place",
        day: "Day",
        all_time: "All time",
        month: "Last 30 days",
        week: "Last 7 days",
        full: "All seats are taken.",
        free_rooms: "Rooms without players:",
        no_records: "There are no records yet. Finish a round to set the first one.",
        private: "This server has a password. Its players and records are not public.",
        foot: "Updated every 5 seconds; reload to see changes. Days are in UTC.",
        languages: "Languages",
        decimal: ".",
        people: |count| match count {
            0 => "No one is playing".to_owned(),
            1 => "1 person is playing".to_owned(),
            _ => format!("{count} people are playing"),
        },
        bots: |count| if count == 1 { "1 bot".to_owned() } else { format!("{count} bots") },
        seats: |players, seats| format!("{players} of {seats} seats"),
        more: |count| format!("and {count} more"),
        measures: &[("lap", "best lap")],
    },
    &Words {
        tag: "de",
        own_name: "Deutsch",
        title: "Spieler und Rekorde",
        play: "Im Browser spielen",
        join: "Mitspielen",
        now: "Jetzt im Spiel",
        records: "Rekorde",
        room: "Raum",
        round: "Runde",
        player: "Spieler",
        place: "Platz",
        day: "Tag",
        all_time: "Insgesamt",
        month: "Letzte 30 Tage",
        week: "Letzte 7 Tage",
        full: "Alle Plätze sind besetzt.",
        free_rooms: "Räume ohne Spieler:",
        no_records: "Noch gibt es keine Rekorde. Spiel eine Runde zu Ende für den ersten Eintrag.",
        private: "Dieser Server hat ein Passwort. Spieler und Rekorde sind nicht öffentlich.",
        foot: "Wird alle 5 Sekunden aktualisiert; zum Auffrischen neu laden. Tage nach UTC.",
        languages: "Sprachen",
        decimal: ",",
        people: |count| match count {
            0 => "Niemand spielt".to_owned(),
            1 => "1 Person spielt".to_owned(),
            _ => format!("{count} Personen spielen"),
        },
        bots: |count| if count == 1 { "1 Bot".to_owned() } else { format!("{count} Bots") },
        seats: |players, seats| format!("{players} von {seats} Plätzen"),
        more: |count| format!("und {count} weitere"),
        measures: &[
            ("frags", "Abschüsse"),
            ("goals", "Tore"),
            ("lap", "beste Runde"),
            ("points", "Punkte"),
            ("time", "Zeit"),
        ],
    },
];

/// Returns the index of the reader's language: that of the link (`lang=de`) if there is one,
/// otherwise the best available one that the browser accepts (RFC 9110, 12.5.4).
pub(super) fn language(query: &str, accepted: &str) -> usize {
    let of_tag = |tag: &str| {
        let main = tag.split('-').next().unwrap_or_default().trim();
        LANGUAGES.iter().position(|it| it.tag.eq_ignore_ascii_case(main))
    };
    let linked = query.split('&').find_map(|part| of_tag(part.strip_prefix("lang=")?));
    let weighed = accepted.split(',').filter_map(|part| {
        let (tag, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let weight: f32 = weight.trim().strip_prefix("q=")?.parse().ok()?;
        Some((of_tag(tag)?, weight)).filter(|(_, weight)| *weight > 0.0)
    });
    // The first wins a tie.
    let best = weighed.reduce(|best, next| if next.1 > best.1 { next } else { best });
    linked.or(best.map(|(at, _)| at)).unwrap_or(0)
}
