//! A server for a crowd, embedded in your own program: `cargo run --bin tag-host`.

use std::error::Error;
use std::io;
use std::path::Path;

use phaselock::games::Games;
use phaselock::server::RoomConfig;
use phaselock_quic::doorkeeping::Doorkeeping;
use phaselock_quic::identity::Identity;
use phaselock_quic::local::LocalServer;
use phaselock_quic::server::Server;
use tag::{Tag, VERSION};

fn main() -> Result<(), Box<dyn Error>> {
    // Players recognize the server by the certificate in this folder.
    let identity = Identity::load_or_create(Path::new("tag-host"))?;
    let config = RoomConfig::default().with(|it| {
        it.name = "Tag for a crowd".into();
        it.players_max = 256;
        it.client_bytes_per_second = 250_000;
    });
    let doorkeeping = Doorkeeping { seats_per_address: 256, ..Doorkeeping::default() };
    let games = Games::new().of_version(VERSION).with::<Tag>();
    let server = LocalServer::start_bound(games, config, &identity, |identity| {
        let address = ([0; 8], 4433).into();
        Ok(Server::bind(address, identity)?.with_doorkeeping(doorkeeping))
    })?;
    println!("{} plays at {}; press Enter to stop", server.fingerprint(), server.address());
    io::stdin().read_line(&mut String::new())?;
    server.stop("the host has stopped");
    Ok(())
}
