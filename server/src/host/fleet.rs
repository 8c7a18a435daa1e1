//! The server as one of a fleet that Agones runs: what Agones is told, and what it orders.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;

use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::wire_hash;
use phaselock_quic::clock::Clock;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::own_address::OwnAddress;
use super::state::{AgonesState, Host};
use crate::agones::{
    Agent, Allocation, Answer, Call, END_MAX, Note, Order, Server, Sidecar, Update, label,
    not_in_force,
};
use crate::author::{Author, Role};
use crate::config::Redirect;

/// Time between looks at the server before its rooms tick, and from then on.
const START_INTERVAL: Duration = Duration::from_millis(20);
const INTERVAL: Duration = Duration::from_millis(250);
/// Maximum orders that wait for the previous one.
const ORDERS_MAX: usize = 4;

/// Runs the connection to Agones. Never returns.
pub(crate) async fn watch_fleet(host: Arc<Host>) {
    match host.facts.agones.clone() {
        Some(sidecar) => Fleet::new(host, sidecar).run().await,
        None => std::future::pending().await,
    }
}

/// Both ends of a channel.
type Channel<T> = (Sender<T>, Receiver<T>);

/// The driver of an [`Agent`].
struct Fleet {
    host: Arc<Host>,
    sidecar: Sidecar,
    agent: Agent,
    begun: Instant,
    answers: Channel<(Call, Answer)>,
    updates: Channel<Update>,
    orders: Sender<Order>,
    applied: Receiver<Result<(), String>>,
    ends: watch::Receiver<bool>,
    own: OwnAddress,
}

impl Fleet {
    fn new(host: Arc<Host>, sidecar: Sidecar) -> Self {
        let agent = Agent::new(sidecar.address().to_owned(), Clock::seed());
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (done, applied) = mpsc::channel(ORDERS_MAX);
        // Orders may take seconds, for which no health check can wait.
        tokio::spawn(Arc::clone(&host).carry_out(taken, done));
        let ends = host.fleet_ends.subscribe();
        Self {
            host,
            sidecar,
            agent,
            begun: Instant::now(),
            answers: mpsc::channel(2),
            updates: mpsc::channel(1),
            orders,
            applied,
            ends,
            own: OwnAddress::default(),
        }
    }

    async fn run(mut self) {
        loop {
            let is_ticking = self.turn();
            let interval = if is_ticking { INTERVAL } else { START_INTERVAL };
            tokio::select! {
                Some((call, answer)) = self.answers.1.recv() => {
                    self.agent.handle_answer(self.begun.elapsed(), &call, answer);
                }
                Some(update) = self.updates.1.recv() => match update {
                    Update::Line(line) => self.agent.handle_line(self.begun.elapsed(), &line),
                    Update::End(why) => self.agent.handle_watch_end(self.begun.elapsed(), &why),
                },
                Some(applied) = self.applied.recv() => self.agent.handle_applied(applied),
                Ok(()) = self.ends.changed() => self.agent.end(self.begun.elapsed()),
                () = sleep(interval) => {}
            }
        }
    }

    /// Passes on what is new in both directions. Returns whether the rooms tick.
    fn turn(&mut self) -> bool {
        let now = self.begun.elapsed();
        let server = self.host.as_seen_by_agones();
        let is_ticking = server.is_ticking;
        self.agent.handle_server(now, server);
        if self.agent.poll_watch(now) {
            self.sidecar.watch(self.updates.0.clone());
        }
        while let Some(call) = self.agent.poll_call(now) {
            let (sidecar, answers) = (self.sidecar.clone(), self.answers.0.clone());
            tokio::spawn(async move {
                let (of_call, asked) = (call.clone(), call);
                let answer = spawn_blocking(move || sidecar.call(&of_call)).await;
                let answer = answer.unwrap_or_else(|panic| Err(panic.to_string().into()));
                // Fails at the end.
                let _ = answers.send((asked, answer)).await;
            });
        }
        while let Ok(permit) = self.orders.try_reserve() {
            let Some(order) = self.agent.poll_order() else { break };
            permit.send(order);
        }
        while let Some(note) = self.agent.poll_note() {
            log(note);
        }
        let state = AgonesState {
            state: self.agent.state(),
            problem: self.agent.problem(),
            has_ended: self.agent.has_ended(now),
        };
        self.own.follow(&self.host, self.agent.address());
        self.host.agones_state.send_if_modified(|before| {
            let is_new = *before != state;
            *before = state;
            is_new
        });
        is_ticking
    }
}

fn log(note: Note) {
    match note {
        Note::Failing(problem) => {
            tracing::warn!(
                name: "agones_failing",
                problem,
                "the integration with Agones is failing"
            );
        }
        Note::Recovered => {
            tracing::info!(name: "agones_recovered", "the integration with Agones works again");
        }
        Note::State { state, address } => {
            tracing::info!(name: "agones_state", state, address, "the state in Agones has changed");
        }
        Note::Unknown(names) => tracing::warn!(
            name: "agones_annotation_unknown",
            names,
            "ignored annotations of an allocation, which sets game, rooms, password and players"
        ),
        Note::Missing(kind, name) => tracing::info!(
            name: "agones_count_missing",
            kind,
            count = name,
            "Agones does not let the server set this; if you allocate by it, define it in the Fleet"
        ),
    }
}

/// Returns the author of what Agones orders.
fn agones() -> Author {
    Author { name: "Agones".into(), role: Role::Admin }
}

impl Host {
    /// Returns the server's state in Agones, if Agones is on.
    pub(crate) fn agones_state(&self) -> Option<AgonesState> {
        self.facts.agones.as_ref().map(|_| self.agones_state.borrow().clone())
    }

