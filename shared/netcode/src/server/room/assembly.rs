//! People in a round: who is ready, who is on which side, what they vote for.

use super::Room;
use crate::game::{Game, Place, RoundPart};
use crate::ids::PlayerId;
use crate::limits::ROSTER_CHUNK;
use crate::server::bucket::RequestLimit;
use crate::server::control::Event;
use crate::server::member::Seated;
use crate::server::output::ClientId;
use crate::server::presence::is_news;
use crate::server::votes::{Caller, Running};
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::round::{
    Ballot, House, Motion, Outcome, Presence, ReadyUp, RoundNotice, RoundRequest,
};

/// Requests about the round: nobody changes sides faster. Arbitrary.
pub(super) const ROUND: RequestLimit = RequestLimit { burst: 6, interval: Micros::from_ms(500) };
/// Time between two looks at round trips. Arbitrary: a scoreboard is no stopwatch.
const PRESENCE_INTERVAL: Micros = Micros::from_ms(2000);
/// Time left when everybody is ready, and when most are.
const ALL_READY: Micros = Micros::from_ms(3000);
const MOST_READY: Micros = Micros::from_ms(10_000);
/// Longest wait for people who do not say that they are ready. Arbitrary.
const READY_WAIT_MAX: Micros = Micros::from_ms(120_000);
/// Time that a vote adds to a round.
const MORE_TIME: Micros = Micros::from_ms(180_000);
/// Time from the vote for another game to the game, so that nobody is torn out of a turn.
const NEXT_IN: Micros = Micros::from_ms(5000);

fn notice(notice: RoundNotice) -> ServerMessage {
    ServerMessage::Round(notice)
}

impl<G: Game> Room<G> {
    /// Players who are there.
    fn people(&self) -> Vec<PlayerId> {
        self.present().map(|(_, member)| member.player).collect()
    }

    /// Tells one who begins to play what others know.
    pub(super) fn brief(&mut self, now: LocalTime, client: ClientId) {
        let house = self.house(client);
        self.host.send(client, notice(RoundNotice::House(house)));
        self.tell_all_presence(client);
        if let Some(poll) = self.host.votes.poll(now, &self.people()) {
            self.host.send(client, notice(RoundNotice::Poll(poll)));
        }
    }

    /// Tells a newcomer of all who play.
    pub(super) fn tell_all_presence(&mut self, client: ClientId) {
        let told: Vec<_> = self.assembly.told.iter().map(|(at, it)| (*at, *it)).collect();
        for some in told.chunks(ROSTER_CHUNK) {
            self.host.send(client, notice(RoundNotice::Presence(some.to_vec())));
        }
    }

    fn house(&self, client: ClientId) -> House {
        let config = &self.host.config;
        let is_staff = self.members.get(&client).is_some_and(|it| it.member.is_staff);
        let (games, votes, ready) = (config.games.clone(), config.votes, config.ready);
        House { games, next: self.next_game().map(str::to_owned), votes, ready, is_staff }
    }

    /// The game after this round, if it is not this one.
    fn next_game(&self) -> Option<&str> {
        if let Some((game, _)) = &self.host.votes.chosen {
            return Some(game);
        }
        let config = &self.host.config;
        let rounds = config.rounds?;
        let is_last = (G::KIT.rounds_played)(&self.world).saturating_add(1) >= rounds;
        let at = config.games.iter().position(|game| game == G::NAME)?;
        let next = config.games.get(at + 1).or(config.games.first())?;
        (is_last && next != G::NAME).then_some(next)
    }

    /// Tells everybody the rules of the house.
    pub(super) fn tell_house(&mut self) {
        self.assembly.next = self.next_game().map(str::to_owned);
        for client in self.present().map(|(client, _)| client).collect::<Vec<_>>() {
            let house = self.house(client);
            self.host.send(client, notice(RoundNotice::House(house)));
        }
    }

