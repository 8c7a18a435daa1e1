//! The server as a Windows service, which the system starts, stops and reloads.
//!
//! A process learns that it is a service by connecting to the system's service control manager,
//! which refuses any other process.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use phaselock::games::Games;
use windows_service::service::{
    ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus, ServiceType,
};
use windows_service::service_control_handler::{
    ServiceControlHandlerResult, ServiceStatusHandle, register,
};
use windows_service::{define_windows_service, service_dispatcher};

use crate::event_log;
use crate::signals::{self, Signal};

/// The system ignores the name of a service that has a process of its own.
const NAME: &str = "phaselock";
/// Longest time for opening the certificate, the database and the saved rooms.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time until the server says how long it takes to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Carries out the command line, and returns the exit status.
type Program = fn(&Games) -> u8;

/// What to run: the system calls a function without arguments of ours.
static JOB: OnceLock<(Games, Program)> = OnceLock::new();
/// Where to report the state.
static STATUS: OnceLock<ServiceStatusHandle> = OnceLock::new();
/// Number of reports that the server is starting or stopping. Windows sees progress as it grows.
static CHECKPOINT: AtomicU32 = AtomicU32::new(0);

define_windows_service!(entry, main);

/// Runs a program with these games, as a service if the system started this process as one. Returns
/// the exit status.
pub(crate) fn run(games: &Games, program: Program) -> u8 {
    let _ = JOB.set((games.clone(), program));
    match service_dispatcher::start(NAME, entry) {
        // The service has reported its own status.
        Ok(()) => 0,
        Err(_) => program(games),
    }
}

/// The life of the service.
fn main(_: Vec<OsString>) {
    let (Ok(status), Some((games, program))) = (register(NAME, handle), JOB.get()) else { return };
    event_log::open();
    let _ = STATUS.set(status);
    report(ServiceState::StartPending, START_TIMEOUT, 0);
    let code = program(games);
    report(ServiceState::Stopped, Duration::ZERO, code);
}

/// Tells the system that the server is up, if it is a service.
pub(crate) fn report_running() {
    report(ServiceState::Running, Duration::ZERO, 0);
}

/// Tells the system that the server is stopping, and how long that may take, if it is a service.
pub(crate) fn report_stopping(within: Duration) {
    report(ServiceState::StopPending, within, 0);
}

/// Carries out what the system asks for. After a stop, Windows sends no more controls, whatever the
/// service accepts; shutdown then comes as a console event, which services get as well.
fn handle(control: ServiceControl) -> ServiceControlHandlerResult {
    match control {
        ServiceControl::Stop => {
            report_stopping(STOP_TIMEOUT);
            signals::request(Signal::Stop);
        }
        ServiceControl::Shutdown => {
            report_stopping(STOP_TIMEOUT);
            signals::request(Signal::StopAtOnce);
        }
        ServiceControl::ParamChange => signals::request(Signal::Reload),
        ServiceControl::Interrogate => {}
        _ => return ServiceControlHandlerResult::NotImplemented,
    }
    ServiceControlHandlerResult::NoError
}

/// Tells the system the state of the service. A code other than 0 counts as a failure.
fn report(current_state: ServiceState, wait_hint: Duration, code: u8) {
    let is_running = current_state == ServiceState::Running;
    let is_pending =
        matches!(current_state, ServiceState::StartPending | ServiceState::StopPending);
    let accepted = ServiceControlAccept::STOP
        | ServiceControlAccept::SHUTDOWN
        | ServiceControlAccept::PARAM_CHANGE;
    let status = ServiceStatus {
        service_type: ServiceType::OWN_PROCESS,
        current_state,
        controls_accepted: if is_running { accepted } else { ServiceControlAccept::empty() },
        exit_code: match code {
            0 => ServiceExitCode::NO_ERROR,
            code => ServiceExitCode::ServiceSpecific(code.into()),
        },
        checkpoint: if is_pending { 1 + CHECKPOINT.fetch_add(1, Ordering::Relaxed) } else { 0 },
        wait_hint,
        process_id: None,
    };
    // Without it, only the system's list of services is wrong.
    let _ = STATUS.get().map(|handle| handle.set_service_status(status));
}
