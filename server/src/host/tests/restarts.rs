//! Scheduled restarts, on a server with players.

use std::sync::atomic::Ordering;

use super::clocks::Hands;
use super::*;
use crate::tests::Player;

const MINUTE: i64 = 60_000;

fn is_restarting(host: &Host) -> bool {
    host.facts.is_restarting.load(Ordering::Relaxed)
}

fn next(host: &Host) -> Option<String> {
    host.status_now().next_restart.map(crate::time::date)
}

#[test]
fn players_are_warned_of_a_scheduled_restart_and_the_server_drains() {
    let hands = Hands::new();
    let served = hands.serve_with(&["--restarts", "01:00", "--drain-seconds", "600"]);
    let host = &served.host;
    let mut ada = served.join("Ada");
    assert_eq!(next(host).as_deref(), Some("2026-11-26 01:00 UTC"));
    for (minutes, words) in [
        (45, "the server restarts in 15 minutes"),
        (10, "the server restarts in 5 minutes"),
        (4, "the server restarts in 1 minute"),
    ] {
        hands.pass(minutes * MINUTE);
        ada.wait_for_line(words);
    }
    assert!(host.handle.draining().is_none() && !is_restarting(host));
    hands.pass(MINUTE);
    served.until("a drain", |host| host.handle.draining().is_some());
    let drain = host.status_now().draining.expect("it drains");
    let text = "the server restarts after this round, or in 10 minutes at the latest; you can join \
                again right after";
    assert_eq!((&*drain.text, drain.restart), (text, true));
    ada.wait_for_line(text);
    assert_eq!(next(host).as_deref(), Some("2026-11-27 01:00 UTC"));
    let by = author(Role::Admin);
    let busy = served.wait(host.skip_restart(&by)).expect_err("it is under way");
    assert!(busy.to_string().contains("ctl undrain"), "{busy}");

    served.wait(host.undrain(&by)).expect("an admin may");
    assert!(!is_restarting(host), "a cancelled drain causes no restart");
    ada.wait_for_line("the server stays up after all");
}

#[test]
fn a_server_drained_by_a_person_stays_down() {
    let hands = Hands::new();
    let served = hands.serve_with(&["--restarts", "01:00,02:00"]);
    let (host, by) = (&served.host, author(Role::Admin));
    let _ada = served.join("Ada");
    let drain = Drain { within: Some("1h".into()), ..Drain::default() };
    served.wait(host.drain(&by, &drain)).expect("it drains");
    hands.pass(60 * MINUTE);
    served.until("the next one", |host| next(host).as_deref() == Some("2026-11-26 02:00 UTC"));
    assert!(!is_restarting(host), "a restart does not replace a drain");

    served.wait(host.undrain(&by)).expect("it continues");
    hands.pass(60 * MINUTE);
    served.until("a restart", is_restarting);
    served.wait(host.drain(&by, &drain)).expect("it drains");
    assert!(!is_restarting(host), "a drain replaces a restart");
}

#[test]
fn a_restart_can_be_skipped_and_players_are_notified() {
    let hands = Hands::new();
    let served = hands.serve_with(&["--restarts", "01:00"]);
    let (host, by) = (&served.host, author(Role::Admin));
    let mut ada = served.join("Ada");
    hands.pass(50 * MINUTE);
    ada.wait_for_line("the server restarts in 10 minutes");
    let text = served.wait(host.skip_restart(&by)).expect("an admin may");
    let [skipped, then] = ["2026-11-26 01:00 UTC", "2026-11-27 01:00 UTC"];
    assert_eq!(text, format!("the restart of {skipped} is skipped; the next one is {then}"));
    ada.wait_for_line("the scheduled restart was cancelled");
    assert_eq!(next(host).as_deref(), Some(then));
    hands.pass(20 * MINUTE);
    // New settings take effect at once.
    let set = |value| served.wait(host.set_setting(&by, "restarts", Some(value)));
    let twice = |words: &'static str| {
        move |it: &Player| it.lines.iter().filter(|line| line.contains(words)).count() == 2
    };
    set("01:20").expect("a time");
    ada.until("another warning", twice("restarts in 10 minutes"));
    set("none").expect("no time");
    ada.until("another word", twice("was cancelled"));
    assert_eq!(next(host), None);
    let error = served.wait(host.skip_restart(&by)).expect_err("there is none");
    assert!(error.to_string().starts_with("no restart is scheduled"), "{error}");
    let error = set("25:00").expect_err("no time").to_string();
    assert!(error.contains("up to 16 times in UTC such as 04:00"), "{error}");
}

#[test]
fn a_date_that_jumps_restarts_nothing() {
    let hands = Hands::new();
    let served = hands.serve_with(&["--restarts", "01:00"]);
    // A day and a bit more: the time of the restart is passed over.
    hands.jump(25 * 60 * MINUTE + MINUTE);
    served.until("a word of the jump", |host| host.status_now().clock.contains("jumped by"));
    hands.pass(12 * MINUTE);
    served.until("the date follows", |host| next(host).as_deref() == Some("2026-11-28 01:00 UTC"));
    assert!(!is_restarting(&served.host));
}
