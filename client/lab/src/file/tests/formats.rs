//! One motion in the formats of other programs: it reads the same, or the error says what to
//! change.

use std::fmt::Write as _;

use super::{MotionFile, Point, read};

/// A curve of three segments, 50 ms from point to point; with as many digits as other programs
/// write.
fn points() -> Vec<Point> {
    let point = |at: u32| {
        let turn = f64::from(at) * 0.1;
        let round = |value: f64| (value * 1e4).round() / 1e4;
        let time = f64::from(at * 50) / 1000.0;
        let [x, y] = [turn.cos() * 10.0, (turn * 1.3).sin() * 6.0].map(round);
        Point { time, x, y, segment: at / 40 }
    };
    (0..120).map(point).collect()
}

/// The motion with a line for each point and something before, between and after them.
fn text([head, between, tail]: [&str; 3], line: impl Fn(&Point) -> String) -> String {
    let lines: Vec<_> = points().iter().map(line).collect();
    format!("{head}{}{tail}", lines.join(between))
}

fn csv(head: &str, line: impl Fn(&Point) -> String) -> String {
    text([&format!("{head}\n"), "\n", "\n"], line)
}

/// A point in CSV with a time in these words.
fn with_time(time: impl Fn(&Point) -> String) -> impl Fn(&Point) -> String {
    move |point| format!("{},{:?},{:?},{}", time(point), point.x, point.y, point.segment)
}

fn motion(text: &str) -> Result<MotionFile, String> {
    read(text.as_bytes()).map_err(|error| error.to_string())
}

/// The date and time of a point, from a moment just before midnight.
fn date(point: &Point, day: &str, (hour, minute): (u32, u32)) -> String {
    let ms = (point.time * 1000.0).round() as u32;
    format!("{day}{hour:02}:{minute:02}:{:02}.{:03}", 50 + ms / 1000, ms % 1000)
}