    /// Tells Agones that the server is done, which takes up to 10 s.
    pub(crate) async fn leave_fleet(&self) {
        if self.facts.agones.is_none() {
            return;
        }
        let mut state = self.agones_state.subscribe();
        self.fleet_ends.send_replace(true);
        // The agent waits for less time, unless its thread is stuck.
        let _ = timeout(END_MAX + Duration::from_secs(2), state.wait_for(|it| it.has_ended)).await;
    }

    /// Returns what Agones is told of the server.
    fn as_seen_by_agones(&self) -> Server {
        let rooms = self.handle.rooms();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let away = rooms.iter().flat_map(|room| &room.measured.players);
        let away = count(away.filter(|player| player.is_away).count());
        let taken = count(rooms.iter().map(|room| room.seats_taken).sum());
        let config = self.config.borrow();
        let play = &config.play;
        let most = count(self.handle.rooms_max().max(rooms.len()));
        let unopened = most - count(rooms.len());
        let seats = rooms.iter().map(|room| u32::from(room.status.players_max)).sum::<u32>();
        let games = self.handle.games();
        let labels = [
            ("game", label(games.first().map_or("", String::as_str))),
            ("version", label(env!("CARGO_PKG_VERSION"))),
            ("protocol", format!("{:016x}", wire_hash())),
        ];
        let annotations = [
            ("name", play.name.clone()),
            ("games", games.join(",")),
            ("fingerprint", self.reloader.fingerprint().to_string()),
            ("players", taken.to_string()),
        ];
        Server {
            is_ticking: self.handle.is_ticking(),
            is_draining: self.handle.draining().is_some(),
            // The measurements are up to a second old.
            present: taken.saturating_sub(away),
            away: away.min(taken),
            seats: seats + unopened * u32::from(play.max_players),
            rooms: count(rooms.iter().filter(|room| room.seats_taken > 0).count()),
            rooms_max: most,
            keys: self.roster().people().map(|person| person.key).collect(),
            keep_secs: play.resume_seconds,
            empty_secs: config.operation.agones_empty_seconds,
            labels: BTreeMap::from(labels),
            annotations: BTreeMap::from(annotations),
        }
    }

    /// Carries out orders, one after the other.
    async fn carry_out(
        self: Arc<Self>,
        mut orders: Receiver<Order>,
        applied: Sender<Result<(), String>>,
    ) {
        while let Some(order) = orders.recv().await {
            match order {
                Order::Apply(allocation) => {
                    let done = self.apply(&allocation).await;
                    // Fails at the end.
                    let _ = applied.send(done).await;
                }
                Order::Close => self.gate.close(true),
                Order::Release => self.release().await,
                Order::Expect(keys) => self.handle.expect(keys),
                Order::Stop => self.stop_empty().await,
            }
        }
    }

    /// Applies the settings of an allocation, or none if one is invalid: then no one can join if
    /// there should be a password, or was one. The error may also be about a room that keeps its
    /// game.
    async fn apply(&self, allocation: &Allocation) -> Result<(), String> {
        let before = std::mem::take(&mut *self.of_allocation());
        let password = allocation.password.as_ref().map(|it| &*it.0);
        let is_private = password.is_some() || before.contains(&"password");
        if is_private {
            self.gate.close(true);
        }
        for (name, value) in [("game", allocation.game.as_deref()), ("password", password)] {
            // What stays the same is not reset in between.
            if value.is_none() && !before.contains(&name) {
                continue;
            }
            // A setting may be in force although it could not be recorded.
            self.of_allocation().extend(value.map(|_| name));
            if let Err(error) = self.set_setting(&agones(), name, value).await {
                self.of_allocation().extend(before);
                self.unset().await;
                return Err(not_in_force(is_private, &error.to_string()));
            }
        }
        self.gate.close(false);
        self.handle.limit_rooms(allocation.rooms);
        if allocation.game.is_some() {
            let games = self.handle.games();
            let rooms = self.handle.rooms().into_iter().map(|room| room.status);
            for room in rooms.filter(|room| !games.contains(&room.game)) {
                let game = games.first().map(String::as_str);
                let played = self.play(&agones(), game, Some(room.code.as_str())).await;
                played.map_err(|error| format!("room {} keeps its game: {error}", room.code))?;
            }
        }
        Ok(())
    }

    /// Ends what an allocation has set.
    async fn release(&self) {
        self.unset().await;
        self.gate.close(false);
    }

    /// Unsets what an allocation has set. What a host had set at run time before does not return.
    async fn unset(&self) {
        self.handle.limit_rooms(None);
        let names = std::mem::take(&mut *self.of_allocation());
        for name in names {
            if let Err(error) = self.set_setting(&agones(), name, None).await {
                tracing::debug!(%error, name, "cannot unset what an allocation has set");
            }
        }
    }

    /// Returns the names of the settings that the allocation has set.
    fn of_allocation(&self) -> std::sync::MutexGuard<'_, Vec<&'static str>> {
        self.of_allocation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the server, in which no one has played for long.
    async fn stop_empty(&self) {
        let text = "no one has played here for long, so the server shuts down; join another one";
        let config = Arc::clone(&self.config.borrow());
        // A browser that joins at the last moment may be unable to follow: to learn the digests,
        // this server would have to ask the other one.
        let goodbye = Disconnect::new(Code::Draining, text);
        let goodbye = Redirect::on(config.joining.redirect.as_ref(), goodbye);
        if let Err(error) = self.drain_as(&agones(), false, goodbye, Micros::from_ms(1000)).await {
            tracing::warn!(name: "agones_stop_failed", %error, "cannot stop; trying again");
        }
    }
}
