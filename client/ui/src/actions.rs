//! Actions: what a player can command, and the keys that command it unless the player chose others.
//!
//! A view declares its game's actions as a const table, [`GameView::ACTIONS`], and asks
//! [`Controls`] for them; it knows no key. Those of every game are [`ALL`].
//!
//! [`GameView::ACTIONS`]: crate::view::GameView::ACTIONS
//! [`Controls`]: crate::controls::Controls

/// An action of a game, or of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Name in the settings' file: small letters and underlines.
    pub id: &'static str,
    /// Title in the list of bindings, in English.
    pub title: &'static str,
    /// Title in hints; neighbours with the same one share a line. Empty: not in hints.
    pub hint: &'static str,
    /// Words on its button on the glass, and for that button in sentences.
    pub on_glass: &'static str,
    /// Bindings unless the player chose others; [`Binding`](crate::bindings::Binding) has names.
    pub keys: &'static [&'static str],
}

impl Action {
    /// An action that hints tell of by its title.
    pub const fn new(id: &'static str, title: &'static str, keys: &'static [&'static str]) -> Self {
        Self { id, title, hint: title, on_glass: title, keys }
    }

    /// The action with another title in hints.
    #[must_use]
    pub const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// The action with another, shorter title on the glass.
    #[must_use]
    pub const fn on_glass(self, on_glass: &'static str) -> Self {
        Self { on_glass, ..self }
    }
}

/// Pauses, and goes back in menus.
pub const MENU: Action = Action::new("menu", "pause", &["Escape", "Pad:Start"]);
/// Shows the scores while held.
pub const SCORES: Action = Action::new("scores", "scores", &["Tab", "Pad:Back"]).on_glass("table");
/// Opens the chat to everybody.
pub const CHAT: Action = Action::new("chat", "chat", &["Enter"]).hint("").on_glass("say");
/// Opens the chat to the own side.
pub const SIDE_CHAT: Action = Action::new("side_chat", "chat to your side", &["T"]).hint("");
/// Opens the list of quick messages.
pub const QUICK: Action = Action::new("quick", "quick messages", &["V"]).hint("");
/// Marks a place on the map for others.
pub const PING: Action =
    Action::new("ping", "point at a place", &["Mouse:Middle", "Pad:RightThumb"]).hint("");
/// Says that the player is ready for the round.
pub const READY: Action = Action::new("ready", "ready", &["G", "Pad:LeftThumb"]).hint("");
/// Votes for what is asked.
pub const VOTE_YES: Action = Action::new("vote_yes", "vote yes", &["F1"]).hint("").on_glass("yes");
/// Votes against what is asked.
pub const VOTE_NO: Action = Action::new("vote_no", "vote no", &["F2"]).hint("").on_glass("no");
/// Shows and hides figures for developers.
pub const DETAILS: Action =
    Action::new("details", "network details", &["F3"]).hint("details, graph, others");
/// Shows and hides the net graph.
pub const GRAPH: Action = Action::new("graph", "net graph", &["F4"]).hint("details, graph, others");
/// Shows and hides the panel of presentation methods.
pub const OTHERS: Action =
    Action::new("others", "how others are shown", &["F6"]).hint("details, graph, others");
/// Takes the other loop for the clock, while the graph is shown.
pub const CLOCK_LOOP: Action =
    Action::new("clock_loop", "clock loop (with the net graph)", &["F5"]).hint("");
/// Ends the lesson that runs.
pub const SKIP_LESSON: Action =
    Action::new("skip_lesson", "end the lesson", &["Backspace"]).hint("");
/// Fills the screen, or no longer.
pub const FULLSCREEN: Action = Action::new("fullscreen", "full screen", &["F11"]).hint("");

/// Actions in every game, in the order of lists; their section in the settings is `all`.
pub const ALL: &[Action] = &[
    MENU,
    SCORES,
    CHAT,
    SIDE_CHAT,
    QUICK,
    PING,
    READY,
    VOTE_YES,
    VOTE_NO,
    DETAILS,
    GRAPH,
    OTHERS,
    CLOCK_LOOP,
    SKIP_LESSON,
    FULLSCREEN,
];

/// Name of the section of [`ALL`] in the settings.
pub const ALL_GAMES: &str = "all";
