//! The first look at each packet: which connection it belongs to, and whether a stranger's packet
//! deserves an answer.
//!
//! ```text
//! a connection's     its id is one of ours        on to quinn
//! a first packet     from an address that may     too many recently: prove your address (Retry)
//!                    knock                        otherwise: a handshake
//!   with a proof     of an address that may       a handshake
//!                    begin handshakes
//! anything else      dropped
//! ```
//!
//! No keys are derived for a packet that is dropped or answered with a request for proof of its
//! address, and no state is kept except tokens in buckets. Forged packets can use up at most half
//! of an address's handshakes: beyond that the address must be proven, and the outcome of a
//! handshake is only charged to proven addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use phaselock::wire::query::{Nonce, parse_question};
use quinn_proto::crypto::ServerConfig;

use super::buckets::{Bucket, BucketTime, Buckets, EMPTY, Kind};
use super::ids::{ID_BYTES, OwnIds};
use super::peek::{Peeked, peek};
use super::recent::Recent;
use super::retry::{FirstPacket, Mint};
use super::tally::{Refusal, Report, Tally};
use crate::doorkeeping::{Doorkeeping, HOST_LIMIT, Limits, is_host};

/// Number of answers to strangers per turn: 300 µs of the system's time. With many players there
/// are few turns, and strangers wait.
const ANSWERS_PER_TURN: u32 = 64;

/// Number of handshakes charged for a silent connection: half of what an address may begin at once
/// by default.
const SILENCE_TOKENS: u32 = 16;

/// What to do with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Pass it to quinn.
    Pass,
    /// Drop it.
    Drop,
    /// Send the answer that was written.
    Answer,
    /// Answer a query for the status.
    Question(Nonce),
}

/// Keys for dealing with strangers.
#[derive(Clone)]
pub(super) struct Keys {
    /// Keeps strangers from choosing addresses that share a bucket.
    pub(super) secret: u64,
    pub(super) ids: OwnIds,
    pub(super) mint: Mint,
    pub(super) crypto: Arc<dyn ServerConfig>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// Decides about incoming packets.
#[derive(Debug)]
pub(super) struct Doorkeeper {
    doorkeeping: Doorkeeping,
    keys: Keys,
    /// The start of its time.
    start: Instant,
    buckets: Buckets,
    recent: Recent,
    /// Totals by kind, for all strangers and for this machine.
    totals: [Bucket; 4],
    own: [Bucket; 4],
    /// Whether newcomers must prove their address, because many of them are waiting.
    is_crowded: bool,
    answers_left: u32,
    report: Report,
}

impl Doorkeeper {
    pub(super) fn new(doorkeeping: Doorkeeping, keys: Keys, start: Instant) -> Self {
        Self {
            buckets: Buckets::new(keys.secret),
            recent: Recent::new(keys.secret),
            doorkeeping,
            keys,
            start,
            totals: [Bucket::default(); 4],
            own: [Bucket::default(); 4],
            is_crowded: false,
            answers_left: ANSWERS_PER_TURN,
            report: Report::default(),
        }
    }

    fn moment(&self, now: Instant) -> BucketTime {
        moment(self.start, now)
    }

    /// Starts a turn of the driver.
    pub(super) fn begin_turn(&mut self) {
        self.answers_left = ANSWERS_PER_TURN;
    }

    /// Sets whether newcomers use many places.
    pub(super) fn set_crowded(&mut self, is_crowded: bool) {
        self.is_crowded = is_crowded;
    }

    /// Handles a silent connection from a proven address: its next ones are treated with lower
    /// priority.
    pub(super) fn handle_silence(&mut self, now: Instant, address: IpAddr) {
        let (now, limits) = (self.moment(now), self.doorkeeping.handshakes);
        self.buckets.charge_handshake(now, address, &limits, SILENCE_TOKENS);
    }

    /// Counts a refusal by another component.
    pub(super) fn count(&mut self, refusal: Refusal) {
        self.report.count(refusal);
    }

    /// Returns the refusals to report, its own and others, if it is time.
    pub(super) fn poll_report(
        &mut self,
        now: Instant,
        others: impl FnOnce() -> Tally,
    ) -> Option<Tally> {
        self.report.poll(self.moment(now), others)
    }