    /// A request of a member about the round.
    pub(super) fn handle_round(
        &mut self,
        now: LocalTime,
        client: ClientId,
        request: RoundRequest,
    ) -> Result<(), Refusal> {
        let plays = self.members.contains_key(&client);
        let Some(Seated { member, .. }) = self.seated_mut(client) else { return Ok(()) };
        if !member.round.take(now, ROUND) {
            return Err(Refusal::TooMany);
        }
        if !plays {
            // The round is of those who play it.
            return Err(Refusal::Off);
        }
        member.activity.note(now);
        let (player, is_staff) = (member.player, member.is_staff);
        match request {
            RoundRequest::Ready(is_ready) => {
                let part = (G::KIT.clock)(&self.world).map(|clock| clock.part);
                if self.host.config.ready == ReadyUp::Off || part.is_none() {
                    return Err(Refusal::Off);
                }
                if let Some(seated) = self.members.get_mut(&client) {
                    seated.member.is_ready = is_ready && part == Some(RoundPart::WarmUp);
                }
                self.tell_presence(now, false);
                Ok(())
            }
            RoundRequest::Side(side) => self.choose_side(player, side),
            RoundRequest::Call(motion) => self.call_vote(now, client, motion),
            RoundRequest::Vote(Ballot::Veto) if !is_staff => Err(Refusal::Off),
            RoundRequest::Vote(Ballot::Veto) => {
                let ended = self.host.votes.end(now, Outcome::Vetoed);
                ended.map(|ended| self.close_vote(now, ended)).ok_or(Refusal::Off)
            }
            RoundRequest::Vote(ballot) => {
                if !self.host.votes.vote(player, ballot) {
                    return Err(Refusal::Off);
                }
                self.tell_poll(now);
                self.watch_vote(now);
                Ok(())
            }
        }
    }

    fn choose_side(&mut self, player: PlayerId, side: u8) -> Result<(), Refusal> {
        let sides = G::KIT.sides;
        if side >= sides.count {
            return Err(Refusal::Off);
        }
        let Place { group, side: own } =
            (sides.of)(&self.world.entities, player).ok_or(Refusal::Off)?;
        if own == side {
            return Ok(());
        }
        let [(people, bots), (own_people, own_bots)] =
            [side, own].map(|side| self.on_side(Place { group, side }));
        // People count alone; bots make room.
        if people.len() + 1 > own_people.len() {
            return Err(Refusal::Uneven);
        }
        let all = people.len() + bots.len();
        let is_heavy = all + 1 > own_people.len() + own_bots.len();
        let bot = bots.last().copied();
        let (game, world) = (&self.game, &mut self.world);
        let mut put = |exchange| (sides.put)(game, world, player, side, exchange);
        let done = (!is_heavy && put(None)) || (bot.is_some() && put(bot));
        // Without a bot a side may be one more than the other.
        if !(done || people.len() < own_people.len() && put(None)) {
            return Err(Refusal::Uneven);
        }
        self.world.snap();
        Ok(())
    }

    /// People and bots on a side.
    fn on_side(&self, place: Place) -> (Vec<PlayerId>, Vec<PlayerId>) {
        let is_there =
            |player: &PlayerId| (G::KIT.sides.of)(&self.world.entities, *player) == Some(place);
        let people = self.members.values().map(|seated| seated.member.player);
        (people.filter(is_there).collect(), self.bots.keys().copied().filter(is_there).collect())
    }

    /// Evens out people between sides; bots go the other way.
    fn balance_sides(&mut self) {
        let sides = G::KIT.sides;
        let places = self.members.values().filter_map(|seated| {
            (sides.of)(&self.world.entities, seated.member.player).map(|place| place.group)
        });
        let groups: std::collections::BTreeSet<u16> = places.collect();
        for group in groups {
            // Each move takes two off the difference, so it ends.
            for _ in 0..self.members.len() {
                let mut all: Vec<_> = (0..sides.count)
                    .map(|side| (side, self.on_side(Place { group, side })))
                    .collect();
                all.sort_by_key(|(_, (people, _))| people.len());
                let (Some((to, (few, bots))), Some((_, (many, _)))) = (all.first(), all.last())
                else {
                    break;
                };
                let Some(mover) = many.last().filter(|_| many.len() > few.len() + 1) else { break };
                let exchange = bots.last().copied();
                if !(sides.put)(&self.game, &mut self.world, *mover, *to, exchange) {
                    break;
                }
            }
        }
        self.world.snap();
    }

