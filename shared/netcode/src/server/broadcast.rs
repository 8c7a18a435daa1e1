//! The newest snapshot's way to all clients: what each is told of, and its packets.
//!
//! The packets of all clients are packed in one go, on as many threads as the host lends, and their
//! times are stamped one by one as they leave.

use std::collections::{BTreeMap, VecDeque};

use crate::game::Game;
use crate::interest::Relevant;
use crate::snapshot::encodings::Encodings;
use crate::snapshot::history::History;
use crate::snapshot::sender::{Begun, Shared};
use crate::time::{LocalTime, Micros, ServerTime};
use crate::wire::snapshot::stamp;
use crate::wire::state::Codec;

use super::any::AnyRoom as _;
use super::gallery::Gallery;
use super::member::Seated;
use super::output::{ClientId, Output};
use super::room::Room;
use super::rotation::Host;
use super::workers::flat_map;

/// Clients that each worker packs for at a time: a fraction of a millisecond, after which the
/// driver may look at what came, and a tick may go first. Arbitrary.
const PACKED_TOGETHER: usize = 16;

impl<G: Game> Room<G> {
    /// Notes the world for the next snapshot, and what each client is told of.
    pub(super) fn make_snapshot(&mut self) {
        let rates = self.host.config.rates;
        self.next_snapshot = rates.next_snapshot(self.world.tick);
        self.history.push(self.world.tick, &self.world.entities);
        let present = |seated: &Seated<_>| seated.member.away_until.is_none();
        let seated = self.members.values_mut().filter(|seated| present(seated));
        let told = seated.map(|seated| (seated.member.player, &mut seated.sight));
        self.interest.update(&self.game, &self.world, self.host.config.workers(), told);
        let members = self.members.iter().filter(|(_, seated)| present(seated));
        self.due.extend(members.map(|(client, _)| *client));
        let (tick, watchers_max) = (self.world.tick, self.host.config.watchers_max);
        self.gallery.handle_world(&self.game, tick, &self.world.entities, watchers_max);
    }

    /// Whether the next snapshot may be made: its tick has run, and the last one has been sent to
    /// everybody. Datagrams are stamped with the newest snapshot, so none of an older one may be
    /// queued.
    pub(super) fn is_snapshot_due(&self) -> bool {
        let is_other = |output: &Output| !matches!(output, Output::Datagram { .. });
        self.world.tick >= self.next_snapshot
            && self.due.is_empty()
            && self.host.outputs.iter().all(is_other)
    }

    /// Packs the newest snapshot for the next clients, unless outputs are queued or a tick is due.
    pub(super) fn pack(&mut self, now: LocalTime, behind: &dyn Fn(ClientId) -> bool) {
        let is_due = |room: &Self| !room.due.is_empty() || !room.gallery.due.is_empty();
        while self.host.outputs.is_empty() && is_due(self) && self.has_time(now) {
            match self.due.is_empty() {
                false => self.pack_due(now, behind),
                true => self.pack_gallery(now, behind),
            }
            self.has_packed = true;
        }
    }

    /// Tells whether snapshots may be packed: a tick goes before them, but some go between any two.
    fn has_time(&self, now: LocalTime) -> bool {
        !self.has_packed || now < self.next_timeout()
    }

    /// Packs the newest snapshot for the next of those who have not got it, are not `behind`, and
    /// whose path is not full.
    fn pack_due(&mut self, now: LocalTime, behind: &dyn Fn(ClientId) -> bool) {
        let Self { host, game, history, encodings, plain_encodings, members, begun, due, .. } =
            self;
        let server_time = host.server_time(now);
        let scene = Scene {
            game,
            history,
            encodings,
            plain_encodings,
            due,
            begun,
            told: None,
            server_time,
        };
        scene.pack(host, members, now, behind);
    }

    /// The same for those who watch.
    fn pack_gallery(&mut self, now: LocalTime, behind: &dyn Fn(ClientId) -> bool) {
        let Self { host, game, gallery, .. } = self;
        let Gallery { history, encodings, plain_encodings, watchers, begun, due, told, .. } =
            gallery;
        let server_time = host.server_time(now) - gallery.delay;
        let told = Some(told.told());
        let scene =
            Scene { game, history, encodings, plain_encodings, due, begun, told, server_time };
        scene.pack(host, watchers, now, behind);
    }

    /// Stamps what leaves now.
    pub(super) fn stamped(&self, now: LocalTime, mut output: Output) -> Output {
        if let Output::Datagram { client, bytes } = &mut output
            && let (history, delay) = match self.gallery.watchers.contains_key(client) {
                true => (&self.gallery.history, self.gallery.delay),
                false => (&self.history, Micros::ZERO),
            }
            && let Some(frame) = history.newest()
        {
            let server_time = self.host.server_time(now) - delay;
            stamp(bytes, self.host.config.rates, frame.tick, server_time);
        }
        output
    }
}

/// The newest snapshot of players or of watchers, and those who have not got it.
struct Scene<'a, G: Game> {
    game: &'a G,
    history: &'a History,
    encodings: &'a mut Encodings<G>,
    plain_encodings: &'a mut Option<Encodings<G>>,
    due: &'a mut VecDeque<ClientId>,
    begun: &'a mut Vec<(ClientId, Begun)>,
    /// Entities that all are told of; none if each sees others.
    told: Option<&'a [Relevant]>,
    /// The server's time as they are told it.
    server_time: ServerTime,
}

impl<G: Game> Scene<'_, G> {
    fn pack(
        self,
        host: &mut Host,
        members: &mut BTreeMap<ClientId, Seated<G::Input>>,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) {
        let Self { game, history, encodings, plain_encodings, begun, told, server_time, .. } = self;
        let now_due = self.due.len().min(PACKED_TOGETHER * host.config.workers().count());
        let mut due = self.due.drain(..now_due).filter(|client| !behind(*client)).peekable();
        begun.clear();
        // All are in the order of clients.
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
            begun.push((*client, seated.begin_snapshot(encodings, history)));
        }
        drop(due);
        let plain = plain_encodings.as_ref();
        let trained = &*encodings;
        let mut begun = begun.iter().peekable();
        let items = members.iter_mut().filter_map(|(client, seated)| {
            let (client, snapshot) = *begun.next_if(|(begun, _)| begun == client)?;
            Some((client, seated, snapshot))
        });
        let pack = |(client, seated, snapshot): (_, &mut Seated<_>, _),
                    take: &mut dyn FnMut(Output)| {
            let encodings = plain.filter(|_| seated.member.plain).unwrap_or(trained);
            let shared = Shared { encodings, game, history };
            let send = |bytes| take(Output::Datagram { client, bytes });
            seated.pack_snapshot(&shared, snapshot, told, (now, server_time), send);
        };
        let Host { outputs, config, .. } = host;
        flat_map(config.workers(), items, pack, |output| outputs.push_back(output));
    }
}
