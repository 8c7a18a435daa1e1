//! Texts that people write: networks, fingerprints, addresses.

use std::fmt::Display;
use std::str::FromStr;

use phaselock::fingerprint::Fingerprint;
use phaselock::link::{Conditions, LinkConfig, LinkSchedule};
use phaselock::time::{LocalTime, Micros};
use phaselock_quic::address::Address;
use phaselock_quic::invitation::{Invitation, LINK_BYTES_MAX};

use super::taken;

/// A text, and the value that it is parsed as.
fn parsed<T: FromStr<Err: Display>>(data: &[u8]) -> Option<(&str, T)> {
    let text = str::from_utf8(data).ok()?;
    Some((text, taken(text.parse())?))
}

/// A network's conditions; packets are sent over each network that is read.
pub fn conditions(data: &[u8]) -> bool {
    let Some((text, conditions)) = parsed::<Conditions>(data) else { return false };
    assert_eq!(conditions.to_string(), text.trim());
    assert_eq!(conditions.to_string().parse().as_ref(), Ok(&conditions));
    let way = |schedule: &LinkSchedule| {
        let all = schedule.changes().map(|(_, config)| config);
        assert!(all.chain([schedule.first()]).all(|config| config.validate().is_ok()));
        let times: Vec<_> = schedule.changes().map(|(at, _)| at).collect();
        assert!(times.is_sorted() && times.first().is_none_or(|first| *first > Micros::ZERO));
    };
    way(&conditions.up);
    way(&conditions.down);

    let (mut up, mut down) = conditions.links::<u8>(LocalTime(-5));
    let mut now = LocalTime(-5);
    for number in 0..20 {
        for link in [&mut up, &mut down] {
            link.send(now, 1200, number);
            link.send(now, 0, number);
            while link.poll(now).is_some() {}
            assert!(
                link.next_arrival().is_none_or(|at| at > now),
                "everything that arrived was fetched"
            );
        }
        now = now + Micros(i64::from(number) * 100_000);
    }
    let is_fast_enough = |schedule: &LinkSchedule| {
        let mut all = schedule.changes().map(|(_, config)| config).chain([schedule.first()]);
        all.all(|config| config.rate.is_none_or(|rate| rate >= 1000))
    };
    for (link, schedule) in [(&mut up, &conditions.up), (&mut down, &conditions.down)] {
        let end = now + LinkConfig::TIME_MAX + LinkConfig::TIME_MAX;
        let is_fast = is_fast_enough(schedule);
        while let Some(at) = link.next_arrival() {
            // At a bit per second, a full queue lasts for days.
            let day = end + Micros::from_ms(24 * 3600 * 1000);
            assert!(at < day || !is_fast, "it arrives within a day");
            assert!(link.poll(at).is_some());
        }
        assert_eq!(link.stats().sent, 40);
    }
    true
}

/// A fingerprint.
pub fn fingerprint(data: &[u8]) -> bool {
    let Some((text, fingerprint)) = parsed::<Fingerprint>(data) else { return false };
    assert_eq!(fingerprint.to_string(), text.to_ascii_lowercase());
    assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
    true
}

/// A server's address.
pub fn address(data: &[u8]) -> bool {
    let Some((text, address)) = parsed::<Address>(data) else { return false };
    let shown = address.to_string();
    assert!(!shown.contains(char::is_whitespace) && !shown.contains(char::is_control));
    // The trailing dot of the root is not shown.
    let rooted = text.contains(".:") || text.trim_end().ends_with('.');
    assert!(rooted || shown.parse().as_ref() == Ok(&address), "{text:?} is {shown:?}");
    true
}

/// A link to a server.
pub fn invitation(data: &[u8]) -> bool {
    let Some((text, invitation)) = parsed::<Invitation>(data) else { return false };
    assert!(text.trim().len() <= LINK_BYTES_MAX);
    // The trailing dot of the root is not shown.
    let shown = invitation.to_string();
    let read: Invitation = shown.parse().expect("as it is shown");
    assert_eq!((read.to_string(), read.fingerprint), (shown, invitation.fingerprint));
    true
}
