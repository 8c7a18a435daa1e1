//! Scheduled restarts: players are warned, the server drains, and the program ends with a status
//! that makes its supervisor start it again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use tokio::time::{MissedTickBehavior, interval};

use super::state::{AuditEntry, Host, done};
use crate::author::{Author, Right, Role};
use crate::error::ActError;
use crate::people::redirected;
use crate::schedule::{Schedule, Step};
use crate::time::date;

/// Longest drain if `drain_seconds` is not set. Arbitrary: players were warned.
const DRAIN_DEFAULT_SECS: u32 = 60;

/// Restarts the server at the times of the schedule.
pub(crate) async fn watch_restarts(host: Arc<Host>) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        seconds.tick().await;
        let now = host.clocks.now();
        let times = host.config.borrow().operation.restarts.clone();
        let changed = host.schedule().set(&times, now);
        let looked = host.schedule().look(now);
        for step in changed.into_iter().chain(looked) {
            host.take_step(step).await;
        }
    }
}

impl Host {
    pub(super) fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take_step(&self, step: Step) {
        match step {
            Step::Warn(secs) => {
                let left = Micros::from_ms(60_000 * ((secs + 59) / 60)).in_words();
                tracing::info!(name: "restart_near", left, "a scheduled restart is near");
                self.announce_restart(&format!("the server restarts in {left}")).await;
            }
            Step::CallOff => {
                tracing::info!(name: "restart_called_off", "a scheduled restart was cancelled");
                self.announce_restart("the scheduled restart was cancelled").await;
            }
            Step::Restart => {
                let Err(error) = self.restart().await else { return };
                tracing::warn!(name: "restart_skipped", %error, "a scheduled restart was skipped");
            }
        }
    }

    async fn announce_restart(&self, text: &str) {
        // An empty server needs no line in its audit log.
        if self.handle.rooms().iter().all(|room| room.seats_taken == 0 && room.watchers == 0) {
            return;
        }
        if let Err(error) = self.say(&scheduler(), text, None).await {
            tracing::debug!(%error, "some rooms were not warned of the restart");
        }
    }

    /// Whether the server is draining, or about to stop.
    pub(super) fn ends(&self) -> bool {
        self.handle.draining().is_some() || self.facts.is_stopping.load(Ordering::Relaxed)
    }

    /// Drains the server for a restart, unless it is already draining.
    async fn restart(&self) -> Result<(), ActError> {
        if self.ends() {
            return Err(ActError::Conflict("the server is already draining".into()));
        }
        let config = Arc::clone(&self.config.borrow());
        let redirect = config.joining.redirect.as_ref();
        let secs = Some(config.play.drain_seconds).filter(|secs| *secs > 0);
        let within = Micros::from_ms(1000 * i64::from(secs.unwrap_or(DRAIN_DEFAULT_SECS)));
        // Players who are sent to another server join that one instead.
        let back = if redirect.is_none() { "; you can join again right after" } else { "" };
        let text = format!(
            "the server restarts after this round, or in {} at the latest{back}",
            within.in_words()
        );
        let goodbye = Disconnect::new(Code::Draining, text);
        let goodbye = redirected(redirect, &config, goodbye).await;
        self.drain_as(&scheduler(), true, goodbye, within).await.map(drop)
    }

    /// Skips the next scheduled restart.
    pub(crate) async fn skip_restart(&self, by: &Author) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        if self.facts.is_restarting.load(Ordering::Relaxed) {
            let text = "the server is already restarting; cancel the drain instead (ctl undrain)";
            return Err(ActError::Conflict(text.into()));
        }
        let now = self.clocks.now();
        let (skipped, step, next) = {
            let mut schedule = self.schedule();
            let (skipped, step) = (schedule.next(now), schedule.skip(now));
            (skipped, step, schedule.next(now))
        };
        let (Some(skipped), Some(step), Some(next)) = (skipped, step, next) else {
            let text = "no restart is scheduled; set the times with the setting restarts";
            return Err(ActError::Conflict(text.into()));
        };
        // Players who were warned are notified even if the audit log cannot be written.
        if let Some(step) = step {
            self.take_step(step).await;
        }
        let [skipped, next] = [skipped, next].map(date);
        let entry = AuditEntry { detail: Some(skipped.clone()), ..AuditEntry::of("skip-restart") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        Ok(done(format!("the restart of {skipped} is skipped; the next one is {next}"), written))
    }
}

/// Returns the author of scheduled actions.
fn scheduler() -> Author {
    Author { name: "the schedule".into(), role: Role::Admin }
}
