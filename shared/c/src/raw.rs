//! Pointers from C: what can be checked is checked, and what is read is copied.
#![allow(unsafe_code, reason = "reads and writes the memory that C passes")]

use std::ffi::c_char;

use crate::error::Error;

/// Refuses null, and addresses at which no such value can be.
fn check<T>(pointer: *const T, name: &str) -> Result<(), Error> {
    if pointer.is_null() {
        return Err(Error::argument(format!("{name} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(format!("{name} is not aligned")));
    }
    Ok(())
}

/// Copies `length` values, at most `max`. For a length of 0 the pointer may be null.
///
/// # Safety
///
/// If the pointer is not null and the length at most `max`, that number of values can be read
/// there.
pub(crate) unsafe fn copied<T: Copy>(
    pointer: *const T,
    length: usize,
    max: usize,
    name: &str,
) -> Result<Vec<T>, Error> {
    if length > max {
        return Err(Error::argument(format!("{name} has a length of {length}; at most {max}")));
    }
    if length == 0 {
        return Ok(Vec::new());
    }
    check(pointer, name)?;
    // SAFETY: not null, aligned, and the caller promises the length.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) }.to_vec())
}

/// Copies one value.
///
/// # Safety
///
/// If the pointer is not null, a valid value can be read there.
pub(crate) unsafe fn one<T>(pointer: *const T, name: &str) -> Result<T, Error> {
    check(pointer, name)?;
    // SAFETY: not null, aligned, and the caller promises a valid value.
    Ok(unsafe { pointer.read() })
}

/// Copies a text of at most `max` bytes, which ends with a zero byte.
///
/// # Safety
///
/// If the pointer is not null, `max + 1` bytes can be read there, or all up to a zero byte.
pub(crate) unsafe fn text(pointer: *const c_char, max: usize, name: &str) -> Result<String, Error> {
    check(pointer, name)?;
    let mut bytes = Vec::new();
    loop {
        // SAFETY: all bytes before this one were not zero, and there were at most `max`.
        let byte = unsafe { pointer.add(bytes.len()).cast::<u8>().read() };
        if byte == 0 {
            break;
        }
        if bytes.len() == max {
            return Err(Error::argument(format!("{name} is longer than {max} bytes")));
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| Error::argument(format!("{name} is not UTF-8")))
}

/// Copies a string; returns `None` for null.
///
/// # Safety
///
/// That of [`text`].
pub(crate) unsafe fn optional_text(
    pointer: *const c_char,
    max: usize,
    name: &str,
) -> Result<Option<String>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises the same.
    unsafe { text(pointer, max, name) }.map(Some)
}

/// Writes as many values as fit, and returns how many there are. For a capacity of 0 the pointer
/// may be null.
///
/// # Safety
///
/// If the pointer is not null, `capacity` values can be written there.
pub(crate) unsafe fn fill<T>(
    pointer: *mut T,
    capacity: usize,
    values: impl Iterator<Item = T>,
    name: &str,
) -> Result<i32, Error> {
    if capacity > 0 {
        check(pointer, name)?;
    }
    let mut count: usize = 0;
    for value in values {
        if count < capacity {
            // SAFETY: not null, aligned, and the caller promises the capacity.
            unsafe { pointer.add(count).write(value) };
        }
        count += 1;
    }
    Ok(i32::try_from(count).unwrap_or(i32::MAX))
}

/// Writes one value.
///
/// # Safety
///
/// If the pointer is not null, a value can be written there.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T, name: &str) -> Result<(), Error> {
    check(pointer, name)?;
    // SAFETY: not null, aligned, and the caller promises the rest.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes as much of a text as fits, with a zero byte after it, and returns its length. For a
/// capacity of 0 the pointer may be null.
///
/// # Safety
///
/// If the pointer is not null, `capacity` bytes can be written there.
pub(crate) unsafe fn fill_text(
    pointer: *mut c_char,
    capacity: usize,
    text: &str,
    name: &str,
) -> Result<i32, Error> {
    let clipped = phaselock::wire::text::clip(text, capacity.saturating_sub(1));
    let bytes = clipped.bytes().chain([0]).map(|byte| byte as c_char);
    // SAFETY: the caller promises the same. With a capacity, text and zero byte fit.
    unsafe { fill(pointer, capacity, bytes, name) }?;
    Ok(i32::try_from(text.len()).unwrap_or(i32::MAX))
}
