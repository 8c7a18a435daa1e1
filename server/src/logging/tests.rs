//! The log's lines, its bound, failing outputs, and the lines it keeps.

use crate::logging::recent::LINES_MAX;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::tests::PATIENCE;

/// An output that other threads can read, and can block or break.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no writer panicked").clone()).expect("text")
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output that blocks until it is released.
struct Stalled {
    /// Dropping the other end releases everything.
    gate: Receiver<()>,
    output: Shared,
    /// Notified of each attempt to write.
    asked: Sender<()>,
}

impl Write for Stalled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.asked.send(());
        let _ = self.gate.recv();
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns such an output, its release, and notifications of each attempt to write.
fn stalled(shared: &Shared) -> (Sender<()>, Receiver<()>, Box<Stalled>) {
    let ((go, gate), (asked, is_asked)) = (channel(), channel());
    (go, is_asked, Box::new(Stalled { gate, output: shared.clone(), asked }))
}

/// Fails after a number of bytes until it is repaired.
struct Full(usize, Shared);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.0);
        self.0 -= fits;
        match fits {
            0 => Err(io::ErrorKind::StorageFull.into()),
            _ => self.1.write(&bytes[..fits]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options(format: LogFormat) -> LogOptions {
    LogOptions { format, filter: "info".to_owned(), file: None }
}

/// Returns the log of one event below the filter and one at it.
fn logged(format: LogFormat) -> String {
    let (subscriber, log) = subscriber(options(format), false).expect("the filter is valid");
    let written = Shared::default();
    queue::start(&log.queue, Box::new(written.clone()), |_| String::new()).expect("a thread");
    tracing::subscriber::with_default(subscriber, || {
        tracing::debug!("unheard");
        tracing::info!(players = 3, "heard");
    });
    log.queue.flush(PATIENCE);
    assert_eq!((log.written(), log.dropped()), (1, 0));
    written.text()
}

#[test]
fn text_is_one_plain_line() {
    let log = logged(LogFormat::Text);
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.trim_end().ends_with("heard players=3"), "{log}");
    assert!(log.contains("INFO") && !log.contains('\u{1b}'), "{log}");
}

#[test]
fn json_is_one_flat_object() {
    let log = logged(LogFormat::Json);
    assert_eq!(log.lines().count(), 1, "{log}");
    // Not one of the product's messages, so it has no name.
    assert!(log.starts_with("{\"timestamp\"") && log.trim_end().ends_with('}'), "{log}");
    assert!(
        log.contains(r#""level":"INFO""#) && log.contains(r#""message":"heard","players":3"#),
        "{log}"
    );
    assert!(!log.contains(r#""fields""#), "{log}");
}

#[test]
fn a_bad_filter_is_refused() {
    let options = LogOptions { filter: "phaselock=loud".to_owned(), ..LogOptions::default() };
    let error = init(options).expect_err("there is no level called loud");
    assert!(error.to_string().contains("\"phaselock=loud\""), "{error}");
}

#[test]
fn a_stalled_output_drops_lines_and_logs_their_number() {
    let queue = Arc::new(Queue::new(100));
    let shared = Shared::default();
    let (go, is_asked, output) = stalled(&shared);
    queue::start(&queue, output, |lines| format!("{lines} lost\n")).expect("a thread");
    // 14 lines of 7 bytes fit, including the one that is being written.
    for line in 0..20 {
        queue.push(format!("line {line:1}\n", line = line % 10).as_bytes());
        if line == 0 {
            is_asked.recv().expect("the thread is there");
        }
    }
    assert_eq!((queue.written(), queue.dropped()), (0, 6));
    drop(go);
    queue.flush(PATIENCE);
    assert_eq!((queue.written(), queue.dropped()), (14, 6));
    let text = shared.text();
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("6 lost\n"), "{text}");
    assert_eq!(text.lines().count(), 15, "{text}");
    queue.push(b"again\n");
    queue.flush(PATIENCE);
    assert!(shared.text().ends_with("6 lost\nagain\n"), "{}", shared.text());
}

#[test]
fn a_dead_writer_thread_is_reported_and_blocks_nothing() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("the output is broken");
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let queue = Arc::new(Queue::new(100));
    let ended = queue::start(&queue, Box::new(Broken), |_| String::new()).expect("a thread");
    queue.push(b"the last\n");
    ended.blocking_recv().expect_err("it ends without a word");
    queue.push(b"nobody writes this\n");
    queue.flush(Duration::from_secs(3600));
    assert!(queue.has_ended());
}

#[test]
fn the_wait_for_a_stalled_output_is_bounded() {
    let queue = Arc::new(Queue::new(100));
    let (_go, _, output) = stalled(&Shared::default());
    queue::start(&queue, output, |_| String::new()).expect("a thread");
    queue.push(b"never\n");
    queue.flush(Duration::from_millis(1));
    assert_eq!(queue.written(), 0);
}

#[test]
fn a_full_disk_drops_lines_until_the_output_is_replaced() {
    let queue = Arc::new(Queue::new(1000));
    let (broken, mended) = (Shared::default(), Shared::default());
    let output = Box::new(Full(9, broken.clone()));
    queue::start(&queue, output, |lines| format!("{lines} lost\n")).expect("a thread");
    for line in ["first\n", "second\n", "third\n"] {
        queue.push(line.as_bytes());
        queue.flush(PATIENCE);
    }
    assert_eq!((queue.written(), queue.dropped()), (1, 2));
    assert_eq!(broken.text(), "first\nsec");
    queue.replace_output(Box::new(mended.clone()));
    queue.push(b"fourth\n");
    queue.flush(PATIENCE);
    assert_eq!(queue.written(), 2);
    assert!(mended.text().contains("fourth\n") && mended.text().contains("2 lost\n"));
}

#[test]
fn a_line_that_was_cut_off_does_not_run_into_the_next() {
    struct Once(bool, Shared);
    impl Write for Once {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, false) {
                return self.1.write(&bytes[..3]);
            }
            match self.1.text().as_str() {
                "fir" if bytes != b"\n" => Err(io::ErrorKind::StorageFull.into()),
                _ => self.1.write(bytes),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (queue, shared) = (Arc::new(Queue::new(1000)), Shared::default());
    let note = |lines| format!("{lines} lost\n");
    queue::start(&queue, Box::new(Once(true, shared.clone())), note).expect("a thread");
    for line in ["first\n", "second\n"] {
        queue.push(line.as_bytes());
        queue.flush(PATIENCE);
    }
    assert_eq!(shared.text(), "fir\nsecond\n1 lost\n");
}

#[test]
fn the_note_about_dropped_lines_is_a_normal_line() {
    let text = drop_note(LogFormat::Text, 12);
    assert!(text.ends_with("phaselock_server::logging: 12 lines of the log were dropped\n"));
    let json: serde_json::Value =
        serde_json::from_str(&drop_note(LogFormat::Json, 12)).expect("an object");
    assert_eq!((&json["lines"], &json["event"]), (&12.into(), &"log_dropped".into()));
    assert_eq!(json["level"], "WARN");
    assert!(json["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{json}");
}

#[test]
fn a_log_file_is_appended_to_and_reopened() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("server.log");
    std::fs::write(&path, "before\n").expect("writable");
    let options = LogOptions { file: Some(path.clone()), ..options(LogFormat::Text) };
    let (_, log) = subscriber(options, false).expect("the filter is valid");
    let output = Box::new(open(&path).expect("it can be opened"));
    queue::start(&log.queue, output, |_| String::new()).expect("a thread");
    let say = |line: &str| {
        log.queue.push(line.as_bytes());
        log.queue.flush(PATIENCE);
    };
    say("one\n");
    let moved = dir.path().join("server.log.1");
    std::fs::rename(&path, &moved).expect("it can be moved");
    say("two\n");
    log.reopen().expect("the directory is there");
    say("three\n");
    let text = |path: &Path| std::fs::read_to_string(path).expect("it is there");
    assert_eq!((text(&moved).as_str(), text(&path).as_str()), ("before\none\ntwo\n", "three\n"));

    drop(dir);
    let error = log.reopen().expect_err("there is no such directory");
    assert!(error.to_string().starts_with("cannot open the log file "), "{error}");
}

#[test]
fn the_filter_can_be_replaced() {
    let (subscriber, log) = subscriber(options(LogFormat::Text), false).expect("valid");
    tracing::subscriber::with_default(subscriber, || {
        tracing::debug!("one");
        log.set_filter("phaselock_server=debug").expect("valid");
        assert_eq!(log.filter(), "phaselock_server=debug");
        tracing::debug!("two");
        log.set_filter("a=b=c").expect_err("that is no filter");
        tracing::debug!("three");
        log.set_filter("off").expect("valid");
        tracing::error!("four");
    });
    let texts: Vec<_> = log.recent(9).into_iter().map(|line| line.text).collect();
    assert_eq!(texts, ["two", "three"]);
}

#[test]
fn recent_lines_are_kept_within_bounds_and_handed_to_listeners() {
    let (subscriber, log) = subscriber(options(LogFormat::Text), false).expect("valid");
    let mut feed = log.subscribe();
    tracing::subscriber::with_default(subscriber, || {
        let room = tracing::error_span!("room", code = "7");
        room.in_scope(|| tracing::warn!(lost = 3, name = "ada", "the server {}", "stalled"));
        let line = feed.try_recv().expect("it is there");
        assert_eq!(line.text, r#"room code="7": the server stalled lost=3 name="ada""#);
        assert_eq!(line.message(), "the server stalled");
        assert_eq!((line.level, line.target), (tracing::Level::WARN, module_path!()));
        assert_eq!(log.recent(1), [line]);

        for number in 0..LINES_MAX + 7 {
            tracing::info!(number);
        }
        let lines = log.recent(usize::MAX);
        assert_eq!(lines.len(), LINES_MAX);
        assert_eq!(lines[0].text, "number=7");
        assert_eq!(log.recent(2)[0].text, format!("number={}", LINES_MAX + 5));

        for _ in 0..LINES_MAX {
            tracing::info!("{}", "é".repeat(8000));
        }
        let lines = log.recent(usize::MAX);
        assert_eq!((lines.len(), lines[0].text.len()), (32, 8192));
    });
}
