//! The Windows event log, to which a service reports its errors: nobody reads its standard error.

use std::sync::atomic::{AtomicBool, Ordering};

use winsafe::HEVENTLOG;
use winsafe::co::EVENTLOG;

/// Name under which the system lists the events.
const SOURCE: &str = "phaselock-server";
/// Event id of all our errors. Arbitrary.
const FAILED: u32 = 1;

/// Whether this process is a service.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Directs errors of this process to the event log.
pub(crate) fn open() {
    IS_OPEN.store(true, Ordering::Relaxed);
}

/// Whether errors of this process go to the event log.
pub(crate) fn is_open() -> bool {
    IS_OPEN.load(Ordering::Relaxed)
}

/// Writes an error to the event log, if it is open.
pub(crate) fn report(sentence: &str) {
    if !is_open() {
        return;
    }
    // There is nowhere left to report a failure, such as a full log.
    let _ = HEVENTLOG::RegisterEventSource(None, SOURCE)
        .and_then(|log| log.ReportEvent(EVENTLOG::ERROR_TYPE, 0, FAILED, None, &[sentence], &[]));
}
