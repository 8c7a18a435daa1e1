//! Tests of files as people and programs write them, and of the errors for invalid ones.

use std::fmt::Write as _;

use phaselock::fields::Record;
use phaselock_games::all as games;
use phaselock_games::race::Car;

use super::motion::POINT_BYTES_MAX;
use super::*;
use phaselock::time::Rates;

mod formats;

fn read(bytes: &[u8]) -> Result<MotionFile, FileError> {
    super::read(bytes, &games())
}

fn points(text: &str) -> Vec<(f64, f64, f64)> {
    let motion = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(motion.source.is_none() && motion.values.is_empty());
    motion.points.iter().map(|point| (point.time, point.x, point.y)).collect()
}

fn says(bytes: &[u8]) -> String {
    let sentence = read(bytes).expect_err("it is wrong").to_string();
    assert!(!sentence.contains(char::is_control) && sentence.len() < 250, "{sentence}");
    sentence
}

#[test]
fn tables_are_read_as_people_write_them() {
    let expected = vec![(0.0, 1.0, -2.5), (0.5, 1e3, 0.0)];
    for text in [
        "0,1,-2.5\n0.5,1e3,0",
        "0;1;-2.5\r\n0.5;1e3;0\r\n",
        "0\t1\t-2.5\n\n  \n0.5\t+1000\t-0\n",
        "\u{feff}# from a camera\n\nTime,X,Y\n# lost\n0,1,-2.5\n0.5,1000,0\n",
        "name;y;quality;x;SECONDS\na;-2.5;;1;0\nb;0;7;1000;0.5\n",
        "\"t\",\"x\",\"y\"\n\"0\",\" 1\",-2.5\n0.5,1000,0, ,\n",
        "y,time_ms,x\n-2.5,0,1\n0,500,1000\n",
        "x,y,ms\n1,-2.5,0\n1000,0,500\n",
        "time_ms,x,y,timestamp\n0,1,-2.5,7\n500,1000,0,8\n",
        "[[0,1,-2.5],[0.5,1e3,0]]",
        " \n[ {\"t\": 0, \"x\": 1, \"y\": -2.5, \"z\": [{}]},\n\
         {\"Y\":0,\"Time\":0.5,\"x\":1000.0}]\n",
        "\u{feff}[[0, 1, -2.5, \"left\", null], [0.5, 1000, 0]]",
        "\n{\"t\":0,\"x\":1,\"y\":-2.5}\r\n\n {\"time_ms\":500,\"x\":1e3,\"y\":0,\"z\":[1]}\n",
        "[0,1,-2.5]\n[0.5,1e3,0,\"left\"]\n",
        "t,name,x,y\n0,\"a, b\",1,-2.5\n0.5,\"c\",\"1000\",0\n",
        "[{\"time_ms\": 0, \"x\": 1, \"y\": -2.5}, {\"x\": 1000, \"y\": 0, \"t\": 0.5}]",
        "[{\"x\": 1, \"y\": -2.5, \"ms\": 0, \"z\": 1, \"z\": 2},\n\
         {\"t\": 0.5, \"x\": 1e3, \"y\": 0}]",
        "0;1;-2,5\n0,5;1000,0;-0\n",
    ] {
        assert_eq!(points(text), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, expected) in [
        ("", "line 1: the file is empty"),
        ("\n \r\n\t", "line 1: the file is empty"),
        ("# nothing\n", "line 1: the file has 0 of the 2"),
        ("t,x,y\n0,1,2\n\n", "line 3: the file has 1 of the 2"),
        ("[\n[0,1,2]]", "line 2: the file has 1 of the 2"),
        ("[]", "line 1: the file has 0"),
        ("0,1,2\n1,2\n", "line 2: columns: 2; at least 3"),
        ("name,t,y,x\na,0,1,2\nb,1,2", "line 3: columns: 3; at least 4"),
        ("0,1,2\n1,2,left\n", "line 2: y is 'left', which is not a number"),
        ("0,1,2\n1,,3\n", "line 2: x is '', which is not a number"),
        ("0;1;3\n1;1,5,5;3\n", "line 2: x is '1,5,5', which is not a number"),
        ("0,1,2\nNaN,2,3\n", "line 2: the time is 'NaN'; only finite"),
        ("0,1,2\n1,-inf,3\n", "line 2: x is '-inf'; only finite"),
        ("0,1,2\n1,2,1e999\n", "line 2: y is '1e999'; only finite"),
        ("0,1,2\n1,2,-10000000000001\n", "line 2: y is '-10000000000001', beyond 1e13"),
        (
            "0,1,3\n\n0.5,1,2\n# again\n0.5,1,2\n",
            "line 5: the time 0.5 s is also that of line 3; write times with more digits",
        ),
        (
            "time_ms,x,y\n2,1,2\n1,1,2\n",
            "line 3: the time 0.001 s does not rise above the 0.002 s of line 2",
        ),
        (
            "-1,1,2\n86399.5,1,2\n",
            "line 2: the time 86399.5 s is more than 24 hours after the first, -1.0 s; call it",
        ),
        ("t,x,y\n\"0,5\",1,2\n", "line 2: the time is '0,5', which is not a number"),
        ("0,5,1,25,3,75\n", "line 1: columns: 6, and only 3 are known; name all"),
        ("t,x,y\n0,1,2\n1,1,5,3\n", "line 3: columns: 4, and only 3 are known"),
        ("t,x,X,y\n", "line 1: 't,x,X,y' has x twice; rename"),
        ("t,x,y,segment\n0,1,2,1\n1,1,2,0\n", "line 3: the segment is '0', but must be a whole"),
        ("t,x,y,segment\n0,1,2\n", "line 2: columns: 3; at least 4"),
        (
            "{\"t\":0,\"x\":1,\"y\":2}\n{\"t\":1,\"x\":1}\n",
            "line 2: '{\"t\":1,\"x\":1}' has no y; x, y and one of time",
        ),
        ("{\"t\":0,\"x\":1,\"y\":2}\n{\"t\":1,", "line 2: the JSON breaks off"),
        ("{\"t\":0,\"x\":1,\"y\":2} 7\n", "line 1: this is not valid JSON from column 21 on"),
        ("{\n\"points\": []}", "line 1: the JSON is an object"),
        ("frame,u,v\n0,1,2\n", "line 1: 'frame,u,v' has no time; x, y and"),
        ("# a\ntime,u,v\n", "line 2: 'time,u,v' has no x"),
        ("time,x\n0,1\n", "line 1: 'time,x' has no y"),
        ("<html>\n", "line 1: '<html>' has no time"),
        ("[[0,1,2],\n[1,2", "line 2: the JSON breaks off"),
        ("[[0,1,2],\n[1,2,3]]\n[", "line 3: this is not valid JSON from column 1 on"),
        ("[[0,1,2],\n[1 2]]", "line 2: this is not valid JSON from column 4 on"),
        ("\n{\"points\": []}", "line 2: the JSON is an object"),
        ("[[0,1,2],\n 7]", "line 2: '7' is not a point"),
        ("[[0,1,2],\n\n[1,2]]", "line 3: the point '[1,2]' has no y"),
        ("[[0,1,2],\n{\"x\":1,\"y\":2}]", "line 2: '{\"x\":1,\"y\":2}' has no time"),
        ("[\n{\"t\":0,\n\"x\":\n\"1\",\"y\":2}]", "line 4: x is '\"1\"', which is not a number"),
        ("[[0,1,2],\n[1,null,3]]", "line 2: x is 'null', which is not a number"),
        ("[[0,1,2],\n\n[0,1,3]]", "line 3: the time 0.0 s is also that of line 1"),
        ("# phaselock motion 2: game=race\n", "line 1: this recording has layout '2'"),
        (
            "# phaselock motion 1: game=race ticks=60\n",
            "line 1: the recording's record is missing or invalid",
        ),
        (
            "# phaselock motion 1: game=race record=Car ticks=9\n",
            "line 1: the recording's ticks is missing or invalid",
        ),
        (
            "# phaselock motion 1: game=race record=Car ticks=60 seed=-1\n",
            "line 1: the recording's seed is missing or invalid",
        ),
        (
            "# phaselock motion 1: game=chess record=King ticks=60\n",
            "line 1: this is a recording of 'chess', a game that this program does not have; its \
             games are skirmish",
        ),
        (
            "# phaselock motion 1: game=race record=King ticks=60\n",
            "line 1: 'King' is not a record",
        ),
        (
            "# phaselock motion 1: game=race record=Score ticks=60\n",
            "line 1: 'Score' has no fields x and y",
        ),
        (
            "# phaselock motion 1: game=race record=Car ticks=60\ntime,x,y\n",
            "line 2: column 2 is 'x', and 'segment' in this build",
        ),
        ("# phaselock motion 1: game=race record=Car ticks=60\n\n", "line 2: the file has 0"),
    ] {
        assert!(says(text.as_bytes()).starts_with(expected), "{text:?}: {}", says(text.as_bytes()));
    }
    assert_eq!(
        says(b"0,1,2\n1,\xff,3\n"),
        "line 2: this is not UTF-8; save the file as text in UTF-8"
    );
}

#[test]
fn a_table_may_say_where_the_motion_does_not_go_on() {
    let motion = read(b"segment,t,x,y\n0,0,1,2\n0,1,2,3\n2,2,9,9\n").expect("it is right");
    let segments: Vec<_> = motion.points.iter().map(|point| point.segment).collect();
    assert_eq!(segments, [0, 0, 2]);
    assert_eq!(read(motion.to_text().as_bytes()), Ok(motion));
}

#[test]
fn quotes_are_short_and_harmless() {
    let long = format!("0,1,2\n1,\u{1b}[31m\u{202e}{},3\n", "é".repeat(1000));
    let sentence = says(long.as_bytes());
    assert!(
        sentence.contains("\\u{1b}[31m\\u{202e}ééé") && sentence.contains("...'"),
        "{sentence}"
    );
    assert!(sentence.chars().count() < 120, "{sentence}");
}

#[test]
fn points_of_json_have_a_bound() {
    let long = "0,".repeat(POINT_BYTES_MAX / 2);
    for (text, expected) in [
        (format!("[[0,1,2],\n[{long}0]]"), "line 2: the point '[0,0,"),
        (format!("[0,1,2]\n[{long}0]"), "line 2: the point '[0,0,"),
        (format!("[{long}0]"), "line 1: '0' is not a point"),
        (format!("{{\"all\":[{long}0]}}"), "line 1: the JSON is an object"),
    ] {
        assert!(says(text.as_bytes()).starts_with(expected), "{}", says(text.as_bytes()));
    }
}

#[test]
fn a_motion_has_its_bounds() {
    let mut text = String::new();
    for time in 0..POINTS_MAX {
        writeln!(text, "{:?},1,2", time as f64 / 100.0).expect("a string takes everything");
    }
    assert_eq!(read(text.as_bytes()).map(|motion| motion.points.len()), Ok(POINTS_MAX));
    text.push_str("10000,1,2\n");
    assert!(
        says(text.as_bytes()).starts_with("line 1000001: the file has more than 1000000 points")
    );
    let mut long = b"0,1,2\n".repeat(2);
    long.resize(FILE_BYTES_MAX, b' ');
    // All of it is checked.
    assert!(says(&long).starts_with("line 2: the time 0.0 s is also that of line 1"));
    long.push(b'\n');
    assert!(says(&long).starts_with("line 3: the file is larger than 67108864 bytes"));
}

/// A recording of a car that was put back once.
fn recorded() -> MotionFile {
    let source =
        Source::of("race", games().get("race").expect("it is there").kinds, 0, Rates::DEFAULT, 7)
            .expect("cars move");
    let car = |tick: u16| {
        let t = f32::from(tick);
        Car {
            pedal: -2,
            x: t.sin() * 90.0,
            y: t.cos() * 90.0,
            heading: t / 50.0,
            puts: 1,
            ..Car::default()
        }
    };
    let values: Vec<_> = (0..50).map(|tick| Record::values(&car(tick).snapped())).collect();
    let position =
        |name| source.fields.iter().position(|field| field.is_labelled(name)).expect("it has");
    let (x, y) = (position("x"), position("y"));
    let points = (0_u32..).zip(&values).map(|(tick, values)| Point {
        time: Rates::DEFAULT.time_of(phaselock::time::Tick(u64::from(tick) * 7 + 100)).0 as f64
            / 1e6,
        x: values[x],
        y: values[y],
        segment: tick / 30,
    });
    MotionFile { points: points.collect(), values, source: Some(source) }
}

#[test]
fn a_recording_reads_as_it_was_written() {
    let motion = recorded();
    let text = motion.to_text();
    assert!(text.starts_with(
        "# phaselock motion 1: game=race record=Car ticks=60 seed=7\n\
         time,segment,pedal,turn,hand,held,"
    ));
    assert_eq!(read(text.as_bytes()), Ok(motion.clone()));
    // Spreadsheets, and people who add comments.
    let edited = text.replace('\n', "\r\n").replacen("\r\n", "\r\n# the good part\r\n\r\n", 1);
    assert_eq!(read(format!("\u{feff}{edited}").as_bytes()), Ok(motion.clone()));

    // A file cut off within its last line has all lines before.
    for cut in [1, 4, 60] {
        let cut = read(&text.as_bytes()[..text.len() - cut]).expect("the rest is whole");
        assert_eq!(cut.points, motion.points[..49]);
    }

    let lines: Vec<&str> = text.lines().collect();
    let with = |at: usize, from: &str, to: &str| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines[at] = lines[at].replacen(from, to, 1);
        says(lines.join("\n").as_bytes())
    };
    assert!(
        with(4, ",-2,", ",-99,").starts_with("line 5: pedal is '-99', which the record's field")
    );
    assert!(
        with(4, ",-2,", ",-1.5,").starts_with("line 5: pedal is '-1.5', which the record's field")
    );
    assert!(with(4, ",-2,", ",").starts_with("line 5: columns: "));
    assert!(with(4, ",0,", ",1.5,").starts_with("line 5: the segment is '1.5'"));
    assert!(with(40, ",1,", ",0,").starts_with("line 41: the segment is '0'"));
    assert!(with(1, "heading", "azimuth").contains("is 'azimuth', and 'heading' in this build"));
    assert!(
        with(0, "ticks=60", "ticks=129")
            .starts_with("line 1: the recording's ticks is missing or invalid")
    );
}

