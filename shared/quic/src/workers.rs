//! Threads on which a room packs its snapshots.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::available_parallelism;

use phaselock::server::{Job, Workers};
use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The maximum number of threads by default.
const THREADS_MAX: usize = 64;

/// Threads that wait for work, in addition to the one that has it.
#[derive(Debug)]
pub struct Pool {
    count: usize,
    /// `None` for only the calling thread; unset until work is first shared.
    others: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    /// Creates a pool with this number of threads, including the caller's: 1 or more. Fails if the
    /// system cannot start them.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let others = OnceLock::from(Self::start(threads)?);
        Ok(Self { count: threads.max(1), others })
    }

    /// Creates the default pool of a server: one thread for each processor if `room_threads` is 0
    /// or 1, otherwise only the caller's. The threads start when a room first has enough players to
    /// share the work. If the system cannot start them, the caller works alone and the log says so.
    pub fn for_rooms(room_threads: u16) -> Self {
        let processors = || available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let count = if room_threads > 1 { 1 } else { processors() };
        Self { count, others: OnceLock::new() }
    }

    /// Starts the threads besides the caller's, if there should be any.
    fn start(threads: usize) -> Result<Option<ThreadPool>, ThreadPoolBuildError> {
        let name = |number| format!("snapshots-{number}");
        let build = |others| ThreadPoolBuilder::new().num_threads(others).thread_name(name).build();
        threads.checked_sub(1).filter(|others| *others > 0).map(build).transpose()
    }

    fn others(&self) -> Option<&ThreadPool> {
        let start = || {
            Self::start(self.count).unwrap_or_else(|error| {
                tracing::warn!(
                    name: "snapshot_threads_missing",
                    %error,
                    "cannot start threads for snapshots; packing on one"
                );
                None
            })
        };
        self.others.get_or_init(start).as_ref()
    }
}

impl Workers for Pool {
    fn count(&self) -> usize {
        self.count
    }

    fn run<'a>(&self, jobs: Vec<Job<'a>>) {
        let left = Mutex::new(jobs.into_iter());
        let work = || {
            // The lock is only held while taking the next job.
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(job) = next() {
                job();
            }
        };
        match self.others() {
            None => work(),
            Some(others) => others.in_place_scope(|scope| {
                for _ in 0..others.current_num_threads() {
                    scope.spawn(|_| work());
                }
                work();
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_job_runs_once_on_any_number_of_threads() {
        let made = [0, 1, 2, 5].map(|threads| Pool::new(threads).expect("threads"));
        let counts = made.each_ref().map(Workers::count);
        assert_eq!(counts, [1, 1, 2, 5]);
        assert_eq!(Pool::for_rooms(2).count(), 1, "rooms have the processors");
        for pool in made.into_iter().chain([Pool::for_rooms(1), Pool::for_rooms(2)]) {
            for count in [0, 1, 3, 100] {
                let done = AtomicUsize::new(0);
                let job = || {
                    Box::new(|| {
                        done.fetch_add(1, Ordering::Relaxed);
                    }) as Job<'_>
                };
                pool.run((0..count).map(|_| job()).collect());
                assert_eq!(done.into_inner(), count);
            }
        }
    }
}
