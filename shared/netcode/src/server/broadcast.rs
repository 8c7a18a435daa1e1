//! The newest snapshot's way to all clients: what each is told of, and its packets.
//!
//! The packets of all clients are packed in one go, on as many threads as the host lends, and their
//! times are stamped one by one as they leave.

use crate::game::Game;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::sender::Shared;
use crate::time::LocalTime;
use crate::wire::snapshot::stamp;
use crate::wire::state::Codec;

use super::member::Seated;
use super::output::{ClientId, Output};
use super::room::Room;
use super::workers::flat_map;

/// Clients that each worker packs for at a time: a fraction of a millisecond, after which the
/// driver may look at what came. Arbitrary.
const PACKED_TOGETHER: usize = 32;

impl<G: Game> Room<G> {
    /// Packs the newest snapshot for the next of those who have not got it, are not `behind`, and
    /// whose path is not full.
    pub(super) fn pack_due(&mut self, now: LocalTime, behind: &dyn Fn(ClientId) -> bool) {
        let Self { host, game, history, encodings, plain_encodings, members, .. } = self;
        let now_due = self.due.len().min(PACKED_TOGETHER * host.config.workers.count());
        let mut due = self.due.drain(..now_due).filter(|client| !behind(*client)).peekable();
        let mut begun = Vec::new();
        // Both are in the order of clients.
        for (client, seated) in members.iter_mut() {
            if due.next_if_eq(client).is_none() || seated.is_path_full(now) {
                continue;
            }
            let encodings = if seated.member.plain {
                let rates = host.config.rates;
                plain_encodings.get_or_insert_with(|| Encodings::new(Codec::plain(rates)))
            } else {
                &mut *encodings
            };
            let snapshot = seated.begin_snapshot(encodings, history);
            begun.push((*client, seated, snapshot));
        }
        drop(due);
        let server_time = host.server_time(now);
        let plain = plain_encodings.as_ref();
        let (game, history, trained) = (&*game, &*history, &*encodings);
        let pack = |(client, seated, snapshot): (_, &mut Seated<_>, _), out: &mut Vec<_>| {
            let encodings = plain.filter(|_| seated.member.plain).unwrap_or(trained);
            let shared = Shared { encodings, game, history };
            let send = |bytes| out.push(Output::Datagram { client, bytes });
            seated.pack_snapshot(&shared, snapshot, now, server_time, send);
        };
        host.outputs.extend(flat_map(&*host.config.workers, begun, pack));
    }

    /// Stamps what leaves now.
    pub(super) fn stamped(&self, now: LocalTime, mut output: Output) -> Output {
        if let Output::Datagram { bytes, .. } = &mut output
            && let Some(frame) = self.history.newest()
        {
            stamp(bytes, self.host.config.rates, frame.tick, self.host.server_time(now));
        }
        output
    }
}
