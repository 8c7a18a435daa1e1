//! Ghosts go from the database to the players who want to race them.

use phaselock::client::GhostChoice;
use phaselock::identity::PublicKey;
use phaselock::link::LinkConfig;
use phaselock::replay::run_hash;
use phaselock::server::{AnyRoom as _, Event, MadeRun, RoomConfig};
use phaselock_games::race::Race;
use phaselock_testing::{Sim, room_config};

use crate::store::{Change, Record, RecordRun};
use crate::tests::serve;

/// A lap by someone who was there: name of the score, its value, and the run.
fn lap() -> (String, f64, MadeRun) {
    let mut sim = Sim::<Race>::with(RoomConfig { keeps_runs: true, ..room_config(3, 0) });
    sim.join_bot(LinkConfig::delayed(20, 5));
    for _ in 0..400 {
        sim.run(1.0);
        while let Some(event) = sim.room.poll_event() {
            if let Event::Report { name, value, run: Some(run), .. } = event {
                return (name.to_string(), value, run);
            }
        }
    }
    panic!("nobody finishes a lap");
}

#[test]
fn a_player_gets_the_ghosts_that_may_be_raced() {
    let (measure, value, run) = lap();
    let hash = run_hash(&run.bytes);
    let record = |player: u8, value, is_shared| {
        let key = PublicKey([player; 32]);
        let run = RecordRun { course: run.course, bytes: run.bytes.clone(), is_shared };
        Change::Record(Record {
            time: 1,
            game: "race".into(),
            measure: measure.clone(),
            key,
            name: format!("player {player}"),
            value,
            best: phaselock::game::Best::Least,
            is_public: true,
            run: Some(run),
        })
    };
    let served = serve(&["--game", "race"]);
    served.wait(served.host.store.write(vec![record(1, value, true)])).expect("it is written");
    let mut ada = served.knock_by("Ada", |config| config.ghost = GhostChoice::Best);
    ada.until("the ghost", |ada| {
        let client = ada.driver.session.client();
        client.and_then(|client| client.raced()).flatten() == Some(hash)
    });
    // One that its maker made in a room with a password.
    served.wait(served.host.store.write(vec![Change::Forget(PublicKey([1; 32]))])).expect("gone");
    served.wait(served.host.store.write(vec![record(2, value, false)])).expect("it is written");
    let mut eve = served.knock_by("Eve", |config| config.ghost = GhostChoice::Best);
    eve.until("being in the game", |it| it.joined > 0);
    eve.play(std::time::Duration::from_secs(1));
    let client = eve.driver.session.client().expect("she plays");
    assert_eq!(client.raced(), Some(None));
}
