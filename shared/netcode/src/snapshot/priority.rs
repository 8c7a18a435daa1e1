//! The order of entities when not all fit into a snapshot: the priority accumulators of one client.
//!
//! After Glenn Fiedler, "State Synchronization" (gafferongames.com, 2015): each snapshot adds an
//! entity's weight to its sum, the largest sums are sent, and an entity that was sent starts from 0
//! again. So important entities are sent more often, and none starves; the tests prove the bound.
//!
//! For each snapshot call [`begin`](Priorities::begin), [`relevant`](Priorities::relevant) for each
//! entity that may be sent, [`urgent`](Priorities::urgent) for each whose removal must be sent to
//! the client, [`order`](Priorities::order), and [`sent`](Priorities::sent) for each that was sent.
//! Later, call [`lost`](Priorities::lost) for each that did not arrive.
//!
//! *Invariants:*
//! - The order depends only on the calls: by sum, then by index.
//! - An irrelevant entity is removed: it comes back without its old sum, and a late loss restores
//!   nothing.

use crate::limits::ENTITIES_MAX;

/// The sum that an entity had when it was sent, until the packet's fate is known. It can be neither
/// copied nor constructed, so a loss restores it only once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "without it a loss cannot be made up for"]
pub struct Owed {
    weights: u32,
    /// Snapshot in which the entity became relevant.
    since: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Sum of the weights since it was sent.
    fresh: u32,
    /// Sum restored by losses since it was sent.
    restored: u32,
    /// The last snapshot in which it was relevant or urgent, and the first of the consecutive ones.
    seen: u32,
    since: u32,
    urgent: bool,
}

/// One client's accumulators: 20 bytes for each index up to the highest in use, plus twice 8 for
/// each relevant entity.
#[derive(Clone, Debug)]
pub struct Priorities {
    entries: Vec<Entry>,
    /// Number of the snapshot; wraps, and is only compared for equality.
    snapshot: u32,
    listed: Vec<u16>,
    keys: Vec<u64>,
}

impl Default for Priorities {
    fn default() -> Self {
        // Entries start as seen in snapshot 0, which must not look like the previous one.
        Self { entries: Vec::new(), snapshot: 2, listed: Vec::new(), keys: Vec::new() }
    }
}

impl Priorities {
    /// Starts the next snapshot. Entities that are not listed in it are removed.
    pub fn begin(&mut self) {
        self.snapshot = self.snapshot.wrapping_add(1);
        self.listed.clear();
    }

    /// Skips ordering because everything was sent, and resets all sums.
    pub fn skip(&mut self) {
        self.snapshot = self.snapshot.wrapping_add(2);
        self.listed.clear();
    }

    /// Lists an entity that may be sent, and adds its `weight`, at least 1, to its sum, once.
    pub fn relevant(&mut self, index: u16, weight: u16) {
        self.list(index, weight.max(1), false);
    }

    /// Lists an entity whose removal must be sent to the client. It goes before all relevant ones,
    /// and its sum is reset. Call this only while no such message is in flight.
    pub fn urgent(&mut self, index: u16) {
        self.list(index, 1, true);
    }

    fn list(&mut self, index: u16, weight: u16, urgent: bool) {
        let at = usize::from(index);
        debug_assert!(index < ENTITIES_MAX, "index {index}");
        if at >= self.entries.len() {
            self.entries.resize(at + 1, Entry::default());
        }
        let now = self.snapshot;
        let entry = &mut self.entries[at];
        let again = entry.seen == now;
        if again && (entry.urgent || !urgent) {
            return;
        }
        if !again {
            self.listed.push(index);
        }
        // The sum of the last snapshot continues; older ones are dropped.
        let goes_on = !again && entry.seen == now.wrapping_sub(1) && entry.urgent == urgent;
        if !goes_on {
            *entry = Entry { since: now, urgent, ..Entry::default() };
        }
        entry.seen = now;
        entry.fresh = entry.fresh.saturating_add(u32::from(weight));
    }

    /// Writes the indices of at most `most` entities into `due`: urgent ones first, then by
    /// descending sum, then by index.
    pub fn order(&mut self, most: usize, due: &mut Vec<u16>) {
        self.keys.clear();
        self.keys.extend(self.listed.iter().map(|&index| {
            let entry = &self.entries[usize::from(index)];
            let sum = entry.fresh.saturating_add(entry.restored);
            u64::from(!entry.urgent) << 48 | u64::from(u32::MAX - sum) << 16 | u64::from(index)
        }));
        if most < self.keys.len() {
            self.keys.select_nth_unstable(most);
            self.keys.truncate(most);
        }
        self.keys.sort_unstable();
        due.clear();
        due.extend(self.keys.iter().map(|key| *key as u16));
    }

