//! Attempts in virtual time.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use phaselock::time::{LocalTime, Micros};
use tokio::time::{Instant, sleep};

use super::schedule::interleaved;
use super::{ADDRESSES_MAX, ATTEMPT_DELAY, Attempts, lookup, race};
use crate::address::Address;

const V6: [&str; 3] = ["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1"];
const V4: [&str; 3] = ["192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"];

fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
    texts.iter().map(|text| text.parse().expect("an address")).collect()
}

#[test]
fn families_take_turns_beginning_with_the_resolvers_first() {
    let order = |texts: &[&str]| interleaved(addresses(texts));
    assert_eq!(order(&[V6[0], V6[1], V4[0], V4[1]]), addresses(&[V6[0], V4[0], V6[1], V4[1]]));
    assert_eq!(order(&[V4[0], V6[0], V6[1], V6[2]]), addresses(&[V4[0], V6[0], V6[1], V6[2]]));
    let mapped = "[::ffff:192.0.2.1]:1";
    assert_eq!(order(&[V4[0], mapped, V6[0], V6[0]]), addresses(&[V4[0], V6[0]]));
    let many = (1..=99u8).map(|last| SocketAddr::from(([192, 0, 2, last], 1)));
    assert_eq!(interleaved(many).len(), ADDRESSES_MAX);
}

#[test]
fn the_next_address_is_due_after_the_delay_or_at_once_after_a_failure() {
    let ms = |ms| LocalTime(0) + Micros::from_ms(ms);
    let mut attempts = Attempts::new(addresses(&[V6[0], V6[1], V4[0]]), ms(0));
    assert_eq!(attempts.poll(ms(0)), Some(addresses(&V6)[0]));
    assert_eq!(attempts.poll(ms(0)), None, "one at a time");
    assert_eq!(attempts.next_timeout(), Some(LocalTime(0) + ATTEMPT_DELAY));
    assert_eq!(attempts.poll(ms(249)), None);
    assert_eq!(attempts.poll(ms(250)), Some(addresses(&V4)[0]));
    attempts.handle_failure(ms(260));
    assert_eq!(attempts.next_timeout(), Some(ms(260)));
    assert_eq!(attempts.poll(ms(260)), Some(addresses(&V6)[1]));
    assert_eq!((attempts.poll(ms(999)), attempts.next_timeout()), (None, None));
}

/// Races in virtual time. Each address comes with the duration of its attempt, and whether that
/// succeeds. Returns the winner or the last to fail, and when it did; and when each began.
async fn run(
    plan: &[(&str, u64, bool)],
) -> (Result<SocketAddr, Option<SocketAddr>>, u64, Vec<(SocketAddr, u64)>) {
    let start = Instant::now();
    let since = || u64::try_from(start.elapsed().as_millis()).expect("a short time");
    let began = RefCell::new(Vec::new());
    let texts: Vec<_> = plan.iter().map(|(text, ..)| *text).collect();
    let won = race(addresses(&texts), |address| {
        began.borrow_mut().push((address, since()));
        let taken = plan.iter().find(|(text, ..)| text.parse() == Ok(address));
        let (_, ms, succeeds) = *taken.expect("it is planned");
        async move {
            sleep(Duration::from_millis(ms)).await;
            if succeeds { Ok(address) } else { Err(address) }
        }
    });
    (won.await, since(), began.into_inner())
}

#[tokio::test(start_paused = true)]
async fn a_silent_address_costs_a_quarter_of_a_second() {
    let (won, took, _) = run(&[(V6[0], 9000, false), (V4[0], 20, true)]).await;
    assert_eq!((won, took), (Ok(addresses(&V4)[0]), 270));
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_address_costs_nothing_and_a_slow_one_may_still_win() {
    let (won, took, _) = run(&[(V6[0], 0, false), (V4[0], 20, true)]).await;
    assert_eq!((won, took), (Ok(addresses(&V4)[0]), 20));
    let plan = [(V6[0], 600, true), (V4[0], 9000, false), (V4[1], 9000, false)];
    let (won, took, began) = run(&plan).await;
    assert_eq!((won, took), (Ok(addresses(&V6)[0]), 600));
    let began: Vec<_> = began.into_iter().map(|(_, ms)| ms).collect();
    assert_eq!(began, [0, 250, 500]);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_answers_first_is_alone() {
    let (won, took, began) = run(&[(V6[0], 100, true), (V4[0], 0, true)]).await;
    assert_eq!((won, took), (Ok(addresses(&V6)[0]), 100));
    assert_eq!(began.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_is_told_if_all_fail() {
    let (won, took, _) = run(&[(V6[0], 9, false), (V4[0], 3000, false)]).await;
    assert_eq!((won, took), (Err(Some(addresses(&V4)[0])), 3009));
    assert_eq!(run(&[]).await.0, Err(None));
}

#[tokio::test]
async fn literal_addresses_are_looked_up_without_a_resolver_and_zones_by_name() {
    let found = |text: &str| {
        let address: Address = text.parse().expect("an address");
        async move { lookup(&address).await.map_err(|error| error.to_string()) }
    };
    assert_eq!(found("::ffff:192.0.2.7").await, Ok(addresses(&["192.0.2.7:4433"])));
    let error = found("fe80::1%nosuchlink").await.expect_err("there is no such interface");
    assert!(
        error.contains("no network interface of this computer is called nosuchlink"),
        "{error}"
    );
    if cfg!(target_os = "linux") {
        // All Linux machines have it, as their first interface.
        assert_eq!(found("fe80::1%lo").await, Ok(addresses(&["[fe80::1%1]:4433"])));
    }
    assert_eq!(found("fe80::1%1").await, Ok(addresses(&["[fe80::1%1]:4433"])));
}