    /// Decides about a packet, and may write an answer into an empty buffer.
    pub(super) fn look(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        bytes: &[u8],
        answer: &mut Vec<u8>,
    ) -> Verdict {
        let moment = self.moment(now);
        let refused = match peek(bytes, ID_BYTES) {
            Peeked::Garbage if let Some(nonce) = parse_question(bytes) => {
                let may_answer = is_host(remote.ip()) || self.answers_left > 0;
                if may_answer && self.may(moment, Kind::Query, remote.ip()) {
                    self.may_answer();
                    return Verdict::Question(nonce);
                }
                Refusal::Queries
            }
            Peeked::Short { id } | Peeked::Later { id, is_initial: false }
                if self.keys.ids.is_own(id) =>
            {
                return Verdict::Pass;
            }
            // quinn would derive keys for a connection that does not exist.
            Peeked::Later { id, is_initial: true } if self.keys.ids.is_own(id) => {
                if self.may(moment, Kind::Knock, remote.ip()) {
                    return Verdict::Pass;
                }
                Refusal::Knocks
            }
            Peeked::First { token: [], destination, source } => {
                match self.first(moment, remote.ip()) {
                    Ok(true) => return Verdict::Pass,
                    Ok(false) => {
                        let second = moment / 1_000_000;
                        let first = FirstPacket { remote, destination, source };
                        self.keys.mint.write(&*self.keys.crypto, first, second, answer);
                        return Verdict::Answer;
                    }
                    Err(refusal) => refusal,
                }
            }
            Peeked::First { token, .. } => {
                if !self.keys.mint.proves(token, remote, moment / 1_000_000) {
                    Refusal::Proofs
                } else if self.may(moment, Kind::Handshake, remote.ip()) {
                    return Verdict::Pass;
                } else {
                    Refusal::Handshakes
                }
            }
            Peeked::OtherVersion => {
                if self.may(moment, Kind::Knock, remote.ip()) && self.may_answer() {
                    return Verdict::Pass;
                }
                Refusal::Knocks
            }
            _ => Refusal::Garbage,
        };
        self.report.count(refused);
        Verdict::Drop
    }

    /// Decides about a first packet without a proof: `true` for a handshake, `false` to ask for
    /// proof.
    fn first(&mut self, now: BucketTime, address: IpAddr) -> Result<bool, Refusal> {
        if !self.may(now, Kind::Knock, address) {
            return Err(Refusal::Knocks);
        }
        if self.is_calm(now, address) {
            let may = self.may(now, Kind::Handshake, address);
            return if may { Ok(true) } else { Err(Refusal::Handshakes) };
        }
        if is_host(address) || self.may_answer() { Ok(false) } else { Err(Refusal::Knocks) }
    }

    /// Whether addresses need no proof now. Forged addresses can thus use up to half of an
    /// address's tokens, and half of the total.
    fn is_calm(&mut self, now: BucketTime, address: IpAddr) -> bool {
        let kind = Kind::Handshake;
        if is_host(address) {
            return self.own[kind as usize].used(now, HOST_LIMIT) < EMPTY / 2;
        }
        let limits = self.doorkeeping.handshakes;
        !self.is_crowded
            && self.totals[kind as usize].used(now, limits.total) < EMPTY / 2
            && self.buckets.used(now, kind, address, &limits) < EMPTY / 2
    }

    fn may_answer(&mut self) -> bool {
        let may = self.answers_left > 0;
        self.answers_left = self.answers_left.saturating_sub(1);
        may
    }

