//! A directory, a server and a client that looks for one, over real UDP on this machine.

use std::time::Duration;

use phaselock::server::RoomConfig;
use phaselock_directory::core::Bounds;
use phaselock_directory::drive::Ends;
use phaselock_directory::{ask, drive};
use phaselock_quic::address::Address;
use phaselock_quic::announce::{Announcement, Standing, announce};
use phaselock_quic::identity::Identity;
use phaselock_quic::local::LocalServer;
use phaselock_quic::query::query;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

/// Longest time for anything here; a healthy machine takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn servers_are_announced_asked_back_and_found() {
    let mut socket = drive::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    let directory: Address = socket.local_addr().expect("an address").into();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let ends = Ends::default();
        drive::serve(&mut socket, Bounds::default(), ends, async { drop(stopped.await) }).await
    });
    assert!(ask::list(&directory, 9).await.expect("an empty list").is_empty());

    let identity = Identity::ephemeral().expect("an identity");
    let (signer, fingerprint) = (identity.signer(), identity.fingerprint);
    let config = RoomConfig::default().with(|it| it.name = "Found".into());
    let here = "127.0.0.1:0".parse().expect("an address");
    let games = phaselock_games::all();
    let server = LocalServer::start_with(games, config, here, identity).expect("a server");
    let address = server.address();
    let announcement =
        Announcement { directory: directory.clone(), port: address.port(), listen: vec![], signer };
    let (told, mut standing) = watch::channel(Standing::Asking);
    let announcing = tokio::spawn(announce(announcement.clone(), told));
    let listed = standing.wait_for(|standing| *standing == Standing::Listed);
    timeout(PATIENCE, listed).await.expect("in time").expect("it keeps announcing");

    let found = ask::list(&directory, 9).await.expect("a list");
    assert_eq!(found, [(address, fingerprint)]);
    let (info, _) = query(address).await.expect("a status");
    assert_eq!((info.server.as_str(), info.fingerprint), ("Found", Some(fingerprint)));

    // No server answers at that port, and the announcer learns it.
    announcing.abort();
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let port = closed.local_addr().expect("an address").port();
    let (told, mut standing) = watch::channel(Standing::Asking);
    let announcing = tokio::spawn(announce(Announcement { port, ..announcement }, told));
    let refused = standing.wait_for(|standing| matches!(standing, Standing::Refused(_)));
    timeout(PATIENCE, refused).await.expect("in time").expect("it keeps announcing");
    announcing.abort();
    stop.send(()).expect("it serves");
    serving.await.expect("no panic").expect("it ended");
}
