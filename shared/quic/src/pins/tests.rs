//! Known servers stored, shared between clients, edited by people and damaged.

use std::fs;

use tempfile::{TempDir, tempdir};

use super::*;

const ONE: Fingerprint = Fingerprint([1; 32]);
const TWO: Fingerprint = Fingerprint([2; 32]);

fn file(content: &str) -> (TempDir, PathBuf) {
    let dir = tempdir().expect("a temporary directory");
    let path = dir.path().join("known_hosts");
    fs::write(&path, content).expect("writable");
    (dir, path)
}

#[test]
fn a_remembered_server_is_known_from_then_on() {
    let dir = tempdir().expect("a temporary directory");
    let path = dir.path().join("phaselock/known_hosts");
    let mut hosts = KnownHosts::open(&path).expect("no file yet");
    assert_eq!(hosts.check("example.org:4433"), None);
    hosts.remember("Example.org:4433", ONE).expect("written");
    hosts.remember("[::1]:4433", TWO).expect("written");
    hosts.remember("example.org:4433", ONE).expect("known already");
    for hosts in [hosts, KnownHosts::open(&path).expect("valid")] {
        assert_eq!(hosts.check("EXAMPLE.org:4433"), Some(ONE));
        assert_eq!(hosts.check("[::1]:4433"), Some(TWO));
        assert_eq!(hosts.check("example.org:4434"), None);
    }
    let content = fs::read_to_string(&path).expect("readable");
    assert_eq!(content, format!("example.org:4433 {ONE}\n[::1]:4433 {TWO}\n"));
}

#[test]
fn a_program_that_keeps_the_file_locked_blocks_no_client() {
    let (_dir, path) = file(&format!("a:1 {ONE}\n"));
    let kept = fs::File::open(&path).expect("it is there");
    kept.lock().expect("nobody else has it");
    // On Windows, others cannot read a locked file; that is an error, and also comes soon.
    let mut hosts = match KnownHosts::open(&path) {
        Ok(hosts) => hosts,
        Err(_) if cfg!(windows) => return,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(hosts.check("a:1"), Some(ONE));
    hosts.remember("b:2", TWO).expect("written");
    kept.unlock().expect("it was locked");
    assert_eq!(KnownHosts::open(&path).expect("valid").check("b:2"), Some(TWO));
}

#[test]
fn only_the_player_changes_a_pin() {
    let (_dir, path) = file("");
    let mut hosts = KnownHosts::open(&path).expect("valid");
    hosts.remember("a:1", ONE).expect("written");
    let error = hosts.remember("a:1", TWO).expect_err("known by another");
    assert!(matches!(error, PinError::Changed { known: ONE, .. }), "{error}");
    assert_eq!(hosts.check("a:1"), Some(ONE));
    let lines = fs::read_to_string(&path).expect("readable");
    fs::write(&path, format!("{lines}a:1 {TWO}\n")).expect("writable");
    hosts.remember("a:1", TWO).expect("the player wrote it down");
    assert_eq!(hosts.check("a:1"), Some(TWO), "the last line counts");
}

#[test]
fn two_clients_share_a_file() {
    let (_dir, path) = file("");
    let [mut one, mut other] = [(); 2].map(|()| KnownHosts::open(&path).expect("valid"));
    one.remember("a:1", ONE).expect("written");
    let error = other.remember("a:1", TWO).expect_err("the first one pinned it meanwhile");
    assert!(matches!(error, PinError::Changed { known: ONE, .. }), "{error}");
    assert_eq!(other.check("a:1"), Some(ONE));
    other.remember("b:2", TWO).expect("written");
    one.remember("c:3", TWO).expect("written");
    assert_eq!(
        (one.check("a:1"), one.check("b:2"), one.check("c:3")),
        (Some(ONE), Some(TWO), Some(TWO))
    );
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (_dir, path) = file("");
    thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for port in 0..20 {
                    let mut hosts = KnownHosts { path: path.clone(), entries: HashMap::new() };
                    hosts.remember(&format!("host{writer}:{port}"), ONE).expect("written");
                }
            });
        }
    });
    assert_eq!(KnownHosts::open(&path).expect("no line is split").entries.len(), 8 * 20);
}

#[test]
fn people_may_edit_the_file() {
    let (_dir, path) =
        file(&format!("# mine\r\n\n  Example.ORG:1\t{ONE}  \r\n\n#b:2 nothing\nb:2 {TWO}"));
    let mut hosts = KnownHosts::open(&path).expect("valid");
    assert_eq!((hosts.check("example.org:1"), hosts.check("b:2")), (Some(ONE), Some(TWO)));
    hosts.remember("c:3", ONE).expect("written");
    assert!(fs::read_to_string(&path).expect("readable").ends_with(&format!("{TWO}\nc:3 {ONE}\n")));
}

#[test]
fn a_malformed_line_is_named() {
    let good = format!("a:1 {ONE}");
    for (line, expected) in [
        ("a:1", LineError::Words),
        (&*format!("{good} more"), LineError::Words),
        (&format!("a {ONE}"), LineError::Host),
        (&format!(":1 {ONE}"), LineError::Host),
        (&format!("a:65536 {ONE}"), LineError::Host),
        ("a:1 sha256:", LineError::Fingerprint(ParseFingerprintError)),
        ("a:1 md5:00", LineError::Fingerprint(ParseFingerprintError)),
    ] {
        let (_dir, path) = file(&format!("{good}\n{line}\n"));
        match KnownHosts::open(&path) {
            Err(PinError::Malformed { line: 2, problem, .. }) => {
                assert_eq!(problem, expected, "{line}")
            }
            other => panic!("{line} gave {other:?}"),
        }
    }
    let (_dir, path) = file("");
    fs::write(&path, b"\n\n\xff\n").expect("writable");
    let error = KnownHosts::open(&path).expect_err("not text");
    assert!(error.to_string().contains("known_hosts cannot be read: line 3 is not"), "{error}");
}

