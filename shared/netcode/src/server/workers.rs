//! Threads with which a room can share its work.

use std::fmt::Debug;

/// One part of the work.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Threads that share work. The engine has none of its own; a driver may provide them. Results do
/// not depend on their number.
pub trait Workers: Debug + Send + Sync {
    /// Returns how many jobs can run at the same time: 1 or more.
    fn count(&self) -> usize;

    /// Runs all jobs, in any order, and returns when all are done.
    fn run<'a>(&self, jobs: Vec<Job<'a>>);
}

/// Uses only the calling thread.
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

/// Parts per worker, so that one that is delayed does not delay the rest. Arbitrary.
const PARTS_EACH: usize = 4;

/// Up to this number of items, the calling thread does the work: waking another takes as long.
/// Arbitrary.
const ALONE_MAX: usize = 16;

/// Maps each item and concatenates the results in order. More than [`ALONE_MAX`] items are shared
/// among all workers. A single worker needs no extra memory.
pub(super) fn flat_map<T: Send, R: Send>(
    workers: &dyn Workers,
    items: impl Iterator<Item = T>,
    each: impl Fn(T, &mut dyn FnMut(R)) + Sync,
    mut take: impl FnMut(R),
) {
    if workers.count() <= 1 {
        return items.for_each(|item| each(item, &mut take));
    }
    let mut items: Vec<_> = items.collect();
    if items.len() <= ALONE_MAX {
        return items.into_iter().for_each(|item| each(item, &mut take));
    }
    let size = items.len().div_ceil(workers.count() * PARTS_EACH).max(1);
    let mut results: Vec<Vec<R>> = Vec::new();
    results.resize_with(items.len().div_ceil(size), || Vec::with_capacity(size));
    let each = &each;
    let jobs = results.iter_mut().rev().map(|result| {
        let part = items.split_off((items.len() - 1) / size * size);
        Box::new(move || part.into_iter().for_each(|item| each(item, &mut |it| result.push(it))))
            as Job<'_>
    });
    let jobs = jobs.collect();
    workers.run(jobs);
    results.into_iter().flatten().for_each(take);
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
        for len in [0, 1, 2, 15, 16, 17, 18, 100] {
            let want: Vec<_> = (0..len).map(|n| n * n).collect();
            for workers in [&Alone as &dyn Workers, &Threads(1), &Threads(2), &Threads(7)] {
                let mut squares = Vec::new();
                let each = |n, take: &mut dyn FnMut(u32)| take(n * n);
                flat_map(workers, 0..len, each, |square| squares.push(square));
                assert_eq!(squares, want, "{len}, {workers:?}");
            }
        }
    }
}
