//! Games and drains: orders to the rooms.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use phaselock::limits::RESUME_MAX;
use phaselock::server::Command;
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::one_line;
use phaselock_quic::server::OrderError;

use super::acts::{failure, room_code};
use super::state::{AuditEntry, Host, done};
use crate::api::Drain;
use crate::author::{Author, Right};
use crate::config::{self, Redirect};
use crate::error::ActError;
use crate::people::redirected;
use crate::store::Written;
use crate::time::{BadSpan, parse_span};

/// Default time until a draining server stops.
const DRAIN_DEFAULT: Micros = Micros::from_ms(300_000);

impl Host {
    /// Switches to another game, or restarts the current one (`None`), in one room or in all.
    pub(crate) async fn play(
        &self,
        by: &Author,
        game: Option<&str>,
        room: Option<&str>,
    ) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let code = room_code(room)?;
        let played = self.handle.play(code.as_ref(), game).await;
        let act = if game.is_some() { "game" } else { "round" };
        let whom = code.map(|code| format!("room {code}"));
        let details: Vec<_> = game.map(str::to_owned).into_iter().chain(failure(&played)).collect();
        let detail = Some(details.join("; ")).filter(|detail| !detail.is_empty());
        let entry = AuditEntry { whom, detail, ..AuditEntry::of(act) };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        played?;
        let text =
            game.map_or("the game starts again".into(), |game| format!("now playing {game}"));
        Ok(done(text, written))
    }

    /// Lets no one join, and stops the server at the end of the round or when the time is up.
    pub(crate) async fn drain(&self, by: &Author, request: &Drain) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        let within = drain_time(request.within.as_deref())?;
        let must_be = |what: &str, text: &str, rule: String| {
            ActError::Bad(format!("the {what} is {text:?}, but must be {rule}"))
        };
        let config = Arc::clone(&self.config.borrow());
        let redirect = match &request.redirect {
            None => config.joining.redirect.clone(),
            Some(text) => {
                let target = Redirect::parse(text);
                Some(target.map_err(|rule| must_be("redirect", text, rule))?)
            }
        };
        // A blank goodbye counts as none.
        let given = request.text.as_ref().filter(|text| !one_line(text).trim().is_empty());
        let text = match given {
            Some(text) => {
                config::parse_line(text).map_err(|rule| must_be("goodbye", text, rule))?
            }
            None => format!(
                "the server shuts down after this round, or in {} at the latest",
                within.in_words()
            ),
        };
        let there = redirect.as_ref();
        let there = there.map(|to| format!("; players are sent to {}", to.address));
        let goodbye = Disconnect::new(Code::Draining, text);
        let goodbye = redirected(redirect.as_ref(), &config, goodbye).await;
        // A server that a person drains stays down, even if it was about to restart.
        let written = self.drain_as(by, false, goodbye, within).await?;
        let done_text = format!(
            "the server is draining: no one can join, and it stops in {} at the latest{}",
            within.in_words(),
            there.unwrap_or_default()
        );
        Ok(done(done_text, written))
    }

    /// Drains the server for good or for a restart. Another drain replaces a restart.
    pub(super) async fn drain_as(
        &self,
        by: &Author,
        restarts: bool,
        goodbye: Disconnect,
        within: Micros,
    ) -> Result<Written, ActError> {
        let entry = AuditEntry {
            act: if restarts { "restart" } else { "drain" },
            whom: goodbye.redirect.clone(),
            why: Some(goodbye.text.clone()),
            detail: Some(format!("within {} s", within.as_secs())),
        };
        // Whatever is recorded and logged comes first, since an empty server ends at once.
        let written = self.record(by, entry, Vec::new())?.done().await?;
        // Another drain may have begun meanwhile, or an order to stop have come.
        if restarts && self.ends() {
            return Err(ActError::Conflict("the server is already draining".into()));
        }
        self.facts.is_restarting.store(restarts, Ordering::Relaxed);
        if restarts {
            tracing::info!(name: "restart_begun", "a scheduled restart begins");
        }
        self.gate.exits().begin(restarts);
        match self.handle.command(Command::Drain { goodbye, within, restarts }).await {
            Err(OrderError::Stopped) | Ok(()) => Ok(written),
            Err(error) => {
                if self.handle.draining().is_none() {
                    self.facts.is_restarting.store(false, Ordering::Relaxed);
                }
                Err(error.into())
            }
        }
    }

    /// Cancels a drain.
    pub(crate) async fn undrain(&self, by: &Author) -> Result<String, ActError> {
        by.needs(Right::Manage)?;
        if self.handle.draining().is_none() {
            return Err(ActError::Conflict("the server is not draining".into()));
        }
        if self.facts.is_stopping.load(Ordering::Relaxed) {
            let text = "the process received a signal to stop; this cannot be cancelled, since \
                        its sender waits for the end";
            return Err(ActError::Conflict(text.into()));
        }
        let undrained = self.handle.command(Command::Undrain).await;
        // Otherwise it came too late, and a restart remains a restart.
        if self.handle.draining().is_none() {
            self.facts.is_restarting.store(false, Ordering::Relaxed);
        }
        let entry = AuditEntry { detail: failure(&undrained), ..AuditEntry::of("undrain") };
        let written = self.record(by, entry, Vec::new())?.done().await?;
        undrained?;
        Ok(done("the drain was cancelled; the server keeps running".into(), written))
    }
}

/// Parses the longest time until a draining server stops.
fn drain_time(text: Option<&str>) -> Result<Micros, ActError> {
    let Some(text) = text else { return Ok(DRAIN_DEFAULT) };
    let within = match parse_span(text) {
        Err(BadSpan::Long) => None,
        within => within?.map(|secs| Micros::from_ms(secs.saturating_mul(1000))),
    };
    within.filter(|within| *within <= RESUME_MAX).ok_or_else(|| {
        let most = RESUME_MAX.in_words();
        ActError::Bad(format!("a server drains for at most {most}, and {text} is longer"))
    })
}