#[test]
fn traces_of_editors_hide_no_server() {
    let lines = format!("Example.org.:04433 {ONE}\n[2001:DB8:0::1]:4433 {TWO}\n# end\n");
    for text in [
        lines.clone(),
        format!("\u{feff}{lines}"),
        lines.replace('\n', "\r\n"),
        format!("\u{feff}{}", lines.replace('\n', "\r")),
        lines.replace('\n', "  \t\n"),
        format!("\u{feff}{}", lines.trim_end()),
    ] {
        let (_dir, path) = file(&text);
        let mut hosts = KnownHosts::open(&path).expect("it is readable");
        assert_eq!(hosts.check("example.org:4433"), Some(ONE), "{text:?}");
        assert_eq!(hosts.check("[2001:db8::1]:4433"), Some(TWO), "{text:?}");
        let error = hosts.remember("example.org:4433", TWO).expect_err("known by another");
        assert!(matches!(error, PinError::Changed { known: ONE, .. }), "{text:?}: {error}");
        hosts.remember("c:3", TWO).expect("written");
        let again = KnownHosts::open(&path).expect("it is readable");
        assert_eq!((again.check("example.org:4433"), again.check("c:3")), (Some(ONE), Some(TWO)));
    }
}

#[test]
fn a_file_that_cannot_be_read_makes_no_server_unknown() {
    let line = format!("example.org:4433 {ONE}\n");
    let (_dir, path) = file("");
    let mut hosts = KnownHosts::open(&path).expect("it is empty");
    let utf16: Vec<u8> =
        "\u{feff}".chars().chain(line.chars()).flat_map(|c| (c as u16).to_le_bytes()).collect();
    let hidden = format!("# list\n\u{feff}{line}");
    let invisible = format!("# list\nexample\u{200b}.org:4433 {ONE}\n");
    for (bytes, says) in [
        (&utf16[..], "known_hosts cannot be read: it is in UTF-16"),
        (&utf16[2..], "known_hosts cannot be read: line 1 has a zero byte"),
        (b"# list\r\n\xe9", "known_hosts cannot be read: line 2 is not UTF-8"),
        (hidden.as_bytes(), "line 2 of "),
        (invisible.as_bytes(), "line 2 of "),
    ] {
        fs::write(&path, bytes).expect("writable");
        for error in [KnownHosts::open(&path).map(drop), hosts.remember("a:1", ONE)] {
            let error = error.expect_err("it cannot be read").to_string();
            assert!(error.contains(says), "{says}: {error}");
        }
        assert_eq!(fs::read(&path).expect("it is there"), bytes, "nothing is appended to it");
    }
}

#[test]
fn the_file_is_bounded() {
    let comment = format!("#{}\n", "x".repeat(FILE_BYTES_MAX - 2));
    let (_dir, path) = file(&comment);
    let mut hosts = KnownHosts::open(&path).expect("just within the limit");
    assert!(matches!(hosts.remember("a:1", ONE), Err(PinError::TooBig { .. })));
    assert_eq!(
        (hosts.check("a:1"), fs::metadata(&path).expect("present").len()),
        (None, FILE_BYTES_MAX as u64)
    );
    fs::write(&path, comment + "\n").expect("writable");
    assert!(matches!(KnownHosts::open(&path), Err(PinError::TooBig { .. })));
}

#[test]
fn no_host_smuggles_a_line_in() {
    let (_dir, path) = file("");
    let mut hosts = KnownHosts::open(&path).expect("valid");
    let long = format!("{}:1", "a".repeat(HOST_BYTES_MAX));
    for host in ["", "a", "a:", ":1", "a:b", "a b:1", "a\n:1", "\u{0}a:1", "#a:1", &long] {
        assert!(matches!(hosts.remember(host, ONE), Err(PinError::Host(_))), "{host:?}");
    }
}

#[test]
fn hosts_have_one_spelling() {
    for (host, expected) in [
        ("Example.ORG", "example.org:1"),
        ("example.org.", "example.org:1"),
        ("127.0.0.1", "127.0.0.1:1"),
        ("::1", "[::1]:1"),
        ("[::1]", "[::1]:1"),
        ("2001:DB8:0:0::A", "[2001:db8::a]:1"),
    ] {
        assert_eq!(host_key(host, 1), expected);
        assert!(is_host_key(expected), "{expected}");
    }
}

#[cfg(unix)]
#[test]
fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempdir().expect("a temporary directory");
    let path = dir.path().join("known_hosts");
    KnownHosts::open(&path).expect("no file yet").remember("a:1", ONE).expect("written");
    assert_eq!(fs::metadata(&path).expect("present").permissions().mode() & 0o777, 0o600);
}

#[test]
fn player_accepts_another_certificate_which_counts_from_then_on() {
    let (_dir, path) = file(&format!("a:1 {ONE}\nb:1 {ONE}\n"));
    let mut hosts = KnownHosts::open(&path).expect("valid");
    assert!(hosts.accept("a:1", TWO, Fingerprint([3; 32])).is_err(), "it was another before");
    hosts.accept("A:1", ONE, TWO).expect("written");
    hosts.accept("a:1", ONE, TWO).expect("accepted already");
    for hosts in [hosts, KnownHosts::open(&path).expect("valid")] {
        assert_eq!((hosts.check("a:1"), hosts.check("b:1")), (Some(TWO), Some(ONE)));
    }
    let content = fs::read_to_string(&path).expect("readable");
    assert_eq!(content, format!("a:1 {ONE}\nb:1 {ONE}\na:1 {TWO}\n"));
}
