//! Feel: the local player's picture while the network changes.

use std::cell::RefCell;
use std::rc::Rc;

use phaselock::client::Picture;
use phaselock::link::Conditions;
use phaselock_testing::{Sim, Skew};
use phaselock_tests::toy::{Bells, Walk, walker_x};

/// Speed of a walker in metres a second.
const SPEED: f32 = 3.0;

#[test]
fn own_player_walks_on_evenly_while_the_path_grows_longer() {
    let mut sim = Sim::<Bells>::new(4, 0);
    let longer = "delay=20ms; 8s: delay=35ms; 9s: delay=50ms; 10s: delay=65ms; 11s: delay=80ms";
    let conditions: Conditions = longer.parse().expect("a network");
    let client = sim.join_over(&conditions, Skew::default(), Box::new(|_, _| Walk { right: 1 }));
    let screen = Rc::new(RefCell::new(None::<Picture<Bells>>));
    sim.clients[client].screen = Some(screen.clone());
    sim.run(6.0);
    let lead = sim.clients[client].core().common().lead().lead();
    let (mut last, mut most, mut least) = (None, 0.0_f32, f32::MAX);
    let frame = sim.frame.as_secs() as f32;
    sim.run_each(10.0, |_| {
        let Some(picture) = screen.borrow_mut().take() else { return };
        let own = picture.own.and_then(|own| picture.entities.get(own)).expect("it is there");
        let x = walker_x(&own.entity).expect("it walks");
        if let Some(last) = last.replace(x) {
            let speed = (x - last) / frame / SPEED;
            (most, least) = (most.max(speed), least.min(speed));
        }
    });
    let core = sim.clients[client].core();
    assert!((core.common().lead().lead() - lead).as_ms() > 50.0, "the lead had to grow");
    assert_eq!(core.stats().mispredictions, 0, "the late inputs came before");
    // Inputs speed up by a quarter; the picture does not.
    assert!(most < 1.16, "{most} times its speed");
    assert!(least > 0.8, "{least} times its speed");
}
