//! Times of scheduled restarts.

use super::*;
use crate::config::RestartTime::{Daily, Every, Weekly};

#[test]
fn restarts_are_daily_weekly_or_every_few_hours() {
    let file = ConfigFile::new("restarts = [\"4:00\", \" MON 04:30 \", \"every 6h\"]");
    let settings = loaded(&["--config", file.path()], &[]);
    assert_eq!(settings.config.operation.restarts, [Daily(240), Weekly(0, 270), Every(6)]);
    let shown = settings.list().into_iter().find(|it| it.setting == "restarts");
    assert_eq!(shown.expect("it is listed").value, "04:00,mon 04:30,every 6h");
    let given = loaded(&["--restarts", "23:59,sun 00:00,every 1000h"], &[]);
    assert_eq!(given.config.operation.restarts, [Daily(1439), Weekly(6, 0), Every(1000)]);
    let none = loaded(&["--config", file.path(), "--restarts", "none"], &[]);
    assert!(none.config.operation.restarts.is_empty());
    assert!(loaded(&[], &[]).config.operation.restarts.is_empty(), "by default there are none");
}

#[test]
fn mistakes_in_restarts_are_told_with_the_rule() {
    let many = ["04:00"; 17].join(",");
    for value in [
        "",
        "04",
        "24:00",
        "04:60",
        "4:0",
        "004:00",
        "-4:00",
        "+4:00",
        "04:00:00",
        "mon",
        "04:00,",
        "monday 04:00",
        "mon  ",
        "every",
        "every h",
        "every 0h",
        "every 1001h",
        "every 6",
        "6h",
        "every -6h",
        "every +6h",
        "every 6.5h",
        "every 6m",
        "none,04:00",
        "04:00 UTC",
        "é 04:00",
        "every 99999h",
        &many,
    ] {
        let error = refused(&[&format!("--restarts={value}")], &[]);
        assert!(error.contains("up to 16 times in UTC such as 04:00"), "{value:?}: {error}");
    }
}

#[test]
fn the_next_moment_is_after_now_and_at_most_a_period_away() {
    const DAY: i64 = 86_400;
    // 2026-11-26, a Thursday, and 2000-02-29, a Tuesday.
    for (midnight, today) in [(1_795_651_200, 3), (951_782_400, 1)] {
        assert_eq!(Daily(240).next_after(midnight), Some(midnight + 4 * 3600));
        assert_eq!(Daily(240).next_after(midnight + 4 * 3600 - 1), Some(midnight + 4 * 3600));
        assert_eq!(Daily(240).next_after(midnight + 4 * 3600), Some(midnight + DAY + 4 * 3600));
        assert_eq!(Daily(0).next_after(midnight), Some(midnight + DAY));
        for day in 0..7_u8 {
            let ahead = (i64::from(day) - today).rem_euclid(7);
            let next = Weekly(day, 1).next_after(midnight);
            assert_eq!(next, Some(midnight + ahead * DAY + 60), "{day}");
            let next = next.expect("a date");
            assert_eq!(Weekly(day, 1).next_after(next), Some(next + 7 * DAY));
        }
    }
    assert_eq!(Every(6).next_after(0), None);
    // A clock that was never set.
    assert_eq!(Daily(0).next_after(-1), Some(0));
}
