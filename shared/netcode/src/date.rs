//! Dates of Unix times, in UTC, as people read them. Any number of seconds has one.

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Returns date and time of a Unix time in seconds, for the name of a file: `2026-11-23-104005`.
pub fn file_time(unix: i64) -> String {
    let secs = unix.rem_euclid(DAY);
    format!("{}-{:02}{:02}{:02}", day(unix), secs / 3600, secs / 60 % 60, secs % 60)
}

/// Returns date and time of a Unix time in seconds, to the minute: `2026-11-23 10:40 UTC`.
pub fn date(unix: i64) -> String {
    let secs = unix.rem_euclid(DAY);
    format!("{} {:02}:{:02} UTC", day(unix), secs / 3600, secs / 60 % 60)
}

/// Returns the date of a Unix time in seconds: `2026-11-23`.
pub fn day(unix: i64) -> String {
    let (year, month, day) = civil(unix.div_euclid(DAY));
    format!("{year}-{month:02}-{day:02}")
}

/// Returns the Gregorian date of a day since 1970. Computed with years that begin in March, so that
/// the leap day is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097; // days in 400 years
    let since = days.saturating_add(719_468); // from 0000-03-01
    let (era, day) = (since.div_euclid(ERA), since.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(file_time(0), "1970-01-01-000000");
        assert_eq!(file_time(951_782_399), "2000-02-28-235959");
        assert_eq!(file_time(951_782_400), "2000-02-29-000000");
        assert_eq!(file_time(4_102_444_801), "2100-01-01-000001");
        assert_eq!(file_time(-1), "1969-12-31-235959");
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_430_400), "2026-11-23 10:40 UTC");
        assert_eq!(date(-1), "1969-12-31 23:59 UTC");
        // A file may say anything.
        assert!(date(i64::MAX).ends_with(" UTC") && date(i64::MIN).ends_with(" UTC"));
    }
}
