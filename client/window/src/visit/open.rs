//! Begin of a visit: to a server elsewhere, or to one in this program.

use std::collections::BTreeMap;
#[cfg(not(target_arch = "wasm32"))]
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

#[cfg(target_arch = "wasm32")]
use phaselock::address::Address;
use phaselock::client::{Part, SessionConfig};
#[cfg(not(target_arch = "wasm32"))]
use phaselock::games::{Bots, Games};
#[cfg(not(target_arch = "wasm32"))]
use phaselock::invitation::Invitation;
use phaselock::wire::talk::Look;
#[cfg(not(target_arch = "wasm32"))]
use phaselock_quic::client::{Options, Pins};
#[cfg(not(target_arch = "wasm32"))]
use phaselock_quic::pins::KnownHosts;
#[cfg(not(target_arch = "wasm32"))]
use phaselock_quic::player::{PlayerKey, PlayerKeys};

#[cfg(not(target_arch = "wasm32"))]
use super::beside::invitations;
use super::wishes::Asked;
use super::{DETAILS, GRAPH, Visit};
use crate::args::Setup;
use crate::graph::NetGraph;
use crate::network::{Clock, Driver, LocalServer};
use crate::people::People;
use crate::presentation::Panel;
use crate::records::{Book, Records};
use crate::registry::Views;
#[cfg(not(target_arch = "wasm32"))]
use crate::settings::folder;
use crate::talk::Talk;
use crate::watch::Places;
use phaselock_ui::lesson::Lessons;
#[cfg(not(target_arch = "wasm32"))]
use phaselock_ui::words::{fill, tr};

/// Settings of every visit.
pub(crate) struct VisitConfig<'a> {
    /// Name of the player.
    pub(crate) name: String,
    /// Looks of the player.
    pub(crate) look: Look,
    /// The file of muted people.
    pub(crate) muted: Option<PathBuf>,
    pub(crate) clock: Clock,
    pub(crate) views: &'a Views,
    pub(crate) setup: &'a Setup,
    /// Names of the panels that are open from the start.
    pub(crate) panels: &'a [String],
    /// Names of the games whose lessons the player has had.
    pub(crate) lessons: &'a [String],
    /// Personal records of earlier visits.
    pub(crate) records: &'a Records,
}

#[cfg(not(target_arch = "wasm32"))]
impl Visit {
    /// Starts a server in this program, for friends on the local network too if it is open, and
    /// joins it.
    pub(crate) fn host(
        games: Games,
        bots: Bots,
        open: bool,
        config: VisitConfig<'_>,
    ) -> Result<Self, String> {
        let server = match open {
            false => LocalServer::start(games, bots),
            true => {
                let folder = folder().ok_or_else(|| {
                    tr("There is no folder for the server's key; set HOME or XDG_CONFIG_HOME.")
                        .to_owned()
                })?;
                let name = fill("{name}'s game", &[("name", &config.name)]);
                LocalServer::start_open(games, bots, &name, &folder.join("here"))
            }
        };
        let server = server.map_err(|error| error.to_string())?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.address().port()));
        // Friends know the player again, and may have muted the player elsewhere.
        let keys = if open { own_keys() } else { PlayerKeys::Ephemeral };
        let pins = Pins::Fixed(server.fingerprint());
        let options = Options { keys, ..Options::new(address.into(), pins) };
        let title = tr("the server on this computer").to_owned();
        Self::start(title, options, Some(server), config)
    }

    pub(crate) fn join(invitation: Invitation, config: VisitConfig<'_>) -> Result<Self, String> {
        let Invitation { address, fingerprint } = invitation;
        let pins = match (KnownHosts::default_path(), fingerprint) {
            (Some(path), Some(fingerprint)) => Pins::Told(path, fingerprint),
            (Some(path), None) => Pins::File(path),
            (None, Some(fingerprint)) => Pins::Fixed(fingerprint),
            (None, None) => Pins::Memory,
        };
        let keys = own_keys();
        let title = address.to_string();
        let options = Options { keys, ..Options::new(address, pins) };
        Self::start(title, options, None, config)
    }

    fn start(
        title: String,
        options: Options,
        server: Option<LocalServer>,
        config: VisitConfig<'_>,
    ) -> Result<Self, String> {
        let shared = server.as_ref().map(invitations).unwrap_or_default();
        let without_network = options.address.is_loopback() && options.link.is_none();
        let options = Options { link: config.setup.link.clone(), ..options };
        let driver = Driver::spawn(options, config.session(), config.clock);
        let driver = driver.map_err(|error| {
            fill(
                "The network's thread cannot be started: {error}.",
                &[("error", &error.to_string())],
            )
        })?;
        Ok(Self { shared, without_network, ..Self::with(title, driver, server, config) })
    }
}

#[cfg(target_arch = "wasm32")]
impl Visit {
    /// Joins the server of the page.
    pub(crate) fn join_page(title: String, config: VisitConfig<'_>) -> Self {
        let driver = Driver::begin(config.session());
        let host = phaselock_web::page::host().and_then(|host| host.parse::<Address>().ok());
        let without_network = host.is_some_and(|host| host.is_loopback());
        Self { without_network, ..Self::with(title, driver, None, config) }
    }
}

impl VisitConfig<'_> {
    fn session(&self) -> SessionConfig {
        let Self { setup, views, .. } = self;
        SessionConfig {
            look: self.look,
            filter: setup.filter,
            room: setup.room.clone(),
            game: setup.wishes.game.clone(),
            password: setup.password.clone(),
            // Where all seats are taken, one watches until one is free.
            part: if setup.watch { Part::Watch } else { Part::Wait },
            #[cfg(target_arch = "wasm32")]
            resume: phaselock_web::page::of_tab(&super::seat())
                .and_then(|token| token.parse().ok().map(phaselock::identity::ResumeToken)),
            ..SessionConfig::new(views.games().clone(), self.name.clone())
        }
    }
}

impl Visit {
    fn with(
        title: String,
        driver: Driver,
        server: Option<LocalServer>,
        config: VisitConfig<'_>,
    ) -> Self {
        let VisitConfig { muted, clock, views, setup, panels, lessons, records, .. } = config;
        let open = |name: &str| panels.iter().any(|it| it == name);
        Self {
            title,
            driver,
            server,
            without_network: false,
            views: views.clone(),
            play: None,
            server_name: String::new(),
            asked: Some(Asked::of(setup)),
            lost: None,
            pinned: None,
            has_arrived: false,
            shared: Vec::new(),
            paused: false,
            people: People::default(),
            scrolled: 0,
            details: open(DETAILS),
            talk: Talk::open(muted, clock.now()),
            worn: None,
            changed: None,
            link: setup.link_words(),
            filter: setup.filter,
            graph: NetGraph::new(setup.net_graph || open(GRAPH)),
            panel: Panel::new(setup.marks),
            places: Places::default(),
            lessons: Lessons::new(lessons),
            records: Book::new(records),
            presentation: setup.presentation,
            #[cfg(target_arch = "wasm32")]
            motion: Default::default(),
            #[cfg(target_arch = "wasm32")]
            kept: None,
            chosen: BTreeMap::new(),
        }
    }
}

/// The player's key in its file, or one for this visit where there is no folder for it.
#[cfg(not(target_arch = "wasm32"))]
fn own_keys() -> PlayerKeys {
    PlayerKey::default_path().map_or(PlayerKeys::Ephemeral, PlayerKeys::File)
}
