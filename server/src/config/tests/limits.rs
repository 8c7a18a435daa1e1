//! Values at and beyond their limits.

use super::*;

#[test]
fn values_at_and_beyond_their_limits() {
    let longest = "é".repeat(NAME_CHARS_MAX);
    let pinned = format!("b.example:5#sha256:{}", "0a".repeat(32));
    for (flag, good, bad) in [
        ("--game", &["golf", "a", "2d-golf_x"][..], &["", "Golf", "a b", "é", "../x"][..]),
        ("--bots", &["0", "256"], &["", "257", "-1", "1.5", "many"]),
        ("--max-players", &["1", "1024"], &["0", "1025", "65536"]),
        ("--max-watchers", &["0", "256"], &["257", "-1"]),
        ("--watch-delay-seconds", &["0", "60"], &["61", "-1", "1.5"]),
        ("--tick-hz", &["10", "128"], &["9", "129", "60Hz", ""]),
        ("--snapshot-hz", &["2", "20", "60"], &["0", "1", "25", "61", "120"]),
        (
            "--send",
            &["Rock=every", "Car=adaptive:0.1/0.05, Rock = predictable"],
            &["", "Rock", "=every", "Rock=often", "Rock=every,", "Rock=threshold:-1"],
        ),
        (
            "--link",
            &["mobile", "wifi,seed=3", "delay=9ms"],
            &["", "dsl", "loss=200%", "delay=x", "file:no/such"],
        ),
        ("--data-dir", &[".", "/x y"], &[""]),
        ("--log", &["text", "json"], &["", "JSON", "xml"]),
        (
            "--log-filter",
            &["off", "info,quinn=warn", "info, a::b-c=debug,a[{x}]=trace"],
            &["", " ", "a=loud", "a=b=c", "[", ",,,", "info,", "a b", "=info"],
        ),
        ("--name", &["x", &longest], &["", "  ", "a\nb", "\u{7f}", &format!("{longest}x")]),
        ("--bot-strength", &["easy", "normal", "hard"], &["", "Hard", "3"]),
        ("--votes", &["all", "none", "game", "kick,sides"], &["", "rum", "all,game"]),
        ("--ready-up", &["off", "early", "wait"], &["", "on"]),
        ("--bots-fill", &["true", "false"], &["", "yes"]),
        ("--idle-seconds", &["0", "86400"], &["-1", "86401", ""]),
        ("--sleep-seconds", &["0", "86400"], &["-1", "86401", ""]),
        ("--restarts", &["none", "04:00,sun 23:59,every 6h"], &["", "4", "24:00"]),
        ("--seats-per-address", &["1", "1024"], &["0", "1025"]),
        (
            "--redirect",
            &["b.example", "[::1]:7", &pinned, &format!("phaselock://{pinned}")],
            &["", "a b", "x:0", "[fe80::1%lo]:4433", "b.example#", "b.example#sha256:00"],
        ),
        ("--directories", &["b.example", "[::1]:7,::1"], &["", "a b", "x:0", "x,x", "x,"]),
        ("--announce-port", &["1", "65535"], &["", "0", "65536"]),
        ("--admin-listen", &["off", "4434", "10.0.0.1:1"], &["", "on", "localhost:1"]),
        ("--web", &["off", "4433", "127.0.0.1:0"], &["", "on", "localhost:1"]),
        ("--web-files", &["x"], &[""]),
        (
            "--web-origins",
            &["https://a", "http://[::1]:1,https://b:2"],
            &["", "a", "https://", "https://a/", "https://a b", "ftp://a", "https://a,https://a"],
        ),
        (
            "--web-directory",
            &["none", "https://a", "https://[::1]:1/"],
            &["", "a", "http://a", "https://", "https://a/b", "https://a,https://b"],
        ),
        ("--require-identity", &["true", "false"], &["", "yes", "1"]),
        ("--log-file", &["x"], &[""]),
        ("--seed", &["0", "18446744073709551615"], &["", "-1", "18446744073709551616", "0x10"]),
    ] {
        for value in good {
            serve(&[&format!("{flag}={value}")], &[]);
        }
        for value in bad {
            let error = refused(&[&format!("{flag}={value}")], &[]);
            assert!(
                error.starts_with(&format!("the flag {flag} is {value:?}, but must be ")),
                "{error}"
            );
        }
    }
}
