//! Wishes of a page's link or of the command line that may not be met, and what the player is told
//! then.

use phaselock::limits::NAME_BYTES_MAX;
use phaselock::wire::text::{clip, printable};

use crate::args::Wishes;
use crate::view::Views;
use crate::words::fill;

/// Lines for the player about the wishes that the first game does not meet.
pub(super) fn unmet(wishes: &Wishes, played: &'static str, views: &Views) -> Vec<String> {
    let title = |name: &str| match views.get(name) {
        Some(entry) => entry.title.to_owned(),
        // A link may say anything.
        None => printable(clip(name, NAME_BYTES_MAX)),
    };
    let room = wishes.bad_room.as_deref().map(|text| {
        fill(
            "The link's room {room} is not a room's code; you are in one of the server's \
             choice.",
            &[("room", &printable(clip(text, NAME_BYTES_MAX)))],
        )
    });
    let game = wishes.game.as_deref().filter(|wanted| *wanted != played).map(|wanted| {
        fill(
            "No room with a free seat plays {wanted} now; this one plays {game}.",
            &[("wanted", &title(wanted)), ("game", &title(played))],
        )
    });
    room.into_iter().chain(game).collect()
}
