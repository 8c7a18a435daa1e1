//! When to ask an allocator for another server.

use std::collections::{BTreeMap, VecDeque};

use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};

/// Time for an allocator to answer; the driver gives up sooner.
const PATIENCE: Micros = Micros::from_ms(15_000);
/// Delays after a failure: the first one, which doubles each time up to the longest; and the
/// longest one while the fleet is full, in which a server may become ready at any time.
const WAIT_MIN: Micros = Micros::from_ms(500);
const WAIT_MAX: Micros = Micros::from_ms(15_000);
const WAIT_FULL_MAX: Micros = Micros::from_ms(2000);
/// Time for which only servers that no one uses are asked for, after a request for any has brought
/// one that is known already. Its counter does not know yet who is on the way there.
const READY_ONLY: Micros = Micros::from_ms(5000);

/// What allocators can do.
#[derive(Clone, Debug, Default)]
pub struct Allocators {
    /// Regions, one for each allocator; an empty name if there is only one region. Players who
    /// have measured no ping get servers of the first one.
    pub regions: Vec<String>,
    /// Games that its servers can play.
    pub games: Vec<String>,
}

/// A request to the allocator of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocate {
    /// Number of the request, for its answer.
    pub number: u64,
    /// Region.
    pub region: String,
    /// Game.
    pub game: String,
    /// Number of seats.
    pub seats: u32,
    /// Whether only a server that no one uses will do; otherwise one in use is better.
    pub ready_only: bool,
}

/// Why no server was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAllocated {
    /// All servers of the fleet are full, and none is ready.
    NoneFree,
    /// The allocator did not answer, or not as it should.
    Failed,
}

/// What is known about an allocator and a game.
#[derive(Debug, Default)]
struct Source {
    failures: u32,
    /// No requests until then.
    wait_until: LocalTime,
    /// Only ready servers until then.
    ready_until: LocalTime,
    /// Number of seats that the last server had that no one used when it came; 0 if none has.
    seats: u32,
    /// Number of all seats of the last server that came; 0 if none has.
    most: u32,
}

/// Requests to allocators.
#[derive(Debug)]
pub(super) struct Fleet {
    allocators: Allocators,
    at_once: usize,
    under_way: BTreeMap<u64, (Allocate, LocalTime)>,
    /// By region and game.
    sources: BTreeMap<(String, String), Source>,
    requests: VecDeque<Allocate>,
    last: u64,
}

impl Fleet {
    pub(super) fn new(allocators: Allocators, at_once: usize) -> Self {
        let (under_way, sources, requests) = Default::default();
        Self { allocators, at_once, under_way, sources, requests, last: 0 }
    }

    pub(super) fn plays(&self, game: &str) -> bool {
        let is_any = !self.allocators.regions.is_empty();
        is_any && self.allocators.games.iter().any(|it| it == game)
    }

    pub(super) fn regions(&self) -> impl Iterator<Item = &str> {
        self.allocators.regions.iter().map(String::as_str)
    }

    /// Returns the place of a region in the configured order; those without an allocator are last.
    pub(super) fn rank(&self, region: &str) -> usize {
        self.regions().position(|it| it == region).unwrap_or(usize::MAX)
    }

    /// Whether a server may come from the allocator of a region soon.
    pub(super) fn may(&self, now: LocalTime, region: &str, game: &str) -> bool {
        let source = self.sources.get(&(region.to_owned(), game.to_owned()));
        self.plays(game)
            && self.regions().any(|it| it == region)
            && source.is_none_or(|source| source.wait_until <= now)
    }

    /// Whether a server with this number of seats may come from a region, as far as is known.
    pub(super) fn fits_in(&self, region: &str, game: &str, seats: u32) -> bool {
        let source = self.sources.get(&(region.to_owned(), game.to_owned()));
        self.plays(game) && source.is_none_or(|it| it.most == 0 || it.most >= seats)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Asks for servers if fewer seats are coming than people wait.
    pub(super) fn want(&mut self, now: LocalTime, (region, game): (&str, &str), need: Need) {
        if !self.may(now, region, game) {
            return;
        }
        let key = (region.to_owned(), game.to_owned());
        let source = self.sources.entry(key).or_default();
        // Before the first server has come, no one knows how many seats another one has.
        let each = if source.seats == 0 { u32::MAX } else { source.seats };
        let is_same = |it: &Allocate| it.region == region && it.game == game;
        let count = self.under_way.values().filter(|(it, _)| is_same(it)).count();
        let mut coming = each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        while coming < need.people && self.under_way.len() < self.at_once {
            coming = coming.saturating_add(each);
            self.last += 1;
            let (region, game) = (region.to_owned(), game.to_owned());
            let ready_only = now < source.ready_until;
            let (number, seats) = (self.last, need.at_once);
            let request = Allocate { number, region, game, seats, ready_only };
            self.under_way.insert(number, (request.clone(), now + PATIENCE));
            self.requests.push_back(request);
        }
    }

    pub(super) fn poll(&mut self) -> Option<Allocate> {
        self.requests.pop_front()
    }

    /// Handles an allocator's answer. Returns the request, unless it is no longer under way.
    pub(super) fn handle(
        &mut self,
        now: LocalTime,
        number: u64,
        answer: Result<Came, NotAllocated>,
        random: &mut Random,
    ) -> Option<Allocate> {
        let (request, _) = self.under_way.remove(&number)?;
        let source = self.sources.entry((request.region.clone(), request.game.clone()));
        let source = source.or_default();
        match answer {
            Ok(Came { free, seats, is_known }) => {
                (source.failures, source.wait_until) = (0, now);
                // Without a counter, it has at least the seats that were asked for.
                let free = free.unwrap_or(request.seats);
                source.most = seats.unwrap_or_else(|| source.most.max(free));
                // One that is in use has fewer than another one would.
                source.seats = if is_known { source.seats.max(free) } else { free };
                if is_known {
                    source.ready_until = now + READY_ONLY;
                }
            }
            // One in use may have seats.
            Err(NotAllocated::NoneFree) if request.ready_only => source.ready_until = now,
            Err(why) => {
                let most = if why == NotAllocated::NoneFree { WAIT_FULL_MAX } else { WAIT_MAX };
                let longer = WAIT_MIN.0.saturating_mul(1 << source.failures.min(10)).min(most.0);
                let spread = random.range(0.75, 1.25);
                source.wait_until = now + Micros((longer as f32 * spread) as i64);
                source.failures = source.failures.saturating_add(1);
            }
        }
        Some(request)
    }

    /// Gives up on allocators that do not answer.
    pub(super) fn expire(&mut self, now: LocalTime, random: &mut Random) {
        let late = self.under_way.iter().filter(|(_, (_, until))| *until <= now);
        let late: Vec<_> = late.map(|(number, _)| *number).collect();
        for number in late {
            self.handle(now, number, Err(NotAllocated::Failed), random);
        }
    }
}

/// A server that came from an allocator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    /// Number of free seats, and of all seats, if the allocator says so.
    pub(super) free: Option<u32>,
    pub(super) seats: Option<u32>,
    /// Whether it was known before.
    pub(super) is_known: bool,
}

/// Seats that are needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    /// For all who wait.
    pub(super) people: u32,
    /// For the largest party among them.
    pub(super) at_once: u32,
}
