//! Players who do nothing.

use phaselock::client::Notice;
use phaselock::link::LinkConfig;
use phaselock::time::Micros;
use phaselock::wire::disconnect::Code;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_testing::{Sim, room_config};

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// Returns the host's chat lines to a client.
fn lines(sim: &mut Sim<Skirmish>, client: usize) -> Vec<String> {
    let notices = std::iter::from_fn(|| sim.clients[client].session.poll_notice());
    let said = |notice| match notice {
        Notice::Chat { from: None, text, .. } => Some(text),
        _ => None,
    };
    notices.filter_map(said).collect()
}

#[test]
fn player_whose_inputs_do_not_change_is_warned_and_put_out() {
    let idle = Some(Micros::from_ms(40_000));
    let mut sim = Sim::<Skirmish>::with(room_config(1, 0).with(|it| it.idle = idle));
    let busy = sim.join_bot(CABLE);
    // A player who only holds a key down is idle, too.
    let held = Command { fire: true, ..Command::default() };
    let sleeper = sim.join(CABLE, Box::new(move |_, _| held));
    sim.run(9.0);
    assert_eq!(lines(&mut sim, sleeper), [""; 0]);
    sim.run(3.0);
    let warning = "you are idle and will be kicked in 20 seconds";
    sim.run(10.0);
    assert_eq!(lines(&mut sim, sleeper), [warning]);
    sim.run(17.0);
    assert!(sim.clients[sleeper].closed.is_none(), "39 s are not 40");
    sim.run(3.0);
    let goodbye = sim.clients[sleeper].closed.clone().expect("it was evicted");
    assert_eq!((goodbye.code, goodbye.retry_after), (Code::Idle, None));
    assert!(sim.clients[busy].closed.is_none());
    assert_eq!(lines(&mut sim, busy), [""; 0]);
    assert_eq!(sim.room.seats_taken(), 1);
}
