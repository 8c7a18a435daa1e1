//! A server without players.

use std::time::Duration;

use super::*;
use crate::api::Drain;

fn is_asleep(host: &Host) -> bool {
    let rooms = host.handle.rooms();
    !rooms.is_empty() && rooms.iter().all(|room| room.measured.is_asleep)
}

fn ticks(host: &Host) -> Vec<u64> {
    host.handle.rooms().iter().map(|room| room.measured.tick).collect()
}

#[test]
fn an_empty_server_sleeps_stays_healthy_and_wakes() {
    let served = serve(&["--sleep-seconds", "1", "--rooms", "2"]);
    served.until("sleep", is_asleep);
    let before = ticks(&served.host);
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(ticks(&served.host), before, "no tick runs");
    served.until("turns of its threads", |host| host.handle.is_ticking());
    let status = served.query();
    assert_eq!((status.players, status.rooms_count), (0, 2));
    assert!(is_asleep(&served.host), "a query wakes nobody");
    assert!(served.host.status_now().rooms.iter().all(|room| room.asleep));

    let mut ada = served.join("Ada");
    served.until("one room that is awake", |host| {
        let asleep = host.handle.rooms().iter().filter(|room| room.measured.is_asleep).count();
        asleep == 1 && ticks(host) > before
    });
    ada.play(Duration::from_millis(300));
    assert!(ada.ends.is_empty(), "{:?}", ada.ends);
    drop(ada);
}

#[test]
fn a_sleeping_server_drains_at_once() {
    let served = serve(&["--sleep-seconds", "1"]);
    served.until("sleep", is_asleep);
    let drain = Drain { within: Some("1h".into()), ..Drain::default() };
    served.wait(served.host.drain(&author(Role::Admin), &drain)).expect("it drains");
    served.until("the end of the last room", |host| host.handle.rooms().is_empty());
}

#[test]
fn sleep_can_be_changed_while_the_server_runs() {
    let served = serve(&["--sleep-seconds", "1"]);
    served.until("sleep", is_asleep);
    let by = author(Role::Admin);
    let set = |value| served.wait(served.host.set_setting(&by, "sleep_seconds", Some(value)));
    set("0").expect("it is good");
    let before = ticks(&served.host);
    served.until("ticks", |host| !is_asleep(host) && ticks(host) > before);
    set("1").expect("it is good");
    served.until("sleep", is_asleep);
}
