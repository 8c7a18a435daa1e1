//! A server whose system clock jumps by days and years while it is used.

use std::sync::{Arc, Mutex};

use phaselock_quic::identity::Identity;

use super::*;
use crate::clocks::{BootId, CalendarState, Clocks, Reading};
use crate::tests::serve_by;

const SECOND: i64 = 1000;
const DAY: i64 = 86_400 * SECOND;
const YEARS: i64 = 10 * 365 * DAY;

/// The machine's clocks, set by the test.
#[derive(Clone)]
pub(super) struct Hands(Arc<Mutex<Reading>>);

impl Hands {
    /// 2026-11-26 00:00 UTC.
    pub(super) fn new() -> Self {
        let wall = 1_795_651_200 * SECOND;
        Self(Arc::new(Mutex::new(Reading { wall, awake: 0, boot: Some(DAY) })))
    }

    fn set(&self, change: impl FnOnce(&mut Reading)) {
        change(&mut self.0.lock().expect("no thread panics while it holds the lock"));
    }

    pub(super) fn jump(&self, by: i64) {
        self.set(|it| it.wall += by);
    }

    pub(super) fn pass(&self, time: i64) {
        self.set(|it| {
            it.wall += time;
            it.awake += time;
            it.boot = it.boot.map(|boot| boot + time);
        });
    }

    fn clocks(&self, boot: u128) -> impl FnOnce(Option<&CalendarState>) -> Clocks + use<> {
        let hands = self.clone();
        let read = move || *hands.0.lock().expect("no thread panics while it holds the lock");
        move |kept| Clocks::read_by(kept, Some(BootId(boot)), read)
    }

    fn serve(&self) -> Served {
        self.serve_with(&[])
    }

    pub(super) fn serve_with(&self, more: &[&str]) -> Served {
        serve_by(more, self.clocks(1))
    }

    /// Makes the system clock jump, and dates follow 700 s later.
    fn jump_for_long(&self, served: &Served, by: i64) {
        self.jump(by);
        served.until("a word of the jump", |host| status(host).contains("jumped by"));
        self.pass(700 * SECOND);
        served.until("the date follows", |host| !status(host).contains("jumped by"));
    }
}

fn status(host: &Host) -> String {
    host.figures().borrow().status.clock.clone()
}

fn ban_for(served: &Served, key: &str, span: &str) -> Sentence {
    let request = Punish { key: Some(key.into()), span: Some(span.into()), ..Default::default() };
    let banned = served.wait(served.host.punish(&author(Role::Admin), Act::Ban, &request));
    banned.expect("an admin may").0.remove(0)
}

#[test]
fn a_ban_keeps_its_duration_when_the_clock_jumps() {
    for jump in [YEARS, -DAY] {
        let hands = Hands::new();
        let served = hands.serve();
        let host = &served.host;
        let ban = ban_for(&served, &"ab".repeat(32), "1h");
        let expired = host.clocks.expired_before(30).expect("a date");
        hands.jump(jump);
        served.until("a word of the jump", |host| status(host).contains("jumped by"));
        let bans = || host.access.sentences(Act::Ban, host.clocks.unix());
        assert_eq!(bans(), std::slice::from_ref(&ban));
        let expires = || host.clocks.expired_before(30).expect("a date") > expired;
        assert!(!expires(), "nothing is deleted");
        // Another ban does not replace one that only seems to be over.
        ban_for(&served, &"cd".repeat(32), "1h");
        assert_eq!(bans().len(), 2);
        // The date stays, so dates follow; the ban has 48 minutes left.
        hands.pass(700 * SECOND);
        served.until("the date follows", |host| !status(host).contains("jumped by"));
        let until = host.access.sentences(Act::Ban, 0).remove(0).until.expect("an end");
        assert_eq!(until - host.clocks.unix(), 3600 - 700);
        assert!(!expires(), "not for a day");
        let stored = served.wait(host.store.read(|db| {
            db.query_row("SELECT until FROM sentences ORDER BY id", [], |row| row.get::<_, i64>(0))
        }));
        assert_eq!(stored.expect("it can be read"), until);
        hands.pass(2901 * SECOND);
        assert_eq!(bans(), []);
    }
}

#[test]
fn a_ban_keeps_its_duration_across_a_restart_with_a_wrong_date() {
    for jump in [YEARS, -100 * DAY] {
        for boots in [false, true] {
            let hands = Hands::new();
            let served = hands.serve();
            ban_for(&served, &"ab".repeat(32), "1h");
            hands.jump_for_long(&served, jump);
            ban_for(&served, &"cd".repeat(32), "1h");
            let left = |served: &Served| {
                let now = served.host.clocks.unix();
                let bans = served.host.access.sentences(Act::Ban, now);
                bans.iter().map(|ban| ban.until.expect("an end") - now).collect::<Vec<_>>()
            };
            assert_eq!(left(&served), [2900, 3600]);
            if boots {
                hands.jump(-jump);
                hands.set(|it| it.boot = Some(0));
                let served = served.restart(hands.clocks(2));
                assert_eq!(left(&served), [2900, 3600]);
            } else {
                let served = served.restart(hands.clocks(1));
                assert_eq!(left(&served), [2900, 3600]);
                hands.jump_for_long(&served, -jump);
                assert_eq!(left(&served), [2200, 2900]);
            }
        }
    }
}

#[test]
fn statistics_and_uptime_count_elapsed_time() {
    let hands = Hands::new();
    let served = hands.serve();
    let host = &served.host;
    let ada = served.join("Ada");
    let joined = host.figures().borrow().players[0].joined;
    for jump in [DAY / 3, -DAY] {
        hands.jump(jump);
        served.until("a word of the jump", |host| status(host).contains("jumped by"));
    }
    hands.pass(66 * SECOND);
    let status = || host.figures().borrow().status.clone();
    served.until("66 s more", |host| host.clocks.now().awake == 66);
    served.until("a new look", |_| status().now - status().started == 66);
    assert_eq!(host.figures().borrow().players[0].joined, joined);
    drop(ada);
    served.until("an empty roster", |host| host.roster().people().next().is_none());
    let query = "SELECT seconds, last_seen - first_seen FROM players";
    let read = || {
        let read = host.store.read(move |db| {
            let row = db.query_row(query, [], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
            Ok(row.unwrap_or_default())
        });
        served.wait(read).expect("it can be read")
    };
    served.until("a total", |_| read() == (66, 0_i64));
}

#[test]
fn browser_certificates_follow_only_a_lasting_jump() {
    for (jump, kept) in [(-DAY / 2, 2), (-2 * DAY, 0), (5 * DAY, 1), (YEARS, 0)] {
        let hands = Hands::new();
        let clocks = hands.clocks(1)(None);
        let identity = Identity::ephemeral().expect("an identity");
        let date = clocks.clone();
        identity.date_by(move || date.unix());
        let web = identity.web();
        let before = web.hashes();
        hands.jump(jump);
        assert_eq!(clocks.look(), None);
        hands.pass(599 * SECOND);
        assert_eq!(clocks.look(), None);
        assert_eq!(web.hashes(), before, "{jump}: it may have been a mistake");
        hands.pass(2 * SECOND);
        assert_eq!(clocks.look(), Some(jump / SECOND));
        let after = web.hashes();
        let stayed = after.iter().filter(|hash| before.contains(hash)).count();
        assert_eq!(stayed, kept, "{jump}: browsers refuse a date before or after a certificate's");
        assert_eq!(web.hashes(), after, "{jump}: once");
    }
}
