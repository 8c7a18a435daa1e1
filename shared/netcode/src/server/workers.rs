//! Threads that a room may share its work out to.

use std::fmt::Debug;

/// A part of the work.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Threads that share work. The engine has none of its own: a driver that has threads lends them.
/// The result is the same for any number of them.
pub trait Workers: Debug + Send + Sync {
    /// Number of jobs that run at the same time: 1 or more.
    fn count(&self) -> usize;

    /// Runs all jobs, in any order, and returns when all are done.
    fn run<'a>(&self, jobs: Vec<Job<'a>>);
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Workers for Alone {
    fn count(&self) -> usize {
        1
    }

    fn run<'a>(&self, jobs: Vec<Job<'a>>) {
        jobs.into_iter().for_each(|job| job());
    }
}

/// Parts for each worker, so that one that is held up does not hold up the rest. Arbitrary.
const PARTS_EACH: usize = 4;

/// Does something with each item, on all workers. Returns what that adds, in the order of the
/// items.
pub(super) fn flat_map<T: Send, R: Send>(
    workers: &dyn Workers,
    mut items: Vec<T>,
    each: impl Fn(T, &mut Vec<R>) + Sync,
) -> Vec<R> {
    let parts = if workers.count() > 1 { workers.count() * PARTS_EACH } else { 1 };
    let size = items.len().div_ceil(parts).max(1);
    let mut first = Vec::with_capacity(items.len().min(size));
    if items.len() <= size {
        items.into_iter().for_each(|item| each(item, &mut first));
        return first;
    }
    let mut results: Vec<Vec<R>> = Vec::new();
    results.resize_with(items.len().div_ceil(size), || Vec::with_capacity(size));
    let each = &each;
    let jobs = results.iter_mut().rev().map(|result| {
        let part = items.split_off((items.len() - 1) / size * size);
        Box::new(move || part.into_iter().for_each(|item| each(item, result))) as Job<'_>
    });
    let jobs = jobs.collect();
    workers.run(jobs);
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Threads(usize);

    impl Workers for Threads {
        fn count(&self) -> usize {
            self.0
        }

        fn run<'a>(&self, jobs: Vec<Job<'a>>) {
            std::thread::scope(|scope| {
                for job in jobs {
                    scope.spawn(job);
                }
            });
        }
    }

    #[test]
    fn results_keep_their_order_for_any_number_of_workers() {
        for len in [0, 1, 2, 7, 8, 9, 100] {
            let want: Vec<_> = (0..len).map(|n| n * n).collect();
            for workers in [&Alone as &dyn Workers, &Threads(1), &Threads(2), &Threads(7)] {
                let each = |n, squares: &mut Vec<_>| squares.push(n * n);
                let squares = flat_map(workers, (0..len).collect(), each);
                assert_eq!(squares, want, "{len}, {workers:?}");
            }
        }
    }
}
