//! The end of a visit.

use std::thread::JoinHandle;

use super::Visit;

impl Visit {
    /// Says goodbye on a thread of its own, because that may take a moment.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        let Self { driver, server, .. } = self;
        let goodbye = move || {
            driver.close(reason);
            if let Some(server) = server {
                server.stop(reason);
            }
        };
        // Without a thread both are dropped, which stops them as well.
        std::thread::Builder::new().name("goodbye".into()).spawn(goodbye).ok()
    }

    /// Says goodbye, which the page takes its time for.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        // Whoever left for good takes no seat up again.
        phaselock_web::page::keep_in_tab(&super::seat(), "");
        self.driver.close(reason);
        None
    }
}
