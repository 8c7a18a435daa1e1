//! Seats that have been given out, and whose players are not there yet.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use phaselock::time::LocalTime;
use phaselock::wire::directory::play::{PartyCode, RequestId};

use super::crowds::{Crowd, Crowds, Tally};

/// For whom seats are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// One request.
    Request(RequestId),
    /// Members of a party who have not asked yet.
    Party(PartyCode),
}

#[derive(Debug)]
struct Reserved {
    holder: Holder,
    /// Crowds of the asker.
    crowds: Crowds,
    people: u32,
    until: LocalTime,
}

/// Reserved seats by server.
#[derive(Debug, Default)]
pub(super) struct Seats {
    by_server: BTreeMap<SocketAddr, Vec<Reserved>>,
    by_crowd: Tally,
}

impl Seats {
    /// Returns the number of seats of a server that are reserved.
    pub(super) fn of(&self, server: SocketAddr) -> u32 {
        self.by_server.get(&server).into_iter().flatten().map(|it| it.people).sum()
    }

    /// Returns the number of seats of a server that are reserved for one holder.
    pub(super) fn of_holder(&self, server: SocketAddr, holder: Holder) -> u32 {
        let of_server = self.by_server.get(&server).into_iter().flatten();
        of_server.filter(|it| it.holder == holder).map(|it| it.people).sum()
    }

    /// Returns the number of seats that a crowd holds.
    pub(super) fn of_crowd(&self, crowd: Crowd) -> u32 {
        self.by_crowd.of(crowd)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_server.is_empty()
    }

    /// Reserves seats.
    pub(super) fn reserve(
        &mut self,
        server: SocketAddr,
        (holder, crowds): (Holder, Crowds),
        people: u32,
        until: LocalTime,
    ) {
        if people > 0 {
            let reserved = Reserved { holder, crowds, people, until };
            self.by_server.entry(server).or_default().push(reserved);
            self.by_crowd.add(crowds, people);
        }
    }

    /// Frees up to this many seats of a holder.
    pub(super) fn release(&mut self, server: SocketAddr, holder: Holder, people: u32) {
        self.free(server, people, |it| it.holder == holder);
    }

    /// Notes that a number of players have arrived at a server: their seats count there from now
    /// on.
    pub(super) fn arrive(&mut self, server: SocketAddr, people: u32) {
        self.free(server, people, |it| matches!(it.holder, Holder::Request(_)));
    }

    fn free(&mut self, server: SocketAddr, mut people: u32, of: impl Fn(&Reserved) -> bool) {
        let Some(reserved) = self.by_server.get_mut(&server) else { return };
        for it in reserved.iter_mut().filter(|it| of(it)) {
            let freed = it.people.min(people);
            (it.people, people) = (it.people - freed, people - freed);
            self.by_crowd.subtract(it.crowds, freed);
        }
        reserved.retain(|it| it.people > 0);
        if reserved.is_empty() {
            self.by_server.remove(&server);
        }
    }

    /// Frees the seats that no one took in time. Returns the servers to which players were sent who
    /// did not arrive, with the crowds of those players.
    pub(super) fn expire(&mut self, now: LocalTime) -> Vec<(SocketAddr, Crowds)> {
        let (by_crowd, mut missed) = (&mut self.by_crowd, Vec::new());
        self.by_server.retain(|server, reserved| {
            for it in reserved.extract_if(.., |it| it.until <= now) {
                by_crowd.subtract(it.crowds, it.people);
                if matches!(it.holder, Holder::Request(_)) {
                    missed.push((*server, it.crowds));
                }
            }
            !reserved.is_empty()
        });
        missed
    }

    /// Forgets a server.
    pub(super) fn forget(&mut self, server: SocketAddr) {
        for it in self.by_server.remove(&server).into_iter().flatten() {
            self.by_crowd.subtract(it.crowds, it.people);
        }
    }
}
