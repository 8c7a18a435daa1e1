//! Mistakes of programs get their codes, and a sentence.

use std::ffi::CString;
use std::ptr::{null, null_mut};

use phaselock_c::exports::*;
use phaselock_c::layout::*;

use crate::line::{description, detail, load, options};

/// Returns the description with a change.
fn changed(from: &str, to: &str) -> String {
    let text = description();
    assert!(text.contains(from), "{from} is not in {text}");
    text.replacen(from, to, 1)
}

#[test]
fn descriptions_with_mistakes_are_refused_in_a_sentence() {
    let wire = format!("{:016x}", phaselock::wire::protocol::wire_hash());
    for (code, text, words) in [
        (-4, String::new(), "EOF"),
        (-4, "{}".to_owned(), "missing field"),
        (-4, changed("\"kinds\":[", "\"kinds\":[],\"more\":["), "1 to 64 kinds"),
        (-4, changed("\"bits\":16", "\"bits\":0"), "no valid field"),
        (-4, changed("\"bits\":16", "\"bits\":33"), "no valid field"),
        (-4, changed("\"fraction_bits\":8", "\"fraction_bits\":17"), "no valid field"),
        (-4, changed("\"greatest\":65535", "\"greatest\":65536"), "no valid field"),
        (-4, changed("\"min\":-128.0", "\"min\":1e300"), "no valid field"),
        (-4, changed("\"linear\"", "\"sideways\""), "no valid field"),
        (-4, changed("\"linear\"", "\"unit\""), "belong together"),
        (-4, changed("\"moved_by\":null", "\"moved_by\":\"z\""), "unknown field"),
        (-4, changed("\"name\":\"steps\"", "\"name\":\"x\""), "two fields"),
        (-4, changed("\"name\":\"steps\"", "\"name\":\"a b\""), "no name"),
        (-4, changed("\"name\":\"steps\"", "\"name\":\"stops\""), "the hash"),
        (-4, changed("\"game\":\"line\"", "\"game\":\"\""), "no name"),
        (-5, changed(&wire, "0123456789abcdef"), "one release"),
    ] {
        let (found, sentence) = load(&text).expect_err(words);
        assert_eq!(found, code, "{sentence}");
        assert!(sentence.contains(words), "{sentence}");
    }
    // SAFETY: the lengths are refused before anything is read.
    let refused = |text, length| unsafe {
        let mut game = 1;
        (phaselock_load_game(text, length, &raw mut game), game)
    };
    assert_eq!(refused(null(), 10), (-1, 0));
    assert_eq!(refused(c"{}".as_ptr(), usize::MAX), (-1, 0));
    assert_eq!(refused(c"\xff".as_ptr(), 1), (-1, 0));
    assert_eq!(detail(), "the description is not UTF-8");
}

#[test]
fn options_with_mistakes_are_refused_in_a_sentence() {
    let game = load(&description()).expect("a description");
    let (server, name) = (CString::from(c"127.0.0.1:9"), CString::from(c"Eve"));
    let long = CString::new("x".repeat(1000)).expect("no zero");
    let good = || options(game, &server, &name);
    let null = null();
    for (code, options, words) in [
        (-5, JoinOptions { abi: 2, ..good() }, "version 2"),
        (-1, JoinOptions { flags: 4, ..good() }, "flags"),
        (-1, JoinOptions { reserved: 1, ..good() }, "zero"),
        (-2, JoinOptions { game: 0, ..good() }, "handle"),
        (-2, JoinOptions { game: 99, ..good() }, "handle"),
        (-1, JoinOptions { server: null, ..good() }, "server is NULL"),
        (-1, JoinOptions { server: c"a b".as_ptr(), ..good() }, "a b"),
        (-1, JoinOptions { server: c"phaselock://a#sha256:0".as_ptr(), ..good() }, "fingerprint"),
        (-1, JoinOptions { server: long.as_ptr(), ..good() }, "longer than"),
        (-1, JoinOptions { name: null, ..good() }, "name is NULL"),
        (-1, JoinOptions { name: c"\xff".as_ptr(), ..good() }, "name is not UTF-8"),
        (-1, JoinOptions { password: long.as_ptr(), ..good() }, "password is longer"),
        (-1, JoinOptions { room: c"No Code".as_ptr(), ..good() }, "room"),
        (-1, JoinOptions { flags: 2, own_kind: 2, ..good() }, "2 kinds"),
        (-1, JoinOptions { flags: 2, own_kind: -1, ..good() }, "2 kinds"),
        (-1, JoinOptions { own_kind: 1, ..good() }, "PHASELOCK_PREDICT_KIND"),
    ] {
        let mut client = 1;
        // SAFETY: texts and structure live during the call.
        let result = unsafe { phaselock_connect(&raw const options, &raw mut client) };
        assert_eq!((result, client), (code, 0), "{}", detail());
        assert!(detail().contains(words), "{}", detail());
    }
    let mut client = 1;
    // SAFETY: null is refused.
    unsafe {
        assert_eq!(phaselock_connect(null.cast(), &raw mut client), -1);
        assert_eq!(phaselock_connect(&raw const *Box::new(good()), null_mut()), -1);
    }
}

#[test]
fn records_are_found_by_name() {
    let game = load(&description()).expect("a description");
    // SAFETY: texts.
    unsafe {
        assert_eq!(phaselock_field(game, 1, c"steps".as_ptr()), 1);
        assert_eq!(phaselock_field(game, PHASELOCK_INPUT, c"right".as_ptr()), 0);
        assert_eq!(phaselock_field(game, 1, c"right".as_ptr()), -1);
        assert_eq!(detail(), "Walker has no field called 'right'");
        assert_eq!(phaselock_kind(game, c"Rock".as_ptr()), -1);
        assert_eq!(phaselock_kind(game, null()), -1);
    }
    assert_eq!([0, 1, -1].map(|kind| phaselock_field_count(game, kind)), [1, 2, 1]);
    assert_eq!((phaselock_field_count(game, 2), phaselock_field_count(0, 0)), (-1, -2));
}

/// Calls a function when its thread ends.
struct Goodbye;

impl Drop for Goodbye {
    fn drop(&mut self) {
        assert_eq!(phaselock_input_was_used(0), -2);
        assert_eq!(detail(), "");
    }
}

thread_local! {
    static GOODBYE: Goodbye = const { Goodbye };
}

#[test]
fn a_thread_that_is_ending_still_gets_codes() {
    let thread = std::thread::spawn(|| {
        // What is created last is dropped first: the details, and only then the goodbye.
        GOODBYE.with(|_| {});
        assert_eq!(phaselock_input_was_used(0), -2);
        assert!(detail().contains("handle"));
    });
    thread.join().expect("no panic");
}
