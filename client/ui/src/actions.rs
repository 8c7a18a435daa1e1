//! Actions: what a player can command, and the keys that command it unless the player chose others.
//!
//! A view declares its game's actions as a const table, [`GameView::ACTIONS`], and asks
//! [`Controls`] for them; it knows no key. Those of every game are [`ALL`].
//!
//! [`GameView::ACTIONS`]: crate::view::GameView::ACTIONS
//! [`Controls`]: crate::controls::Controls

/// An action of one game, or of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Name in the settings file: lower-case letters and underscores.
    pub id: &'static str,
    /// Title in the list of bindings, in English.
    pub title: &'static str,
    /// Title in hints; neighbours with the same title share a line. Empty: not shown in hints.
    pub hint: &'static str,
    /// Label of its touch button, also used for that button in sentences.
    pub on_glass: &'static str,
    /// Default bindings, by the names of [`Binding`](crate::bindings::Binding).
    pub keys: &'static [&'static str],
}

impl Action {
    /// Creates an action whose title is also its hint.
    pub const fn new(id: &'static str, title: &'static str, keys: &'static [&'static str]) -> Self {
        Self { id, title, hint: title, on_glass: title, keys }
    }

    /// Sets another title for hints.
    #[must_use]
    pub const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// Sets another, shorter label for touch screens.
    #[must_use]
    pub const fn on_glass(self, on_glass: &'static str) -> Self {
        Self { on_glass, ..self }
    }
}

/// Pauses the game, and goes back in menus.
pub const MENU: Action = Action::new("menu", "pause", &["Escape", "Pad:Start"]);
/// Shows the scores while held.
pub const SCORES: Action = Action::new("scores", "scores", &["Tab", "Pad:Back"]).on_glass("table");
/// Opens the chat to everyone.
pub const CHAT: Action = Action::new("chat", "chat", &["Enter"]).hint("").on_glass("say");
/// Opens the chat to the player's side.
pub const SIDE_CHAT: Action = Action::new("side_chat", "chat to your side", &["T"]).hint("");
/// Opens the list of quick messages.
pub const QUICK: Action = Action::new("quick", "quick messages", &["V"]).hint("");
/// Marks a place on the map for other players.
pub const PING: Action =
    Action::new("ping", "mark a place for your side", &["Mouse:Middle", "Pad:RightThumb"]).hint("");
/// Tells the others that the player is ready for the round.
pub const READY: Action = Action::new("ready", "ready", &["G", "Pad:LeftThumb"]).hint("");
/// Votes yes.
pub const VOTE_YES: Action = Action::new("vote_yes", "vote yes", &["F1"]).hint("").on_glass("yes");
/// Votes no.
pub const VOTE_NO: Action = Action::new("vote_no", "vote no", &["F2"]).hint("").on_glass("no");
/// Shows or hides the network details.
pub const DETAILS: Action =
    Action::new("details", "network details", &["F3"]).hint("details, graph, others");
/// Shows or hides the net graph.
pub const GRAPH: Action = Action::new("graph", "net graph", &["F4"]).hint("details, graph, others");
/// Shows or hides the panel of presentation methods.
pub const OTHERS: Action =
    Action::new("others", "how others are shown", &["F6"]).hint("details, graph, others");
/// Switches to the other clock loop while the graph is shown.
pub const CLOCK_LOOP: Action =
    Action::new("clock_loop", "clock loop (with the net graph)", &["F5"]).hint("");
/// Ends the running lesson, or skips a replay.
pub const SKIP_LESSON: Action =
    Action::new("skip_lesson", "end the lesson, skip a replay", &["Backspace"])
        .hint("")
        .on_glass("skip");
/// Saves the last minutes as a recording.
pub const SAVE_MINUTES: Action =
    Action::new("save_minutes", "save the last ten minutes", &["F8"]).hint("");
/// Enters or leaves full screen.
pub const FULLSCREEN: Action = Action::new("fullscreen", "full screen", &["F11"]).hint("");

/// Actions of every game, in the order of lists. Their section in the settings is `all`.
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
    SAVE_MINUTES,
    FULLSCREEN,
];

/// Section of [`ALL`] in the settings file.
pub const ALL_GAMES: &str = "all";
