//! Seats that have been given out, and whose players are not there yet.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use phaselock::time::LocalTime;
use phaselock::wire::directory::play::{PartyCode, Ticket};

/// For whom seats are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// One request.
    Ticket(Ticket),
    /// Members of a party who have not asked yet.
    Party(PartyCode),
}

#[derive(Debug)]
struct Reserved {
    holder: Holder,
    /// Network of the asker.
    network: u128,
    people: u32,
    until: LocalTime,
}

/// Reserved seats by server.
#[derive(Debug, Default)]
pub(super) struct Seats {
    by_server: BTreeMap<SocketAddr, Vec<Reserved>>,
    by_network: HashMap<u128, u32>,
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

    /// Returns the number of seats that askers in a network hold.
    pub(super) fn of_network(&self, network: u128) -> u32 {
        self.by_network.get(&network).copied().unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_server.is_empty()
    }

    /// Reserves seats.
    pub(super) fn reserve(
        &mut self,
        server: SocketAddr,
        (holder, network): (Holder, u128),
        people: u32,
        until: LocalTime,
    ) {
        if people > 0 {
            let reserved = Reserved { holder, network, people, until };
            self.by_server.entry(server).or_default().push(reserved);
            *self.by_network.entry(network).or_default() += people;
        }
    }

    /// Frees up to this many seats of a holder.
    pub(super) fn release(&mut self, server: SocketAddr, holder: Holder, people: u32) {
        self.free(server, people, |it| it.holder == holder);
    }

    /// Notes that so many players have arrived at a server: their seats count there from now on.
    pub(super) fn arrive(&mut self, server: SocketAddr, people: u32) {
        self.free(server, people, |it| matches!(it.holder, Holder::Ticket(_)));
    }

    fn free(&mut self, server: SocketAddr, mut people: u32, of: impl Fn(&Reserved) -> bool) {
        let Some(reserved) = self.by_server.get_mut(&server) else { return };
        for it in reserved.iter_mut().filter(|it| of(it)) {
            let freed = it.people.min(people);
            (it.people, people) = (it.people - freed, people - freed);
            leave(&mut self.by_network, it.network, freed);
        }
        reserved.retain(|it| it.people > 0);
        if reserved.is_empty() {
            self.by_server.remove(&server);
        }
    }

    /// Frees the seats that no one took in time.
    pub(super) fn expire(&mut self, now: LocalTime) {
        let by_network = &mut self.by_network;
        self.by_server.retain(|_, reserved| {
            for it in reserved.extract_if(.., |it| it.until <= now) {
                leave(by_network, it.network, it.people);
            }
            !reserved.is_empty()
        });
    }

    /// Forgets a server.
    pub(super) fn forget(&mut self, server: SocketAddr) {
        for it in self.by_server.remove(&server).into_iter().flatten() {
            leave(&mut self.by_network, it.network, it.people);
        }
    }
}

fn leave(by_network: &mut HashMap<u128, u32>, network: u128, people: u32) {
    if let Some(held) = by_network.get_mut(&network) {
        *held = held.saturating_sub(people);
        if *held == 0 {
            by_network.remove(&network);
        }
    }
}