    /// Notes that the entity was sent; its sum starts from 0 again.
    ///
    /// A loss restores the weights added since it was sent before, but not those that losses
    /// restored. Otherwise, on a path that loses the first packets, the same entities would always
    /// go first.
    pub fn sent(&mut self, index: u16) -> Owed {
        let Some(entry) = self.entries.get_mut(usize::from(index)) else {
            return Owed { weights: 0, since: 0 };
        };
        let owed = Owed { weights: entry.fresh, since: entry.since };
        (entry.fresh, entry.restored) = (0, 0);
        owed
    }

    /// Restores the sum after a loss, if the entity was relevant all the time.
    pub fn lost(&mut self, index: u16, owed: Owed) {
        let Some(entry) = self.entries.get_mut(usize::from(index)) else { return };
        let still = entry.seen == self.snapshot || entry.seen == self.snapshot.wrapping_sub(1);
        if still && entry.since == owed.since {
            entry.restored = entry.restored.saturating_add(owed.weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    /// Returns the maximum number of consecutive snapshots in which a relevant entity goes unsent.
    /// At most N = `entities` are relevant at a time, weights are 1 to W = `weight_max` and may
    /// change arbitrarily, and each snapshot sends at least k = `sent` of the relevant entities, in
    /// the [order](Priorities::order). Without losses the bound is B = 2 (N - 1) (W + 1) / k.
    ///
    /// Proof: let x go unsent in the snapshots 1 to T. In snapshot t its sum is at least t, so each
    /// of the at most N - 1 entities that go before it has at least t, k times per snapshot. The
    /// first time that an entity goes before x it may use what it had before; that happens N - 1
    /// times. Each other time, of which there are kT - (N - 1), it spends t of the weights gained
    /// since its last time. The spending is least if these times come first, and then it is (kT -
    /// (N - 1))^2 / 2k; the gain is (N - 1) W T. So with r = (N - 1) / k, (T - r)^2 <= 2 r W T,
    /// hence T <= r + r W + sqrt((r W)^2 + 2 r^2 W), which is at most 2 r (W + 1). Saturating sums
    /// do no harm, because B is smaller than the maximum for any arguments.
    ///
    /// The bound is tight within a factor of 2 (1 + 1 / W): if only x weighs 1 and all others W,
    /// they take turns, each with a sum of r W, and x waits until it has as much.
    ///
    /// With arbitrary losses, at most B' = 2 ((N - 1) (2 W + 1) + L) / k snapshots pass until x is
    /// *transmitted*: weights may be spent once more after a loss, and L = `losses`, the losses
    /// noticed meanwhile of what was sent before, lets that many more use what they had before.
    ///
    /// Urgent entities come before all others: n of them add n / k snapshots, where k then counts
    /// them too.
    fn unsent_snapshots_max(entities: u16, weight_max: u16, sent: u16, losses: Option<u32>) -> u64 {
        let (others, weight) = (u64::from(entities - 1), u64::from(weight_max));
        let spent = match losses {
            None => others * (weight + 1),
            Some(losses) => others * (2 * weight + 1) + u64::from(losses),
        };
        2 * spent / u64::from(sent)
    }

    const _: () = {
        let bound = 2 * (ENTITIES_MAX as u64 - 1) * (u16::MAX as u64 + 1);
        assert!(bound < u32::MAX as u64, "the proof needs sums that reach the bound");
    };

    fn order(priorities: &mut Priorities) -> Vec<u16> {
        let mut due = Vec::new();
        priorities.order(usize::MAX, &mut due);
        due
    }

    #[test]
    fn the_heaviest_go_first_and_the_urgent_before_them() {
        let mut priorities = Priorities::default();
        priorities.begin();
        for (index, weight) in [(3, 5), (9, 7), (1, 5), (3, 100), (4, 0)] {
            priorities.relevant(index, weight);
        }
        assert_eq!(
            order(&mut priorities),
            [9, 1, 3, 4],
            "a second weight in a snapshot is ignored"
        );
        priorities.urgent(4000);
        priorities.urgent(3);
        assert_eq!(order(&mut priorities), [3, 4000, 9, 1, 4]);
        priorities.relevant(3, 7);
        let mut due = Vec::new();
        for most in 0..6 {
            priorities.order(most, &mut due);
            assert_eq!(due, [3, 4000, 9, 1, 4][..most.min(5)]);
        }
        // Urgent entities take turns.
        let _ = priorities.sent(3);
        priorities.begin();
        for index in [3, 4000] {
            priorities.urgent(index)
        }
        assert_eq!(order(&mut priorities), [4000, 3]);
    }

    #[test]
    fn a_loss_gives_back_once_what_was_owed() {
        let mut priorities = Priorities::default();
        priorities.begin();
        for index in [1, 2] {
            priorities.relevant(index, 10)
        }
        let owed = priorities.sent(2);
        priorities.begin();
        for index in [1, 2] {
            priorities.relevant(index, 10)
        }
        assert_eq!(order(&mut priorities), [1, 2]);
        priorities.lost(2, owed);
        assert_eq!(order(&mut priorities), [1, 2], "equal: by index");
        let _ = priorities.sent(1);
        // What was restored is not restored again.
        assert_eq!(priorities.sent(2).weights, 10);
        priorities.lost(7, Owed { weights: 1, since: 3 });
        assert_eq!(priorities.sent(7), Owed { weights: 0, since: 0 });
    }

    #[test]
    fn a_late_loss_brings_nothing_back() {
        let mut priorities = Priorities::default();
        let mut next = |gone: bool| {
            priorities.begin();
            priorities.relevant(1, 2);
            if !gone {
                priorities.relevant(2, 1000);
            }
            priorities.clone()
        };
        let mut first = next(false);
        let owed = [first.sent(2), first.sent(2), first.sent(2)];
        // It was away, and came back.
        next(true);
        let mut back = next(false);
        let _ = back.sent(2);
        let [a, b, c] = owed;
        back.lost(2, a);
        assert_eq!(order(&mut back), [1, 2]);
        // It is away.
        let mut away = next(true);
        away.begin();
        away.begin();
        away.lost(2, b);
        away.relevant(2, 1);
        assert_eq!(away.sent(2).weights, 1);
        // Now its end must be sent, which is a different message.
        first.begin();
        first.urgent(2);
        first.lost(2, c);
        assert_eq!(first.sent(2).weights, 1);
    }

    #[test]
    fn sums_saturate() {
        let mut priorities = Priorities::default();
        for _ in 0..70_000 {
            priorities.begin();
            for index in [0, 1] {
                priorities.relevant(index, u16::MAX)
            }
        }
        assert_eq!(priorities.entries[0].fresh, u32::MAX);
        let owed = priorities.sent(1);
        priorities.begin();
        priorities.relevant(1, 1);
        priorities.lost(1, owed);
        assert_eq!(order(&mut priorities), [1]);
    }

    /// How weights are chosen: all at random, one light entity among heavy ones, or by an
    /// adversary, who gives weight to those that can still overtake the one that waits.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Weights {
        Random,
        OneLight,
        Against,
    }

    #[derive(Clone, Debug)]
    struct Play {
        entities: u16,
        weight_max: u16,
        room: u16,
        extra: u32,
        weights: Weights,
        /// Fraction of transmissions that is lost, and the number of snapshots after which that is
        /// noticed.
        loss: f32,
        notice: usize,
        /// Probability that an entity leaves and another comes.
        churn: f32,
    }

    /// Simulates `snapshots` snapshots. Returns the longest time that a relevant entity went
    /// unsent, and the bound for it.
    fn play(play: &Play, seed: u64, snapshots: u32) -> (u32, u64) {
        let mut random = Random::new(seed);
        let mut priorities = Priorities::default();
        let slots = 2 * play.entities;
        let mut here: Vec<u16> = (0..play.entities).collect();
        let mut waited = vec![0_u32; usize::from(slots)];
        let (mut longest, mut most_sent) = (0, 0);
        let mut notices: Vec<Vec<(u16, Owed)>> = (0..=play.notice).map(|_| Vec::new()).collect();
        let mut due = Vec::new();
        for snapshot in 0..snapshots {
            for (index, owed) in std::mem::take(&mut notices[0]) {
                priorities.lost(index, owed);
            }
            notices.rotate_left(1);
            for slot in &mut here {
                let other = random.below(u32::from(slots)) as u16;
                if random.chance(play.churn) && waited[usize::from(other)] == 0 {
                    waited[usize::from(*slot)] = 0;
                    *slot = other;
                }
            }
            here.sort_unstable();
            here.dedup();
            priorities.begin();
            for &index in &here {
                let light = match play.weights {
                    Weights::Random => random.chance(0.5),
                    Weights::OneLight => index == here[here.len() - 1],
                    // Entities sent recently cannot overtake the last one soon enough.
                    Weights::Against => {
                        let last = waited[usize::from(here[here.len() - 1])];
                        index == here[here.len() - 1]
                            || (last > u32::from(play.weight_max)
                                && waited[usize::from(index)] == 0
                                && snapshot % 2 == 0)
                    }
                };
                let any = 1 + random.below(u32::from(play.weight_max)) as u16;
                let heavy = if play.weights == Weights::Random { any } else { play.weight_max };
                priorities.relevant(index, if light { 1 } else { heavy });
                waited[usize::from(index)] += 1;
            }
            let room = u32::from(play.room) + random.below(play.extra + 1);
            priorities.order(room as usize, &mut due);
            most_sent = most_sent.max(due.len());
            for &index in &due {
                waited[usize::from(index)] = 0;
                let owed = priorities.sent(index);
                if random.chance(play.loss) {
                    notices[play.notice].push((index, owed));
                }
            }
            // Number of snapshots that it has gone unsent, including this one.
            longest = waited.iter().copied().fold(longest, u32::max);
        }
        let losses = (play.loss > 0.0).then_some((most_sent * (play.notice + 1)) as u32);
        let bound = unsent_snapshots_max(play.entities, play.weight_max, play.room, losses);
        (longest, bound)
    }

    #[test]
    fn the_bound_is_tight_within_a_small_factor() {
        for (entities, weight_max, room) in [(50, 20, 1), (200, 8, 3), (30, 1, 1), (64, 100, 4)] {
            let (weights, loss, churn) = (Weights::OneLight, 0.0, 0.0);
            let it = Play { entities, weight_max, room, extra: 0, weights, loss, notice: 0, churn };
            let (longest, bound) = play(&it, 1, 8000);
            let factor = 2.0 * (1.0 + 1.0 / f64::from(weight_max));
            assert!(u64::from(longest) <= bound);
            assert!(f64::from(longest) * (factor + 0.3) > bound as f64, "{longest} of {bound}");
        }
    }

    fn plays() -> impl Strategy<Value = Play> {
        let weights =
            prop_oneof![Just(Weights::Random), Just(Weights::OneLight), Just(Weights::Against)];
        let sizes = (2_u16..40, 1_u16..30, 1_u16..6, 0_u32..4, weights);
        let loss = prop_oneof![Just(0.0_f32), 0.01_f32..1.0, Just(1.0)];
        let churn = prop_oneof![Just(0.0_f32), 0.0_f32..0.05];
        (sizes, loss, 0_usize..20, churn).prop_map(
            |((entities, weight_max, room, extra, weights), loss, notice, churn)| Play {
                entities,
                weight_max,
                room,
                extra,
                weights,
                loss,
                notice,
                churn,
            },
        )
    }

    proptest! {
        #[test]
        fn nothing_relevant_starves(it in plays(), seed: u64) {
            let (longest, bound) = play(&it, seed, 4000);
            prop_assert!(u64::from(longest) <= bound, "{longest} snapshots, not {bound}");
        }

        #[test]
        fn the_order_is_that_of_a_full_sort(
            weights in proptest::collection::vec((0_u16..100, 1_u16..50, any::<bool>()), 0..80),
            most in 0_usize..90,
        ) {
            let mut priorities = Priorities::default();
            priorities.begin();
            for (index, weight, urgent) in weights {
                if urgent { priorities.urgent(index) } else { priorities.relevant(index, weight) }
            }
            let mut all = priorities.listed.clone();
            all.sort_by_key(|index| {
                let entry = &priorities.entries[usize::from(*index)];
                (!entry.urgent, std::cmp::Reverse(entry.fresh), *index)
            });
            all.truncate(most);
            let mut due = Vec::new();
            priorities.order(most, &mut due);
            prop_assert_eq!(due, all);
        }
    }
}
