//! Counts what a piece of code allocates.

use allocation_counter::AllocationInfo;

/// Runs a function. Returns its result, the number of this thread's allocations meanwhile
/// (`count_total`), their bytes in total (`bytes_total`; each growth counts in full) and the
/// maximum at once (`bytes_max`).
pub(crate) fn allocations<T>(run: impl FnOnce() -> T) -> (T, AllocationInfo) {
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(run()));
    (result.expect("it ran"), info)
}

#[test]
fn allocations_are_counted() {
    let (_, none) = allocations(|| 2 + 2);
    assert_eq!((none.count_total, none.bytes_total), (0, 0));
    let (vec, some) = allocations(|| {
        drop(std::hint::black_box(vec![0_u8; 1000]));
        vec![0_u8; 500]
    });
    assert_eq!((some.count_total, some.bytes_total, some.bytes_max), (2, 1500, 1000));
    drop(vec);
}
