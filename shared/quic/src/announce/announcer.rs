//! When to announce a server, and how to react to a directory's answers: the state machine.

use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::{AnnouncementRefusal, Answer, ProofPurpose, Question};
use phaselock::wire::query::Nonce;

use crate::identity::{SignError, Signer};

/// How long to wait for the answer to a first announcement, and to one with a proof: in the
/// meantime the directory queries the server, three times within three seconds.
const CHALLENGE_WAIT: Micros = Micros::from_ms(2000);
const PROOF_WAIT: Micros = Micros::from_ms(5000);
/// How often each is sent; all of them while the directory's token is valid.
const TIMES: u8 = 3;
/// Time until the next attempt with a directory that does not answer. Arbitrary.
const SILENT_WAIT: Micros = Micros::from_ms(60_000);
/// Time until the next attempt with a directory that refuses the server: someone has to do
/// something first. Arbitrary.
const REFUSED_WAIT: Micros = Micros::from_ms(180_000);
/// Time until the next attempt with a directory whose token expired in transit.
const TOKEN_WAIT: Micros = Micros::from_ms(5000);
/// Time after which a directory that refused a proof with its name gets one again: it may have been
/// updated. Arbitrary.
const OLD_WAIT: Micros = Micros::from_ms(3_600_000);
/// The minimum and maximum time for which a directory lists a server, whatever it says.
const LISTED_SECS: (u32, u32) = (60, 3600);

/// Result of announcing a server to a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No answer yet.
    Asking,
    /// The server is listed.
    Listed,
    /// The directory refused the server.
    Refused(AnnouncementRefusal),
    /// The directory does not answer.
    Silent,
    /// The certificate cannot be used in an announcement.
    Unsigned(SignError),
    /// The directory cannot be found or reached; the text says why.
    Unreachable(String),
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Asking => f.write_str("asking"),
            Self::Listed => f.write_str("listed"),
            Self::Refused(refusal) => write!(f, "not listed: {refusal}"),
            Self::Silent => f.write_str(
                "not listed: the directory does not answer; check its address, and that \
                 your firewall lets UDP packets out",
            ),
            Self::Unsigned(error) => write!(f, "not listed: {error}"),
            Self::Unreachable(why) => write!(f, "not listed: {why}"),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Waiting,
    First { times: u8 },
    Proof { times: u8, bytes: Vec<u8> },
}

/// Announces one server to one directory, repeatedly.
#[derive(Debug)]
pub struct Announcer {
    /// The directory's name.
    directory: String,
    /// Until then, proofs do not contain it, since the directory has refused one that did.
    nameless_until: LocalTime,
    port: u16,
    random: Random,
    nonce: Nonce,
    step: Step,
    due: LocalTime,
    standing: Standing,
}

impl Announcer {
    /// Creates an announcer to the directory of this name (`host:port`) for a server at this port,
    /// which starts at `now`.
    pub fn new(directory: String, port: u16, seed: u64, now: LocalTime) -> Self {
        let (random, nonce) = (Random::new(seed), Nonce::default());
        let (step, standing) = (Step::Waiting, Standing::Asking);
        Self { directory, nameless_until: now, port, random, nonce, step, due: now, standing }
    }

    /// Returns the newest result.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Whether the directory has answered, even with a refusal.
    pub fn has_answer(&self) -> bool {
        let is_told = !matches!(self.standing, Standing::Asking | Standing::Silent);
        is_told || matches!(self.step, Step::Proof { .. })
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn next_timeout(&self) -> LocalTime {
        self.due
    }

    /// Returns the packet to send, if one is due.
    pub fn handle_timeout(&mut self, now: LocalTime) -> Option<Vec<u8>> {
        if now < self.due {
            return None;
        }
        let (times, bytes) = match &self.step {
            Step::Waiting => {
                self.nonce = self.random.bits().to_le_bytes();
                (0, None)
            }
            Step::First { times } => (*times, None),
            Step::Proof { times, bytes } => (*times, Some(bytes.clone())),
        };
        if times >= TIMES {
            self.wait(now, SILENT_WAIT, Standing::Silent);
            return None;
        }
        let times = times + 1;
        match bytes {
            None => {
                (self.step, self.due) = (Step::First { times }, now + CHALLENGE_WAIT);
                Some(Question::Announce { port: self.port, proof: None }.encode(self.nonce))
            }
            Some(bytes) => {
                self.step = Step::Proof { times, bytes: bytes.clone() };
                self.due = now + PROOF_WAIT;
                Some(bytes)
            }
        }
    }

    /// Handles a packet from the directory. Returns the packet to send, if any.
    pub fn handle_packet(
        &mut self,
        now: LocalTime,
        bytes: &[u8],
        signer: &Signer,
    ) -> Option<Vec<u8>> {
        if matches!(self.step, Step::Waiting) {
            return None;
        }
        match Answer::parse(bytes, self.nonce).ok()? {
            Answer::Challenge(token) => {
                if !matches!(self.step, Step::First { .. }) {
                    return None;
                }
                let is_nameless = now < self.nameless_until;
                let name = if is_nameless { "" } else { &*self.directory };
                match signer.prove(ProofPurpose::Announcement, name, token, self.port) {
                    Ok(proof) => {
                        let question = Question::Announce { port: self.port, proof: Some(proof) };
                        let bytes = question.encode(self.nonce);
                        self.step = Step::Proof { times: 1, bytes: bytes.clone() };
                        self.due = now + PROOF_WAIT;
                        return Some(bytes);
                    }
                    Err(error) => self.wait(now, REFUSED_WAIT, Standing::Unsigned(error)),
                }
            }
            Answer::Listed { seconds } => {
                let (least, most) = LISTED_SECS;
                let half = i64::from(seconds.clamp(least, most)) * 500;
                self.wait(now, Micros::from_ms(half), Standing::Listed);
            }
            Answer::Refused(AnnouncementRefusal::Token) => {
                let standing = self.standing.clone();
                self.wait(now, TOKEN_WAIT, standing);
            }
            // A directory of version 0.1.0 checks a signature without its name. One that knows its
            // names accepts none without, so no other directory gains by asking for it.
            Answer::Refused(AnnouncementRefusal::Signature) if now >= self.nameless_until => {
                self.nameless_until = now + OLD_WAIT;
                (self.step, self.due) = (Step::Waiting, now);
            }
            Answer::Refused(refusal) => {
                self.wait(now, REFUSED_WAIT, Standing::Refused(refusal));
            }
            _ => {}
        }
        None
    }

    fn wait(&mut self, now: LocalTime, wait: Micros, standing: Standing) {
        (self.step, self.due, self.standing) = (Step::Waiting, now + wait, standing);
    }
}