#[test]
fn numbers_keep_their_last_bit() {
    let text = "t,x,y\n-0.1,1e-300,123456789.12345679\n0.30000000000000004,-0.0,0.1\n";
    let motion = read(text.as_bytes()).expect("it is good");
    assert_eq!(motion.to_text().replacen("time", "t", 1), text);
    assert_eq!(motion.points[0].x.to_bits(), 1e-300_f64.to_bits());
}

#[test]
fn what_moves_can_be_recorded() {
    let games = games();
    let movers = |game| {
        let kinds = games.get(game).expect("it is known").kinds;
        let sources = (0..).zip(kinds).map(|(kind, table)| {
            Source::of(game, kinds, kind, Rates::DEFAULT, 0).map(|_| table.name)
        });
        sources.flatten().collect::<Vec<_>>()
    };
    assert_eq!(movers("skirmish"), ["Player", "Shell", "Mine", "Prop", "Pickup"]);
    assert_eq!(movers("puck"), ["Mallet", "Puck"]);
    assert_eq!(movers("asteroids"), ["Ship", "Rock", "Bullet"]);
    assert_eq!((movers("race"), movers("platformer")), (vec!["Car"], vec!["Player"]));
    assert_eq!(Source::of("race", &[], 99, Rates::DEFAULT, 0), None);
}