    /// Deals people to sides anew: each changes places with somebody at random.
    fn shuffle_sides(&mut self) {
        let sides = G::KIT.sides;
        let mut people = self.people();
        for at in (1..people.len()).rev() {
            let other = self.world.random.below(at as u32 + 1) as usize;
            people.swap(at, other);
        }
        for pair in people.chunks_exact(2) {
            let places = [0, 1].map(|at| (sides.of)(&self.world.entities, pair[at]));
            if let [Some(a), Some(b)] = places
                && (a.group, a.side) != (b.group, b.side)
            {
                (sides.put)(&self.game, &mut self.world, pair[0], b.side, Some(pair[1]));
            }
        }
        self.world.snap();
    }

    fn call_vote(
        &mut self,
        now: LocalTime,
        client: ClientId,
        motion: Motion,
    ) -> Result<(), Refusal> {
        let config = &self.host.config;
        if !config.votes.allow(&motion) || self.host.draining.is_some() {
            return Err(Refusal::Off);
        }
        let mut target = None;
        match &motion {
            Motion::Game(name) if *name == G::NAME || !config.games.contains(name) => {
                return Err(Refusal::Off);
            }
            Motion::Game(_) => {}
            Motion::Kick(player) => {
                let mut members = self.members.iter();
                let found = members.find(|(_, seated)| seated.member.player == *player);
                let member = found.filter(|(at, it)| **at != client && !it.member.is_staff);
                target = Some(member.ok_or(Refusal::Protected)?.1.member.key);
            }
            Motion::MoreTime => {
                let clock = (G::KIT.clock)(&self.world).ok_or(Refusal::Off)?;
                if clock.part != RoundPart::Play {
                    return Err(Refusal::Off);
                }
            }
            Motion::Shuffle if G::KIT.sides.count < 2 => return Err(Refusal::Off),
            Motion::Shuffle => {}
        }
        let people = self.people();
        let Some(Seated { member, .. }) = self.members.get(&client) else { return Ok(()) };
        let caller = Caller {
            player: member.player,
            key: member.key,
            present: now - member.joined,
            is_alone: people.len() == 1,
        };
        let name = member.name.clone();
        self.host.votes.call(now, caller, motion.clone(), target, &people)?;
        tracing::info!(
            name: "vote_called",
            player = %caller.player,
            name,
            ?motion,
            "a vote is called"
        );
        self.tell_poll(now);
        self.watch_vote(now);
        Ok(())
    }

    fn tell_poll(&mut self, now: LocalTime) {
        if let Some(poll) = self.host.votes.poll(now, &self.people()) {
            self.tell_players(&notice(RoundNotice::Poll(poll)));
        }
    }

    /// Ends the vote if it is decided, and begins the game that was voted for.
    pub(super) fn watch_vote(&mut self, now: LocalTime) {
        // Without a vote nothing is listed, since this happens in each tick.
        if self.host.votes.running.is_some() {
            let people = self.people();
            if let Some(ended) = self.host.votes.decide(now, &people) {
                self.close_vote(now, ended);
            }
        }
        if let Some((game, _)) = self.host.votes.chosen.take_if(|(_, at)| now >= *at) {
            self.host.tell(Event::Chosen { game });
        }
    }

    fn close_vote(&mut self, now: LocalTime, (running, mut outcome): (Running, Outcome)) {
        let Running { motion, target, .. } = running;
        if outcome == Outcome::Passed && !self.do_as_voted(now, &motion, target) {
            outcome = Outcome::Moot;
        }
        tracing::info!(name: "vote_over", ?motion, ?outcome, "a vote is over");
        self.tell_players(&notice(RoundNotice::Voted { motion, outcome }));
        if self.host.votes.chosen.is_some() {
            self.tell_house();
        }
    }

    /// A vote ends with the game in which it was called.
    pub(super) fn drop_vote(&mut self) {
        self.host.votes.chosen = None;
        if let Some(Running { motion, .. }) = self.host.votes.running.take() {
            self.tell_players(&notice(RoundNotice::Voted { motion, outcome: Outcome::Moot }));
        }
    }