    fn may(&mut self, now: BucketTime, kind: Kind, address: IpAddr) -> bool {
        let limits = limits_of(&self.doorkeeping, kind);
        let index = kind as usize;
        if is_host(address) {
            return self.own[index].take(now, HOST_LIMIT, 0);
        }
        let Some(mut used) = self.buckets.take(now, kind, address, &limits) else { return false };
        // A flood of forged addresses leaves half to those that come again.
        if kind == Kind::Knock
            && self.totals[index].used(now, limits.total) > EMPTY / 4
            && !self.recent.note(now, address)
        {
            used = used.max(EMPTY / 2);
        }
        self.totals[index].take(now, limits.total, used)
    }
}

fn limits_of(doorkeeping: &Doorkeeping, kind: Kind) -> Limits {
    match kind {
        Kind::Knock => doorkeeping.knocks,
        Kind::Handshake => doorkeeping.handshakes,
        Kind::Hello => doorkeeping.hellos,
        Kind::Query => doorkeeping.queries,
    }
}

/// Returns the microseconds from the server's start to a moment.
pub(super) fn moment(start: Instant, now: Instant) -> BucketTime {
    u64::try_from(now.saturating_duration_since(start).as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::newcomers::{Entry, SharedPlaces};
    use super::*;
    use crate::identity::Identity;
    use crate::settings;
    use phaselock::server::ClientId;
    use phaselock::wire::protocol::ALPN;
    use quinn::crypto::rustls::QuicServerConfig;

    /// A doorkeeper in virtual time.
    struct Door {
        doorkeeper: Doorkeeper,
        now: Instant,
        answer: Vec<u8>,
    }

    impl Door {
        fn new(doorkeeping: Doorkeeping) -> Self {
            let identity = Identity::ephemeral().expect("an identity");
            let tls = identity.server_crypto(ALPN).expect("a configuration");
            let quic = QuicServerConfig::try_from(tls).expect("a configuration");
            let mint = Mint::new(&[1; 32]);
            let crypto = settings::server_config(quic, None, 0).crypto;
            let keys = Keys { secret: 1, ids: OwnIds::new(1), mint, crypto };
            let now = Instant::now();
            Self { doorkeeper: Doorkeeper::new(doorkeeping, keys, now), now, answer: Vec::new() }
        }

        fn wait(&mut self, micros: u64) {
            self.now += Duration::from_micros(micros);
            self.doorkeeper.begin_turn();
        }

        fn look(&mut self, from: IpAddr, packet: &[u8]) -> Verdict {
            self.answer.clear();
            self.doorkeeper.look(self.now, (from, 4000).into(), packet, &mut self.answer)
        }

        /// Sends a first packet from an address, and another with the proof if that is asked for.
        /// Returns whether a handshake begins.
        fn knock(&mut self, from: IpAddr) -> bool {
            match self.look(from, &first(&[])) {
                Verdict::Pass => true,
                Verdict::Drop | Verdict::Question(_) => false,
                Verdict::Answer => {
                    let token = self.token();
                    self.look(from, &first(&token)) == Verdict::Pass
                }
            }
        }

        /// Returns the token of the last answer, which begins with the header, the ids and their
        /// lengths.
        fn token(&self) -> Vec<u8> {
            self.answer[5 + 1 + 2 + 1 + 8..self.answer.len() - 16].to_vec()
        }
    }

    /// Returns a handshake's first packet.
    fn first(token: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 2];
        bytes.extend([0x40, token.len() as u8]);
        bytes.extend(token);
        bytes.resize(1200, 0);
        bytes
    }

    fn address(network: u16, last: u8) -> IpAddr {
        let [high, low] = network.to_be_bytes();
        IpAddr::from([100, high, low, last])
    }

    #[test]
    fn quiet_door_asks_for_no_proof_and_a_busy_one_does() {
        let mut door = Door::new(Doorkeeping::default());
        assert_eq!(door.look(address(1, 1), &first(&[])), Verdict::Pass);
        door.doorkeeper.set_crowded(true);
        assert_eq!(door.look(address(1, 1), &first(&[])), Verdict::Answer);
        assert!(door.answer.len() < 1200, "no longer than the question");
        let token = door.token();
        assert_eq!(door.look(address(1, 2), &first(&token)), Verdict::Drop, "another's proof");
        assert_eq!(door.look(address(1, 1), &first(&token)), Verdict::Pass);
        door.wait(17_000_000);
        assert_eq!(door.look(address(1, 1), &first(&token)), Verdict::Drop, "it is old");
    }

    #[test]
    fn newcomers_get_in_under_a_flood_of_first_packets() {
        // 256 addresses in as many networks, each of which proves its address; and forged ones from
        // everywhere: 100,000 packets a second of each kind.
        let mut door = Door::new(Doorkeeping::default());
        let (mut flood, mut forged) = (0, 0);
        let mut waiting: Vec<(IpAddr, u64)> = Vec::new();
        let mut waited = Vec::new();
        for step in 0..1_000_000_u64 {
            door.wait(10);
            flood += u32::from(door.knock(address((step % 256) as u16, 9)));
            let anywhere = (step as u32).wrapping_mul(0x9e37_79b9).to_be_bytes();
            forged += u32::from(door.look(anywhere.into(), &first(&[])) == Verdict::Pass);
            // Every half second a client comes, and repeats its packets as QUIC does.
            if step % 50_000 == 49_999 {
                waiting.push((address(1000 + (step / 50_000) as u16, 1), step));
            }
            waiting.retain(|(from, since)| {
                let ms = (step - since) / 100;
                let asks = (step - since) % 100 == 0 && [0, 300, 900, 2100].contains(&ms);
                let is_in = asks && door.knock(*from);
                waited.extend(is_in.then_some(ms));
                !is_in
            });
        }
        waited.sort_unstable();
        assert!(waited.len() >= 17, "{waited:?} ms, and {waiting:?} have not got in");
        assert!(waited[15] <= 900, "{waited:?} ms");
        let handshakes = flood + forged;
        assert!(handshakes < 128 + 10 * 100 + 256, "{flood} and {forged} handshakes in 10 s");
    }

    #[test]
    fn addresses_that_said_nothing_come_behind_others() {
        let mut door = Door::new(Doorkeeping::default());
        let silent: Vec<_> = (0..100).map(|network| address(network, 1)).collect();
        for from in &silent {
            door.doorkeeper.handle_silence(door.now, *from);
        }
        let mut all = 0;
        for from in (0..9).flat_map(|_| silent.clone()) {
            door.wait(1);
            all += u32::from(door.knock(from));
        }
        assert!((40..=70).contains(&all), "{all}: those who said nothing get half of it");
        assert!(door.knock(address(1000, 1)), "others can still join");
    }

    /// Opens connections from an address that say nothing, as many as get in. Returns their number.
    fn be_silent(door: &mut Door, places: &SharedPlaces, from: IpAddr, is_forged: bool) -> usize {
        let mut silent = Vec::new();
        for client in 0..99 {
            let begins = match is_forged {
                true => door.look(from, &first(&[])) == Verdict::Pass,
                false => door.knock(from),
            };
            if !begins {
                continue;
            }
            // Their first packets have no proof while there is no flood.
            match places.enter(ClientId(client), from, false, door.now) {
                Entry::Place { place, .. } => silent.push(place),
                other => panic!("{other:?}"),
            }
            door.doorkeeper.set_crowded(places.lock().is_crowded());
        }
        door.wait(5_000_000);
        for place in &silent {
            if !is_forged {
                place.prove();
            }
            place.count_silence();
        }
        for address in places.lock().take_silent() {
            door.doorkeeper.handle_silence(door.now, address);
        }
        silent.len()
    }

    #[test]
    fn silence_is_put_down_to_those_who_have_proven_their_address() {
        let doorkeeping = Doorkeeping::default();
        let mut door = Door::new(doorkeeping);
        let places = SharedPlaces::new(300, doorkeeping, 1, door.now);
        let victim = address(1, 1);
        assert_eq!(be_silent(&mut door, &places, victim, true), 16, "half of an address's");
        door.doorkeeper.set_crowded(places.lock().is_crowded());
        for last in 1..9 {
            assert!(door.knock(address(1, last)), "{last}: players of the network get in");
        }
        // A client that is silent after a handshake pays for it.
        assert!(be_silent(&mut door, &places, address(2, 1), false) >= 16);
        assert!(!door.knock(address(2, 1)));
    }

    #[test]
    fn this_machine_gets_in_whatever_strangers_do() {
        let mut door = Door::new(Doorkeeping::default());
        for step in 0..100_000_u32 {
            let anywhere = step.wrapping_mul(0x9e37_79b9).to_be_bytes();
            door.knock(anywhere.into());
        }
        // No turn passes in which answers could be sent.
        assert!(!door.knock(address(1, 1)));
        for _ in 0..1500 {
            assert!(door.knock([127, 0, 0, 1].into()));
        }
    }

    #[test]
    fn queries_are_answered_as_often_as_an_address_may_ask() {
        let mut door = Door::new(Doorkeeping::default());
        let asked = phaselock::wire::query::question([7; 8]);
        let mut answered = |from, times: usize| {
            (0..times).filter(|_| door.look(from, &asked) == Verdict::Question([7; 8])).count()
        };
        assert_eq!(answered(address(1, 1), 99), 16);
        assert_eq!(answered(address(2, 1), 9), 9);
        assert_eq!(answered([127, 0, 0, 1].into(), 99), 99);
        let told = door.doorkeeper.poll_report(door.now, Tally::default).expect("a report");
        assert_eq!(told.of(Refusal::Queries), 99 - 16);
    }

    #[test]
    fn garbage_is_dropped_and_counted_and_own_ids_pass() {
        let mut door = Door::new(Doorkeeping::default());
        let mut passed = 0;
        for step in 0..100_000_u32 {
            let mut bytes = [0x40; 40];
            bytes[1..5].copy_from_slice(&step.wrapping_mul(0x9e37_79b9).to_be_bytes());
            passed += u32::from(door.look(address(1, 1), &bytes) == Verdict::Pass);
        }
        assert!(passed < 60, "{passed} of 100,000, and 24 are by chance");
        let mut ids = OwnIds::new(1);
        let mut own = [0x40; 40];
        own[1..5].copy_from_slice(&quinn_proto::ConnectionIdGenerator::generate_cid(&mut ids));
        assert_eq!(door.look(address(1, 1), &own), Verdict::Pass);
        let told = door.doorkeeper.poll_report(door.now, Tally::default).expect("a report");
        assert_eq!(told.of(Refusal::Garbage), u64::from(100_000 - passed));
    }
}
