//! Failed logins: counted, and logged by address at a limited rate.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use phaselock::address::household;

/// Shortest time between two lines about an address.
const INTERVAL: Duration = Duration::from_secs(60);
/// Maximum addresses to remember for that. Arbitrary; others are only counted.
const ADDRESSES_MAX: usize = 1024;

/// Which secret was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Secret {
    /// A token of the administration API.
    Token,
    /// The password that players need.
    Password,
}

impl Secret {
    /// Returns its name for the log and metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Password => "password",
        }
    }
}

/// When an address was last logged, and how many of its logins failed since.
type LastLogged = (Instant, u64);

/// Counters of failed logins since the start.
#[derive(Debug, Default)]
pub(crate) struct FailedLogins {
    tokens: AtomicU64,
    passwords: AtomicU64,
    logged: Mutex<HashMap<(Secret, IpAddr), LastLogged>>,
}

impl FailedLogins {
    /// Counts a failure, and logs it unless the address was just logged.
    pub(crate) fn note(&self, secret: Secret, address: IpAddr) {
        if let Some(failures) = self.count_one(secret, address, Instant::now()) {
            let address = address.to_canonical();
            tracing::warn!(
                name: "login_failed",
                %address,
                secret = secret.as_str(),
                failures,
                "a login failed"
            );
        }
    }

    /// Returns the number of failures since the start.
    pub(crate) fn count(&self, secret: Secret) -> u64 {
        self.counter(secret).load(Ordering::Relaxed)
    }

    fn counter(&self, secret: Secret) -> &AtomicU64 {
        match secret {
            Secret::Token => &self.tokens,
            Secret::Password => &self.passwords,
        }
    }

    /// Counts a failure. Returns the number since the last line, if it is time for another line.
    fn count_one(&self, secret: Secret, address: IpAddr, now: Instant) -> Option<u64> {
        self.counter(secret).fetch_add(1, Ordering::Relaxed);
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (secret, household(address));
        if let Some((last, failures)) = logged.get_mut(&at) {
            *failures += 1;
            let is_due = now.duration_since(*last) >= INTERVAL;
            return is_due.then(|| {
                *last = now;
                std::mem::take(failures)
            });
        }
        if logged.len() >= ADDRESSES_MAX {
            logged.retain(|_, (last, _)| now.duration_since(*last) < INTERVAL);
        }
        (logged.len() < ADDRESSES_MAX).then(|| {
            logged.insert(at, (now, 0));
            1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_logged_once_a_minute_with_a_count() {
        let failed = FailedLogins::default();
        let now = Instant::now();
        let at = |text: &str, secs: u64| {
            let address = text.parse().expect("an address");
            failed.count_one(Secret::Token, address, now + Duration::from_secs(secs))
        };
        assert_eq!(at("192.0.2.7", 0), Some(1));
        assert_eq!((at("192.0.2.7", 1), at("::ffff:192.0.2.7", 59)), (None, None));
        assert_eq!(at("192.0.2.8", 59), Some(1), "another address");
        assert_eq!(at("192.0.2.7", 60), Some(3));
        assert_eq!((at("192.0.2.7", 61), at("192.0.2.7", 121)), (None, Some(2)));
        assert_eq!((at("2001:db8::1", 0), at("2001:db8::2", 1)), (Some(1), None), "one customer");
        assert_eq!((failed.count(Secret::Token), failed.count(Secret::Password)), (9, 0));
    }

    #[test]
    fn a_flood_of_addresses_is_counted_in_bounded_memory() {
        let failed = FailedLogins::default();
        let now = Instant::now();
        let flood = |now: Instant| {
            let all = (0..3000_u32).map(|it| IpAddr::from(it.to_be_bytes()));
            all.filter_map(|address| failed.count_one(Secret::Password, address, now)).count()
        };
        assert_eq!(flood(now), ADDRESSES_MAX);
        assert_eq!(failed.count(Secret::Password), 3000);
        assert_eq!(flood(now + INTERVAL), ADDRESSES_MAX, "old ones are evicted");
    }
}