    /// Carries out a motion. Returns false if there is nothing to do any more.
    fn do_as_voted(
        &mut self,
        now: LocalTime,
        motion: &Motion,
        target: Option<crate::identity::PublicKey>,
    ) -> bool {
        match motion {
            Motion::Game(name) => {
                self.host.votes.chosen = Some((name.clone(), now + NEXT_IN));
            }
            Motion::Kick(_) => {
                let Some(key) = target else { return false };
                let span = self.host.votes.put_out(now, key).in_words();
                let text = format!("the players voted you out; you may come back in {span}");
                // Whoever left before it was decided stays out as well.
                let found = self.everybody().filter(|(_, member)| member.key == key);
                for client in found.map(|(client, _)| client).collect::<Vec<_>>() {
                    self.close(client, Disconnect::new(Code::Kicked, text.clone()));
                }
            }
            Motion::MoreTime => {
                let clock = (G::KIT.clock)(&self.world);
                let Some(clock) = clock.filter(|it| it.part == RoundPart::Play) else {
                    return false;
                };
                let more = self.ticks(MORE_TIME);
                (G::KIT.set_ticks_left)(&mut self.world, clock.ticks_left + more);
                self.world.snap();
            }
            Motion::Shuffle => self.shuffle_sides(),
        }
        true
    }

    fn ticks(&self, time: Micros) -> u64 {
        let hz = i64::from(self.host.config.rates.tick_hz);
        u64::try_from(time.0 * hz / 1_000_000).unwrap_or(0).max(1)
    }

    /// Looks after people: round trips, readiness, votes, sides.
    pub(super) fn watch_people(&mut self, now: LocalTime) {
        self.watch_vote(now);
        self.watch_round(now);
        if self.assembly.look_at.is_none_or(|at| now >= at) {
            self.assembly.look_at = Some(now + PRESENCE_INTERVAL);
            self.tell_presence(now, true);
        }
        if self.next_game() != self.assembly.next.as_deref() {
            self.tell_house();
        }
    }

    /// Has a warm-up end early, or wait, and evens out the sides when the play begins.
    fn watch_round(&mut self, now: LocalTime) {
        let Some(clock) = (G::KIT.clock)(&self.world) else { return };
        let before = self.assembly.part.replace(clock.part);
        let is_new = before.is_some_and(|before| before != clock.part);
        if clock.part != RoundPart::WarmUp {
            self.assembly.held_since = None;
            if is_new {
                self.members.values_mut().for_each(|it| it.member.is_ready = false);
                self.tell_presence(now, false);
            }
            if is_new && clock.part == RoundPart::Play && G::KIT.sides.count > 1 {
                self.balance_sides();
            }
            return;
        }
        let ready = self.host.config.ready;
        if ready == ReadyUp::Off {
            return;
        }
        let people = self.present().count();
        let are_ready = self.present().filter(|(_, member)| member.is_ready).count();
        if people == 0 || clock.ticks_left == 0 {
            return;
        }
        let since = *self.assembly.held_since.get_or_insert(now);
        let may_hold = ready == ReadyUp::Wait && now - since < READY_WAIT_MAX;
        let left = clock.ticks_left;
        let left = match are_ready {
            _ if are_ready == people => left.min(self.ticks(ALL_READY)),
            _ if may_hold && are_ready * 2 > people => left.min(self.ticks(MOST_READY)),
            _ if may_hold => left.max(self.ticks(ALL_READY)),
            _ => left,
        };
        if left != clock.ticks_left {
            (G::KIT.set_ticks_left)(&mut self.world, left);
            self.world.snap();
        }
    }

    /// Tells everybody what is new about anybody; of round trips only now and then.
    fn tell_presence(&mut self, now: LocalTime, with_pings: bool) {
        let server_time = self.host.server_time(now);
        let told = &mut self.assembly.told;
        let mut news = Vec::new();
        for seated in self.members.values() {
            let member = &seated.member;
            let before = told.get(&member.player).copied();
            let ping_ms = match before.filter(|_| !with_pings) {
                Some(before) => before.ping_ms,
                None => member
                    .round_trip(server_time)
                    .map_or(0, |it| u16::try_from((it.0 / 1000).max(1)).unwrap_or(u16::MAX)),
            };
            let (is_ready, is_away) = (member.is_ready, member.away_until.is_some());
            let presence = Presence { ping_ms, is_ready, is_away };
            if before.is_none_or(|before| is_news(before, presence)) {
                told.insert(member.player, presence);
                news.push((member.player, presence));
            }
        }
        for some in news.chunks(ROSTER_CHUNK) {
            self.broadcast(&notice(RoundNotice::Presence(some.to_vec())));
        }
    }
}
