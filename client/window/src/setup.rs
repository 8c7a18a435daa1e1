//! What a session starts with, from the command line or a page's link.

use phaselock::clock::pll::LoopFilter;
use phaselock::link::{Conditions, PROFILES};
use phaselock::motion::choice::Choice;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::clean_name;

/// Maximum number of bots on this computer; with the player, they fill the server's 16 seats.
pub(crate) const BOTS_MAX: u16 = 15;
/// Enough to shoot at and few enough to survive; arbitrary.
pub(crate) const BOTS_DEFAULT: u16 = 5;

/// What a page's link or the command line asks for. The player is told if it cannot be met.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wishes {
    /// Name of the game to play.
    pub(crate) game: Option<String>,
    /// Text given as a room code that is not one.
    pub(crate) bad_room: Option<String>,
}

/// Options of every session of a run.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct Setup {
    #[arg(
        long, global = true, value_name = "CONDITIONS", help = link_help(),
        value_parser = phaselock_lab::load::network,
    )]
    pub(crate) link: Option<Conditions>,
    /// Code of the room to join [default: one with people and a free seat]
    #[arg(long, global = true, value_name = "CODE")]
    pub(crate) room: Option<RoomCode>,
    /// Wishes of the page's link, or of `join`.
    #[arg(skip)]
    pub(crate) wishes: Wishes,
    /// Ticket of a directory for a seat on the server.
    #[arg(skip)]
    pub(crate) ticket: Option<Vec<u8>>,
    /// Password of the server, if it needs one
    #[arg(long, global = true, value_name = "WORD")]
    pub(crate) password: Option<String>,
    /// Watch the game without taking a seat
    #[arg(long, global = true)]
    pub(crate) watch: bool,
    #[arg(
        long = "clock",
        global = true,
        value_name = "pll|leaky",
        default_value = "pll",
        help = "Control loop of the clock: pll, or leaky, the loop of a published platformer, for \
                comparison (F5 switches while the net graph is shown)"
    )]
    pub(crate) filter: LoopFilter,
    /// Open the net graph from the start (F4 shows and hides it)
    #[arg(long, global = true)]
    pub(crate) net_graph: bool,
    #[arg(long, global = true, value_name = "METHOD", help = presentation_help())]
    pub(crate) presentation: Option<Choice>,
    /// Mark each player's position in the newest snapshot, and the error of what was shown
    #[arg(long, global = true)]
    pub(crate) marks: bool,
}

impl Setup {
    /// The simulated network on one line.
    pub(crate) fn link_words(&self) -> Option<String> {
        let words =
            |link: &Conditions| link.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        self.link.as_ref().map(words)
    }
}

fn link_help() -> String {
    let names = PROFILES.map(|(name, _)| name).join(", ");
    format!(
        "Simulate a bad network: one of {names}, or properties, as in \
         --link mobile,seed=3 or --link delay=100ms,jitter=30ms,loss=5%; or a recording, as in \
         --link file:PATH (PATH.up and PATH.down, or PATH for both directions)"
    )
}

fn presentation_help() -> String {
    let names: Vec<_> = Choice::ALL.iter().map(|choice| choice.name()).collect();
    format!(
        "How others are shown (F6 changes it in a game): one of {} [default: the game's own]",
        names.join(", ")
    )
}

/// Name of the system's user.
pub(crate) fn default_name() -> String {
    let user = ["USER", "USERNAME"].into_iter().find_map(|key| std::env::var(key).ok());
    user.and_then(|user| clean_name(&user)).unwrap_or_else(|| "Player".into())
}
