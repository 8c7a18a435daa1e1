//! How the server judged a shot, in words: the same in a kill replay and in a recording.

use phaselock::rewind::{Adjusted, Outcome, Ruling, Tested};
use phaselock::time::Micros;

use super::words::{fill, tr};

/// Explains how far the world was rewound for a shot, and why not further.
pub fn view_time(ruling: &Ruling) -> String {
    let ms = |time: Micros| format!("{:.0}", time.as_ms());
    let accepted = ms(ruling.accepted);
    let values = |claimed| [("claimed", claimed), ("accepted", &*accepted)];
    match (ruling.claimed.map(ms), ruling.adjusted) {
        (None, Adjusted::Missing) => fill(
            "The input came late, so the last view time applied: the server went back {accepted} \
             ms.",
            &[("accepted", &accepted)],
        ),
        (None, _) => tr("The shot was judged in the present.").to_owned(),
        (Some(claimed), Adjusted::No | Adjusted::Missing) => fill(
            "Seen {claimed} ms in the past; the server went back as far.",
            &[("claimed", &claimed)],
        ),
        (Some(claimed), Adjusted::Limit) => fill(
            "Seen {claimed} ms in the past; the server went back {accepted} ms: the limit.",
            &values(&claimed),
        ),
        (Some(claimed), Adjusted::Implausible) => fill(
            "Seen {claimed} ms in the past, which the server's measurements rule out; it went \
             back {accepted} ms.",
            &values(&claimed),
        ),
        (Some(claimed), Adjusted::Unsteady) => fill(
            "Seen {claimed} ms in the past, which changed too suddenly; the server went back \
             {accepted} ms.",
            &values(&claimed),
        ),
    }
}

/// Explains what a shot hit, or why it did not.
pub fn outcome(ruling: &Ruling) -> String {
    let Some(Tested { inside, outcome, .. }) = ruling.tested else {
        return tr("No player was in front of the shooter.").to_owned();
    };
    let metres = format!("{:.2}", inside.abs());
    let metres = [("metres", &*metres)];
    match outcome {
        Outcome::Hit => fill("Hit, {metres} m inside the hit box.", &metres),
        Outcome::Missed => fill("Missed by {metres} m.", &metres),
        Outcome::Blocked => tr("Aimed at the hit box, but something was in the way.").to_owned(),
        Outcome::Covered => {
            tr("Aimed at the hit box, but the target has reached cover since.").to_owned()
        }
        Outcome::Gone => tr("Aimed at the hit box, but the target has died since.").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec2;
    use phaselock::ids::{EntityId, PlayerId};
    use phaselock::time::Tick;

    use super::*;

    #[test]
    fn words_have_the_numbers_of_the_ruling() {
        let tested = Tested {
            target: EntityId { index: 1, generation: 0 },
            at: Vec2::ZERO,
            radius: 0.5,
            inside: 0.124,
            outcome: Outcome::Hit,
        };
        let ruling = Ruling {
            shooter: PlayerId(0),
            tick: Tick(9),
            claimed: Some(Micros(181_700)),
            accepted: Micros::from_ms(150),
            adjusted: Adjusted::Limit,
            most: Micros::from_ms(150),
            tested: Some(tested),
        };
        assert_eq!(
            view_time(&ruling),
            "Seen 182 ms in the past; the server went back 150 ms: the limit."
        );
        assert_eq!(outcome(&ruling), "Hit, 0.12 m inside the hit box.");
        let missed = Tested { inside: -0.5, outcome: Outcome::Missed, ..tested };
        assert_eq!(outcome(&Ruling { tested: Some(missed), ..ruling }), "Missed by 0.50 m.");
        let present = Ruling { claimed: None, adjusted: Adjusted::No, ..ruling };
        assert_eq!(view_time(&present), "The shot was judged in the present.");
    }
}
