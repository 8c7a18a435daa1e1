//! Start of a visit.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phaselock::client::{GhostChoice, Part, SessionConfig};
use phaselock::invitation::Invitation;
use phaselock::time::LocalTime;
use phaselock::wire::talk::Look;

use super::connection::Connection;
use super::wishes::Asked;
use super::{DETAILS, GRAPH, Visit};
use crate::graph::NetGraph;
use crate::people::People;
use crate::presentation::Panel;
use crate::records::{RecordTracker, Records};
use crate::registry::Views;
use crate::replay::Player;
use crate::setup::Setup;
use crate::talk::Talk;
use crate::watch::Places;
use phaselock_ui::lesson::Lessons;

/// Settings of every visit.
pub(crate) struct VisitConfig<'a> {
    /// Name of the player.
    pub(crate) name: String,
    /// Looks of the player.
    pub(crate) look: Look,
    /// The file of muted people.
    pub(crate) muted: Option<PathBuf>,
    pub(crate) views: &'a Views,
    pub(crate) setup: &'a Setup,
    /// Names of the panels that are open from the start.
    pub(crate) panels: &'a [String],
    /// Names of the games whose lessons the player has had.
    pub(crate) lessons: &'a [String],
    /// Personal records of earlier visits.
    pub(crate) records: &'a Records,
}

/// A new connection.
pub(crate) struct Begun {
    /// The server, as the player knows it.
    pub(crate) title: String,
    pub(crate) connection: Box<dyn Connection>,
    /// Whether the server is in this program.
    pub(crate) is_here: bool,
    /// Whether the server runs on this machine, in this program or another one.
    pub(crate) without_network: bool,
    /// Links with which friends on the local network join the server in this program.
    pub(crate) shared: Vec<Invitation>,
}

impl VisitConfig<'_> {
    /// Configuration of the session.
    pub(crate) fn session(&self) -> SessionConfig {
        let Self { setup, views, .. } = self;
        SessionConfig {
            look: self.look,
            filter: setup.filter,
            room: setup.room.clone(),
            ticket: setup.ticket.clone(),
            game: setup.wishes.game.clone(),
            password: setup.password.clone(),
            // If all seats are taken, watch until one is free.
            part: if setup.watch { Part::Watch } else { Part::Wait },
            ..SessionConfig::new(views.games().clone(), self.name.clone())
        }
    }
}

impl Visit {
    /// Starts to show a recording. `clock` is the machine's.
    ///
    /// # Errors
    ///
    /// The bytes cannot be played, in words for the player.
    pub(crate) fn of_recording(
        title: String,
        bytes: Vec<u8>,
        clock: impl Fn() -> LocalTime + 'static,
        config: VisitConfig<'_>,
    ) -> Result<Self, String> {
        let player = Player::open(bytes.into(), config.session(), Box::new(clock))?;
        let begun = Begun {
            title,
            connection: Box::new(player),
            is_here: false,
            without_network: true,
            shared: Vec::new(),
        };
        Ok(Self::new(begun, config))
    }

    /// Starts a visit over a connection.
    pub(crate) fn new(begun: Begun, config: VisitConfig<'_>) -> Self {
        let Begun { title, mut connection, is_here, without_network, shared } = begun;
        let VisitConfig { muted, views, setup, panels, lessons, records, .. } = config;
        let open = |name: &str| panels.iter().any(|it| it == name);
        Self {
            title,
            is_recording: connection.recording().is_some(),
            ends_with_film: false,
            is_here,
            without_network,
            views: views.clone(),
            play: None,
            server_name: String::new(),
            asked: Some(Asked::of(setup)),
            lost: None,
            pinned: None,
            has_arrived: false,
            shared,
            paused: false,
            people: People::default(),
            scrolled: 0,
            details: open(DETAILS),
            talk: Talk::open(muted, connection.now()),
            profile: None,
            changed: None,
            input_delay: 0,
            ghost: GhostChoice::Off,
            keepable: None,
            keeping: None,
            unsaved: Vec::new(),
            replays: false,
            link: setup.link_words(),
            filter: setup.filter,
            graph: NetGraph::new(setup.net_graph || open(GRAPH)),
            panel: Panel::new(setup.marks),
            places: Places::default(),
            lessons: Lessons::new(lessons),
            records: RecordTracker::new(records),
            presentation: setup.presentation,
            chosen: BTreeMap::new(),
            connection,
        }
    }
}
