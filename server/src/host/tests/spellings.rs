//! Every spelling that bans or mutes also lifts.

use std::net::{Ipv4Addr, Ipv6Addr};

use phaselock::identity::PublicKey;
use phaselock::random::Random;

use super::{Act, ActError, Punish, Role, Served, Subject, author, serve, whom};

/// Spellings that mean one subject.
fn spellings(random: &mut Random) -> Vec<Vec<String>> {
    let v4 = Ipv4Addr::from_bits(random.bits() as u32 | 1 << 24);
    let v6 = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(random.below(u32::MAX)) << 64 | 7);
    let (mapped, len) = (v4.to_ipv6_mapped(), 8 + random.below(25));
    let groups = |ip: Ipv6Addr| ip.segments().map(|it| format!("{it:04X}")).join(":");
    let other = Ipv6Addr::from_bits(v6.to_bits() | 0xffff_0000);
    let key = PublicKey([random.bits() as u8; 32]).to_string();
    vec![
        vec![
            v4.to_string(),
            mapped.to_string(),
            groups(mapped),
            format!("[{mapped}]"),
            format!(" {v4} "),
        ],
        vec![format!("{v4}/{len}"), format!("{mapped}/{}", 96 + len)],
        vec![
            v6.to_string(),
            groups(v6),
            other.to_string(),
            format!("{v6}/64"),
            format!("{other}/64"),
            format!("[{v6}]"),
        ],
        vec!["fd00:0::1".into(), "FD00::1".into(), "fd00::0.0.0.1".into()],
        vec!["fe80:0::1%2".into(), "[FE80::1%2]".into()],
        vec![key.clone(), key.to_uppercase()],
        // Only digits, like a number.
        vec!["12".repeat(32)],
    ]
}

fn punish(served: &Served, act: Act, text: &str) {
    let given = |kind| (Subject::kind_of(text) == Some(kind)).then(|| text.to_owned());
    let [key, address, network] = ["key", "address", "network"].map(given);
    let request = Punish { key, address, network, ..Punish::default() };
    served.wait(served.host.punish(&author(Role::Admin), act, &request)).expect(text);
}

#[test]
fn a_ban_can_be_lifted_by_any_spelling_that_makes_it() {
    let served = serve(&[]);
    let host = &served.host;
    let lift = |act, text: &str| served.wait(host.lift_all(&author(Role::Admin), act, &whom(text)));
    let mut random = Random::new(3);
    for all in (0..3).flat_map(|_| spellings(&mut random)) {
        for (made, lifted) in all.iter().flat_map(|made| all.iter().map(move |it| (made, it))) {
            for act in [Act::Ban, Act::Mute] {
                punish(&served, act, made);
                assert_eq!(
                    lift(act, lifted).map_err(|it| it.to_string()).map(|it| it.len()),
                    Ok(1)
                );
                assert_eq!(host.access.sentences(act, 0), [], "{made}, lifted as {lifted}");
            }
        }
    }
    // An invalid subject gets the same error.
    for text in ["192.0.2.7:5000", "192.0.2.7/99", "192.0.2.7%eth0"] {
        let bad = Subject::read(text).expect("it shows a kind").expect_err("it is wrong");
        match lift(Act::Ban, text) {
            Err(ActError::Bad(said)) => assert_eq!(said, bad.to_string()),
            other => panic!("{text}: {other:?}"),
        }
    }
    // The beginning of a key may be only digits, too.
    punish(&served, Act::Ban, &"12".repeat(32));
    assert_eq!(lift(Act::Ban, "12121212").expect("it is there").len(), 1);
}
