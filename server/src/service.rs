//! The server as a Windows service, which the system starts, stops and reloads.
//!
//! A process learns that it is a service by connecting to the system's service control manager,
//! which refuses any other process.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Result;
use phaselock::games::Games;
use windows_service::service::{
    ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus, ServiceType,
};
use windows_service::service_control_handler::{
    ServiceControlHandlerResult, ServiceStatusHandle, register,
};
use windows_service::{define_windows_service, service_dispatcher};

use crate::config::Settings;
use crate::error::complain;
use crate::serve;
use crate::signals::{self, Signal};

/// The system ignores the name of a service that has a process of its own.
const NAME: &str = "phaselock";
/// Longest time for goodbyes and for saving the rooms.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// What to serve: the system calls a function without arguments of ours.
static JOB: OnceLock<(Games, Settings)> = OnceLock::new();
/// Where to report the state.
static STATUS: OnceLock<ServiceStatusHandle> = OnceLock::new();

define_windows_service!(entry, main);

/// Serves these games until stopped, as a service if the system started this process as one.
/// Returns the exit status.
pub(crate) fn serve(games: &Games, settings: &Settings) -> Result<u8> {
    let _ = JOB.set((games.clone(), settings.clone()));
    match service_dispatcher::start(NAME, entry) {
        // The service has reported its own status.
        Ok(()) => Ok(0),
        Err(_) => serve::serve(games, settings),
    }
}

/// The life of the service.
fn main(_: Vec<OsString>) {
    let (Ok(status), Some((games, settings))) = (register(NAME, handle), JOB.get()) else { return };
    let _ = STATUS.set(status);
    report(ServiceState::Running, 0);
    let code = serve::serve(games, settings).unwrap_or_else(|error| {
        complain(&format!("phaselock-server: {error:#}"));
        1
    });
    report(ServiceState::Stopped, code);
}

/// Carries out what the system asks for.
fn handle(control: ServiceControl) -> ServiceControlHandlerResult {
    match control {
        ServiceControl::Stop | ServiceControl::Shutdown => {
            report(ServiceState::StopPending, 0);
            signals::request(Signal::Stop);
        }
        ServiceControl::ParamChange => signals::request(Signal::Reload),
        ServiceControl::Interrogate => {}
        _ => return ServiceControlHandlerResult::NotImplemented,
    }
    ServiceControlHandlerResult::NoError
}

/// Tells the system the state of the service. A code other than 0 counts as a failure.
fn report(current_state: ServiceState, code: u8) {
    let is_running = current_state == ServiceState::Running;
    let is_pending = current_state == ServiceState::StopPending;
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
        checkpoint: 0,
        wait_hint: if is_pending { STOP_TIMEOUT } else { Duration::ZERO },
        process_id: None,
    };
    // Without it, only the system's list of services is wrong.
    let _ = STATUS.get().map(|handle| handle.set_service_status(status));
}
