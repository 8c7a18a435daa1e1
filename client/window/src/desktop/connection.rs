//! Visits over QUIC: to a server elsewhere, or to one in this program.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use phaselock::client::Session;
use phaselock::fingerprint::Fingerprint;
use phaselock::games::{Bots, Games};
use phaselock::invitation::Invitation;
use phaselock::time::LocalTime;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::local::{LocalServer, own_addresses};
use phaselock_quic::pins::KnownHosts;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_ui::words::{fill, tr};

use super::system::folder;
use crate::visit::Visit;
use crate::visit::connection::{Changed, Connection};
use crate::visit::open::{Begun, VisitConfig};

/// A connection over QUIC.
struct Quic {
    driver: Driver,
    /// The server in this program, if the session is with it.
    server: Option<LocalServer>,
}

impl Connection for Quic {
    fn session(&self) -> &Session {
        &self.driver.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.driver.session
    }

    fn now(&self) -> LocalTime {
        self.driver.clock().now()
    }

    fn unix_of_start(&self) -> i64 {
        self.driver.clock().unix_of_start()
    }

    fn receive(&mut self) {
        self.driver.receive();
    }

    fn transmit(&mut self) {
        self.driver.transmit();
    }

    fn take_pinned(&mut self) -> Option<Fingerprint> {
        self.driver.take_pinned()
    }

    fn take_changed(&mut self) -> Option<Changed> {
        let phaselock_quic::client::Changed { host, expected, found } =
            self.driver.take_changed()?;
        Some(Changed { host, expected, found })
    }

    /// Says goodbye on its own thread, because that may take a moment.
    fn close(self: Box<Self>, reason: &'static str) -> Option<JoinHandle<()>> {
        let Self { driver, server } = *self;
        let goodbye = move || {
            driver.close(reason);
            if let Some(server) = server {
                server.stop(reason);
            }
        };
        // Without a thread, both are dropped, which stops them too.
        std::thread::Builder::new().name("goodbye".into()).spawn(goodbye).ok()
    }
}

/// A server to start in this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalGame<G> {
    /// The games of its rotation.
    pub(crate) games: G,
    pub(crate) bots: Bots,
    /// Whether friends on the local network can join.
    pub(crate) open: bool,
}

/// Starts a server in this program and joins it.
pub(super) fn host(
    game: LocalGame<Games>,
    clock: Clock,
    config: VisitConfig<'_>,
) -> Result<Visit, String> {
    let LocalGame { games, bots, open } = game;
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
    // With a lasting key, friends can recognise the player, whom they may have muted elsewhere.
    let keys = if open { own_keys() } else { PlayerKeys::Ephemeral };
    let pins = Pins::Fixed(server.fingerprint());
    let options = Options { keys, ..Options::new(address.into(), pins) };
    let title = tr("the server on this computer").to_owned();
    start(title, Route { options, server: Some(server) }, clock, config)
}

/// Joins a server elsewhere.
pub(super) fn join(
    invitation: Invitation,
    clock: Clock,
    config: VisitConfig<'_>,
) -> Result<Visit, String> {
    let Invitation { address, fingerprint } = invitation;
    let pins = match (KnownHosts::default_path(), fingerprint) {
        (Some(path), Some(fingerprint)) => Pins::Given(path, fingerprint),
        (Some(path), None) => Pins::File(path),
        (None, Some(fingerprint)) => Pins::Fixed(fingerprint),
        (None, None) => Pins::Memory,
    };
    let keys = own_keys();
    let title = address.to_string();
    let options = Options { keys, ..Options::new(address, pins) };
    start(title, Route { options, server: None }, clock, config)
}

/// The way to a server.
struct Route {
    options: Options,
    /// The server, if it is in this program.
    server: Option<LocalServer>,
}

fn start(
    title: String,
    route: Route,
    clock: Clock,
    config: VisitConfig<'_>,
) -> Result<Visit, String> {
    let Route { options, server } = route;
    let shared = server.as_ref().map(invitations).unwrap_or_default();
    let (is_here, without_network) = (server.is_some(), options.address.is_loopback());
    let options = Options { link: config.setup.link.clone(), ..options };
    let driver = Driver::spawn(options, config.session(), clock).map_err(|error| {
        fill("Cannot start the network thread: {error}.", &[("error", &error.to_string())])
    })?;
    let connection = Box::new(Quic { driver, server });
    Ok(Visit::new(Begun { title, connection, is_here, without_network, shared }, config))
}

/// The player's key from its file, or one for this visit if there is no folder for it.
pub(super) fn own_keys() -> PlayerKeys {
    PlayerKey::default_path().map_or(PlayerKeys::Ephemeral, PlayerKeys::File)
}

/// Links by which others on the local network join a server in this program.
fn invitations(server: &LocalServer) -> Vec<Invitation> {
    if server.address().ip().is_loopback() {
        return Vec::new();
    }
    let fingerprint = Some(server.fingerprint());
    let at = |ip| SocketAddr::new(ip, server.address().port()).into();
    own_addresses().into_iter().map(|ip| Invitation { address: at(ip), fingerprint }).collect()
}