#[test]
fn one_motion_reads_the_same_from_every_format() {
    const HEAD: &str = "time,x,y,segment";
    let plain = csv(HEAD, with_time(|it| format!("{:?}", it.time)));
    let german = |text: &str| text.replace(',', ";").replace('.', ",");
    let object = |it: &Point| {
        let Point { time, x, y, segment } = it;
        format!("{{\"time\": {time:?}, \"x\": {x:?}, \"y\": {y:?}, \"segment\": {segment}}}")
    };
    let lines = text(["", "\n", "\n"], object);
    let quoted = german(&plain).replace(';', "\";\"").replace('\n', "\"\n\"");
    let quoted = format!("\"{}", quoted.trim_end_matches('"'));
    let ms = |it: &Point| format!("{}", (it.time * 1000.0).round());
    let day = "2026-05-01T";
    for (name, text) in [
        ("plain", plain.clone()),
        ("CRLF", plain.replace('\n', "\r\n")),
        ("CR", plain.replace('\n', "\r")),
        ("a mark, no last line end", format!("\u{feff}{}", plain.trim_end())),
        ("trailing blanks", plain.replace('\n', "  \n")),
        ("trailing cells", plain.replace('\n', ",,\n")),
        ("semicolons", plain.replace(',', ";")),
        ("tabs", plain.replace(',', "\t")),
        ("decimal commas", german(&plain)),
        ("decimal commas and tabs", german(&plain).replace(';', "\t")),
        ("decimal commas in quotes", quoted),
        ("capitals", plain.replace("time,x,y,segment", "Time,X,Y,Segment")),
        ("quotes", plain.replace("time,x,y", "\"time\",\"x\",\"y\"")),
        (
            "other columns",
            csv("frame,time,x,y,segment,note", |it| {
                format!("{},{},\"a, b\"", it.segment, with_time(|it| format!("{:?}", it.time))(it))
            }),
        ),
        ("milliseconds", csv("time_ms,x,y,segment", with_time(ms))),
        (
            "segments as numbers with a point",
            csv(HEAD, |it| format!("{}.0", with_time(|it| format!("{:?}", it.time))(it))),
        ),
        ("dates", csv(HEAD, with_time(|it| date(it, day, (23, 59)) + "Z"))),
        ("dates with blanks", csv(HEAD, with_time(|it| date(it, "2026-05-01 ", (23, 59))))),
        ("dates with offsets", csv(HEAD, with_time(|it| date(it, day, (1, 29)) + "+01:30"))),
        ("timestamps", csv("timestamp,x,y,segment", with_time(|it| date(it, day, (23, 59))))),
        (
            "times and timestamps in milliseconds",
            csv("time,timestamp,x,y,segment", |it| {
                let unix = 1_700_000_000_000.0 + (it.time * 1000.0).round();
                with_time(|it| format!("{:?},{unix}", it.time))(it)
            }),
        ),
        (
            "times and dates of whole seconds",
            csv("time,timestamp,x,y,segment", |it| {
                let date = date(it, day, (23, 59));
                with_time(|it| format!("{:?},{}", it.time, &date[..19]))(it)
            }),
        ),
        ("dates and decimal commas", german(&csv(HEAD, with_time(|it| date(it, day, (23, 59)))))),
        ("objects in lines", lines.clone()),
        ("objects in lines with CRLF", lines.replace('\n', "\r\n")),
        ("objects in lines with CR", lines.replace('\n', "\r")),
        ("objects in lines with a mark", format!("\u{feff}{}", lines.trim_end())),
        ("objects in an array", text(["[", ",", "]"], object)),
        ("objects in an array in lines", text(["[\r\n  ", ",\r\n  ", "\r\n]"], object)),
        (
            "objects with milliseconds",
            text(["", "\n", ""], |it| {
                object(it)
                    .replace(&format!("\"time\": {:?}", it.time), &format!("\"ms\": {}", ms(it)))
            }),
        ),
        (
            "objects with dates",
            text(["", "\n", ""], |it| {
                let date = format!("\"time\": \"{}\"", date(it, day, (23, 59)));
                object(it).replace(&format!("\"time\": {:?}", it.time), &date)
            }),
        ),
    ] {
        let read = motion(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.points == points(), "{name}: {:?}", &read.points[..2]);
        assert_eq!(read.unit_hint(), None, "{name}");
    }
    // Without segments.
    for (name, text) in [
        ("no header", text(["", "\n", ""], |it| format!("{:?},{:?},{:?}", it.time, it.x, it.y))),
        ("arrays", text(["[", ", ", "]"], |it| format!("[{:?}, {:?}, {:?}]", it.time, it.x, it.y))),
        (
            "arrays in lines",
            text(["", "\n", ""], |it| format!("[{:?}, {:?}, {:?}]", it.time, it.x, it.y)),
        ),
        (
            "arrays with dates in lines",
            text(["", "\n", ""], |it| {
                format!("[\"{}\", {:?}, {:?}]", date(it, day, (23, 59)), it.x, it.y)
            }),
        ),
    ] {
        let read = motion(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let whole: Vec<_> = points().iter().map(|it| Point { segment: 0, ..*it }).collect();
        assert!(read.points == whole, "{name}: {:?}", &read.points[..2]);
    }
}

#[test]
fn what_could_mean_two_things_is_refused_with_what_to_change() {
    let plain = |it: &Point| format!("{:?},{:?},{:?}", it.time, it.x, it.y);
    let values = |it: &Point| format!("\"x\": {:?}, \"y\": {:?}", it.x, it.y);
    let frame = |it: &Point| (it.time * 20.0).round();
    let twice =
        |it: &Point| format!("{:.1},{:?},{:?}", (it.time * 10.0).floor() / 10.0, it.x, it.y);
    for (name, text, expected) in [
        (
            "two times",
            csv("t,time,x,y", |it| format!("{},{}", frame(it), plain(it))),
            "line 1: 't,time,x,y' has several times; rename those that do not belong",
        ),
        (
            "two times in two units",
            csv("t,time_ms,x,y", |it| format!("{},{}", frame(it), plain(it))),
            "line 1: 't,time_ms,x,y' has several times; rename",
        ),
        (
            "two times in objects",
            text(["", "\n", ""], |it| {
                format!("{{\"t\": {}, \"time\": {:?}, {}}}", frame(it), it.time, values(it))
            }),
            "' has several times; rename those that do not belong",
        ),
        (
            "a duplicate key",
            text(["", "\n", ""], |it| {
                format!("{{\"t\": {:?}, {}, \"x\": 7}}", it.time, values(it))
            }),
            "' has x twice; rename the one that does not belong",
        ),
        (
            "times with too few digits",
            csv("time,x,y", twice),
            "line 3: the time 0.0 s is also that of line 2; write times with more digits",
        ),
        (
            "a header of numbers",
            csv("0,1,2", |it| format!("{:?},{:?},{:?}", it.time + 3.0, it.x, it.y)),
            "line 1: '0,1,2' may be a point or a header of numbers; write time,x,y in its place",
        ),
        (
            "a header of numbers with points",
            csv("0.0,1.0,2.0", |it| format!("{:?},{:?},{:?}", it.time + 3.0, it.x, it.y)),
            "line 1: '0.0,1.0,2.0' may be a point or a header of numbers; write time,x,y in its",
        ),
        (
            "a header of numbers with points in quotes",
            csv("\"1.0\";\"2.0\";\"3.0\"", |it| {
                format!("{:?};{:?};{:?}", it.time + 3.0, it.x, it.y)
            }),
            "line 1: '\"1.0\";\"2.0\";\"3.0\"' may be a point or a header of numbers",
        ),
        (
            "a header of numbers and an index without a head",
            csv(",0,1,2", |it| format!("{},{}", frame(it), plain(it))),
            "line 1: ',0,1,2' may be a point or a header of numbers",
        ),
        (
            "a header of numbers in an array",
            text(["[[0, 1, 2],\n", ",\n", "]"], |it| {
                format!("[{:?}, {:?}, {:?}]", it.time + 3.0, it.x, it.y)
            }),
            "line 1: '[0, 1, 2]' may be a point or a header of numbers; remove it, or write",
        ),
        (
            "a header of numbers with points in lines of arrays",
            text(["[1.0,2.0,3.0]\n", "\n", ""], |it| {
                format!("[{:?}, {:?}, {:?}]", it.time + 3.0, it.x, it.y)
            }),
            "line 1: '[1.0,2.0,3.0]' may be a point or a header of numbers; remove it, or write",
        ),
        (
            "numbers of frames beside timestamps",
            csv("t,timestamp,x,y", |it| format!("{},{}", frame(it), plain(it))),
            "line 3: the time and the timestamp disagree: 1.0 s and 0.05 after the first point",
        ),
        (
            "numbers of frames beside timestamps in objects",
            text(["", "\n", ""], |it| {
                format!("{{\"t\": {}, \"timestamp\": {:?}, {}}}", frame(it), it.time, values(it))
            }),
            "line 2: the time and the timestamp disagree: 1.0 s and 0.05 after the first point",
        ),
        (
            "numbers of frames beside Unix time",
            csv("t,timestamp,x,y", |it| {
                format!("{},{:.2},{:?},{:?}", frame(it), 1.7e9 + it.time, it.x, it.y)
            }),
            "line 3: the time and the timestamp disagree: 1.0 s and 0.05 after the first point",
        ),
        (
            "numbers of frames beside dates",
            csv("t,timestamp,x,y", |it| {
                let date = date(it, "2026-05-01T", (23, 59));
                format!("{},{date},{:?},{:?}", frame(it), it.x, it.y)
            }),
            "line 3: the time and the timestamp disagree",
        ),
        (
            "an index without a name",
            csv("0,1,2,3", |it| format!("{},{}", frame(it), plain(it))),
            "line 1: '0,1,2,3' may be a point or a header of numbers",
        ),
        (
            "arrays with a frame's number",
            text(["[", ",\n", "]"], |it| {
                format!("[{}, {:?}, {:?}, {:?}]", frame(it), it.time, it.x, it.y)
            }),
            "line 1: the point '[0, 0.0, 10.0, 0.0]' has more than 3 numbers; write objects",
        ),
        (
            "decimal commas between commas",
            csv("time,x,y", |it| {
                let [time, x, y] =
                    [it.time, it.x, it.y].map(|it| format!("{it:?}").replace('.', ","));
                format!("{time},{x},{y}")
            }),
            "line 2: columns: 6, and only 3 are known; name all of them in a header, and write",
        ),
        (
            "two decimal marks",
            "time;x;y\n0.0;1.5;2\n0.1;1,5;2\n".to_owned(),
            "line 3: x is '1,5', and earlier numbers have a decimal point; write all of them the \
             same way",
        ),
        (
            "times of day",
            "time,x,y\n12:00:00.05,1,2\n12:00:00.10,1,2\n".to_owned(),
            "line 2: the time is '12:00:00.05'; write all times in seconds, or all as dates",
        ),
        (
            "dates and numbers",
            "time,x,y\n2026-05-01T12:00:00Z,1,2\n0.5,1,2\n".to_owned(),
            "line 3: the time is '0.5'; write all times in seconds, or all as dates",
        ),
        (
            "a list for each column",
            "{\"time\": [0, 0.1], \"x\": [1, 2], \"y\": [3, 4]}".to_owned(),
            "line 1: the JSON is an object; write an array of points",
        ),
        (
            "a segment that is gone",
            "{\"t\":0,\"x\":1,\"y\":2,\"segment\":0}\n{\"t\":1,\"x\":1,\"y\":2}".to_owned(),
            "line 2: the point '{\"t\":1,\"x\":1,\"y\":2}' has no segment",
        ),
        (
            "a segment that falls",
            "{\"t\":0,\"x\":1,\"y\":2,\"segment\":1}\r{\"t\":1,\"x\":1,\"y\":2,\"segment\":0}"
                .to_owned(),
            "line 2: the segment is '0', but must be a whole number that never decreases",
        ),
    ] {
        let error = motion(&text).expect_err(name);
        assert!(error.contains(expected), "{name}: {error}");
        assert!(error.contains("write") || error.contains("rename") || name.contains("segment"));
    }
    let utf16: Vec<u8> =
        csv("\u{feff}time,x,y", plain).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = read(&utf16).expect_err("it is no UTF-8").to_string();
    assert_eq!(error, "line 1: the file is in UTF-16 or UTF-32; save it as text in UTF-8");
}

#[test]
fn milliseconds_that_are_not_called_so_get_a_hint() {
    let mut text = String::from("time,x,y\n");
    for point in points() {
        let _ = writeln!(text, "{:?},{:?},{:?}", point.time * 1000.0 + 0.25, point.x, point.y);
    }
    let hint = motion(&text).expect("it is right").unit_hint();
    assert!(hint.is_some_and(|hint| hint.contains("time_ms")), "{hint:?}");
    let text = text.replacen("time", "time_ms", 1);
    assert_eq!(motion(&text).expect("it is right").unit_hint(), None);
}
