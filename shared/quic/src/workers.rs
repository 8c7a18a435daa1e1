//! Threads on which a room packs its snapshots.

use std::sync::{Mutex, PoisonError};

use phaselock::server::{Job, Workers};
use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Threads that wait for work, beside the one that has it.
#[derive(Debug)]
pub struct Pool {
    /// None for the calling thread alone.
    others: Option<ThreadPool>,
}

impl Pool {
    /// So many threads, the caller's included, 1 or more. Fails if the system has no more threads.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let name = |number| format!("snapshots-{number}");
        let build = |others| ThreadPoolBuilder::new().num_threads(others).thread_name(name).build();
        let others = threads.checked_sub(1).filter(|others| *others > 0).map(build);
        Ok(Self { others: others.transpose()? })
    }
}

impl Workers for Pool {
    fn count(&self) -> usize {
        1 + self.others.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    fn run<'a>(&self, jobs: Vec<Job<'a>>) {
        let left = Mutex::new(jobs.into_iter());
        let work = || {
            // The lock is held for as long as it takes to get the next job.
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(job) = next() {
                job();
            }
        };
        match &self.others {
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
        for threads in [0, 1, 2, 5] {
            let pool = Pool::new(threads).expect("threads");
            assert_eq!(pool.count(), threads.max(1));
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
