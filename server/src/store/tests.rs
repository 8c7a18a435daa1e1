//! The database: what it stores, and what it survives.

mod lost;

use std::fs;
use std::time::{Duration, Instant};

use phaselock::game::Best;
use phaselock::identity::PublicKey;

use super::*;
use crate::api::ResultRow;
use crate::author::Role;
use crate::sentence::{Act, Sentence};
use crate::subject::Subject;
use crate::tests::PATIENCE;

fn ban(id: i64, until: Option<i64>) -> Sentence {
    Sentence {
        id,
        act: Act::Ban,
        subject: Subject::Key(PublicKey([id as u8; 32])),
        name: Some("Ada".into()),
        reason: "why".into(),
        author: "first".into(),
        role: Role::Admin,
        made: 1000,
        until,
    }
}

fn line(act: &'static str) -> Change {
    Change::Audit(AuditLine {
        time: 5,
        author: "first".into(),
        role: Role::Admin,
        act,
        whom: Some("Ada".into()),
        why: None,
        detail: None,
    })
}

fn record(value: f64, best: Best) -> Change {
    Change::Record(Record {
        time: 1,
        game: "race".into(),
        measure: "lap".into(),
        key: PublicKey([1; 32]),
        name: "Ada".into(),
        value,
        best,
        is_public: false,
        run: None,
    })
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, everything, thread) = Store::open(dir.path()).expect("it opens");
    assert!(everything.sentences.is_empty());
    let key = PublicKey([9; 32]);
    let role = Change::Role {
        key,
        name: Some("Bob".into()),
        role: Some(Role::Moderator),
        author: "first".into(),
        made: 7,
    };
    let token = |name: &str, role| Change::Token { name: name.into(), grant: role, made: 8 };
    let changes = vec![
        Change::Sentence(ban(1, None)),
        Change::Sentence(ban(2, Some(2000))),
        Change::Sentence(ban(3, None)),
        Change::Lift(3),
        role,
        token("first", Some(("ab".into(), Role::Admin))),
        token("gone", Some(("cd".into(), Role::Viewer))),
        token("gone", None),
        line("ban"),
    ];
    assert_eq!(store.write(changes).await.expect("it takes them"), Written::Durably);
    assert!(thread.end());
    let (store, everything, thread) = Store::open(dir.path()).expect("it opens again");
    assert_eq!(everything.sentences, [ban(1, None), ban(2, Some(2000))]);
    assert_eq!(everything.roles, [(key, Some("Bob".into()), Role::Moderator, "first".into(), 7)]);
    assert_eq!(everything.tokens, [("first".into(), "ab".into(), Role::Admin, 8)]);
    let audit = store.read(|db| audit_of(db, None, 10)).await.expect("it can be read");
    assert_eq!((audit.len(), &*audit[0].act, &*audit[0].by), (1, "ban", "first"));
    assert!(thread.end());
}

#[tokio::test]
async fn records_are_the_best_of_each_player() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let best = |changes| {
        let store = store.clone();
        async move {
            store.write(changes).await.expect("it takes them");
            let all = store.read(|db| records_of(db, Some("race"))).await.expect("it can be read");
            assert_eq!(all.len(), 1);
            all[0].value
        }
    };
    assert!(
        (best(vec![record(40.0, Best::Least), record(38.5, Best::Least)]).await - 38.5).abs()
            < 1e-9
    );
    assert!((best(vec![record(39.0, Best::Least)]).await - 38.5).abs() < 1e-9);
    assert!((best(vec![record(50.0, Best::Most)]).await - 50.0).abs() < 1e-9);
    assert_eq!(store.read(|db| records_of(db, Some("puck"))).await.expect("it reads").len(), 0);
    assert!(thread.end());
}

/// A record of Race's laps by the player with this number, and its run of these bytes.
fn lap(player: u8, value: f64, run: &[u8], is_shared: bool) -> Change {
    let Change::Record(record) = record(value, Best::Least) else { unreachable!("it is one") };
    let run = (!run.is_empty()).then(|| RecordRun { course: 5, bytes: run.into(), is_shared });
    let (key, name) = (PublicKey([player; 32]), format!("player {player}"));
    Change::Record(Record { key, name, run, ..record })
}

#[tokio::test]
async fn a_record_keeps_its_run_until_it_is_beaten_or_forgotten() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let laps = vec![
        lap(1, 40.0, b"forty", true),
        lap(2, 38.0, b"secret", false),
        // A lap that is no record.
        lap(1, 41.0, b"slow", true),
        lap(3, 39.0, b"gone", true),
    ];
    store.write(laps).await.expect("it takes them");
    assert!(thread.end());
    let (store, _, thread) = Store::open(dir.path()).expect("it opens again");
    let offers = |store: &Store, course, player| {
        let store = store.clone();
        async move {
            let key = PublicKey([player; 32]);
            let ghosts = store.read(move |db| ghosts_of(db, "race", course, &key)).await;
            let ghosts = ghosts.expect("it can be read").into_iter();
            ghosts.map(|it| (it.hundredths, it.bytes, it.own)).collect::<Vec<_>>()
        }
    };
    assert_eq!(offers(&store, 5, 1).await, [(3900, 4, false), (4000, 5, true)]);
    assert_eq!(offers(&store, 5, 2).await[0], (3800, 6, true), "its own, wherever it was made");
    assert_eq!(offers(&store, 6, 1).await, [], "another course");
    let run = |store: &Store, bytes: &'static [u8], player| {
        let (store, hash) = (store.clone(), phaselock::replay::run_hash(bytes));
        async move {
            let key = PublicKey([player; 32]);
            store.read(move |db| run_of(db, "race", hash, &key)).await.expect("it can be read")
        }
    };
    assert_eq!(run(&store, b"forty", 2).await.as_deref(), Some(&b"forty"[..]));
    assert_eq!(run(&store, b"slow", 1).await, None);
    assert_eq!(run(&store, b"secret", 1).await, None, "only its maker may race it");
    assert!(run(&store, b"secret", 2).await.is_some());
    // The run belongs to the record, so one without a run takes the old one's place.
    let changes = vec![lap(1, 37.0, b"", true), Change::Forget(PublicKey([3; 32]))];
    store.write(changes).await.expect("it takes them");
    assert_eq!((run(&store, b"forty", 1).await, run(&store, b"gone", 1).await), (None, None));
    assert_eq!(offers(&store, 5, 1).await, []);
    assert!(thread.end());
}

#[tokio::test]
async fn only_the_best_runs_are_kept_and_offered() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let laps = (0..600_u16).map(|n| {
        let Change::Record(record) = lap(0, f64::from(n) + 1.0, &n.to_le_bytes(), true) else {
            unreachable!("it is one")
        };
        let mut key = PublicKey([9; 32]);
        key.0[..2].copy_from_slice(&n.to_le_bytes());
        Change::Record(Record { key, ..record })
    });
    store.write(laps.rev().collect()).await.expect("it takes them");
    let count =
        "SELECT count(run), count(*), max(value) FILTER (WHERE run IS NOT NULL) FROM records";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let counted: (u32, u32, f64) =
        store.read(move |db| db.query_row(count, [], row)).await.expect("it can be read");
    assert_eq!(counted, (500, 600, 500.0));
    let mut key = PublicKey([9; 32]);
    key.0[..2].copy_from_slice(&400_u16.to_le_bytes());
    let ghosts = store.read(move |db| ghosts_of(db, "race", 5, &key)).await.expect("it reads");
    let values: Vec<_> = ghosts.iter().map(|it| it.hundredths).collect();
    assert_eq!((values.len(), values[0], values[14], values[15]), (16, 100, 1500, 40_100));
    assert!(thread.end());
}

#[tokio::test]
async fn a_full_disk_is_reported_and_changes_are_written_later() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let limit = |pages: u32| {
        let set = move |db: &Connection| {
            db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| {
                row.get::<_, i64>(0)
            })
        };
        store.read(set)
    };
    // As many pages as there are.
    limit(1).await.expect("it can be limited");
    let mut written = Written::Durably;
    let mut bans = 0;
    while written == Written::Durably && bans < 10_000 {
        bans += 100;
        let many = (bans - 100..bans).map(|id| Change::Sentence(ban(id, None))).collect();
        written = store.write(many).await.expect("it answers");
    }
    assert_eq!(written, Written::Later, "the disk is full after {bans} bans");
    let health = store.health();
    assert!(health.problem.expect("the problem is reported").contains("full"));
    assert_eq!((health.pending, health.lost), (100, 0));
    assert!(health.errors > 0);
    // It answers even while the disk is full.
    assert_eq!(store.write(vec![line("late")]).await.expect("it answers"), Written::Later);
    limit(1_000_000).await.expect("there is space again");
    let start = Instant::now();
    while store.health().pending > 0 {
        assert!(start.elapsed() < PATIENCE, "{:?}", store.health());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(store.health().problem, None);
    assert!(thread.end());
    let (_, everything, thread) = Store::open(dir.path()).expect("it opens again");
    assert_eq!(everything.sentences.len() as i64, bans);
    assert!(thread.end());
}

#[test]
fn decisions_outlive_results_in_memory() {
    let dir = tempfile::tempdir().expect("a directory");
    let (connection, _) = open::open(&dir.path().join(FILE)).expect("it opens");
    let mut keeping = Keeping::new(connection, dir.path().join(FILE), Arc::default());
    // Until then there is no attempt.
    keeping.retry_at = Some(Instant::now() + Duration::from_secs(3600));
    let later =
        |written: Result<Written, StoreError>| assert!(matches!(written, Ok(Written::Later)));
    later(keeping.write(vec![Change::Sentence(ban(1, None))]));
    for _ in 0..keeping::PENDING_MAX + 50 {
        later(keeping.write(vec![record(1.0, Best::Least)]));
    }
    later(keeping.write(vec![Change::Sentence(ban(2, None)), line("ban")]));
    let pending = keeping.pending.iter().flatten();
    assert_eq!(pending.clone().count(), keeping::PENDING_MAX);
    let essential = pending.filter(|it| it.is_essential()).count();
    let health = keeping.common.health().clone();
    assert_eq!((essential, health.lost, health.errors), (3, 53, 0));
}

#[tokio::test]
async fn many_changes_are_written_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    // The thread waits for this.
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let held = store.clone();
    let held = tokio::spawn(async move {
        held.read(move |_| {
            let _ = may_go_on.recv();
            Ok(())
        })
        .await
    });
    tokio::task::yield_now().await;
    let mut later = 0;
    for id in 0..JOBS_MAX as i64 * 3 / 4 {
        for change in [Change::Sentence(ban(id, None)), Change::Lift(id)] {
            let begun = store.begin(vec![change]).expect("there is space");
            later += usize::from(begun.0.is_none());
        }
    }
    assert!(later > 0, "some jobs do not fit into the queue");
    assert!(store.health().pending >= later);
    go_on.send(()).expect("it waits");
    held.await.expect("it has not panicked").expect("it reads");
    // However long the disk takes.
    while store.health().pending > 0 || store.read(|_| Ok(())).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(thread.end());
    let (_, everything, thread) = Store::open(dir.path()).expect("it opens again");
    assert_eq!(everything.sentences.len(), 0, "each is lifted after it was made");
    assert!(thread.end());
}

#[tokio::test]
async fn old_records_are_deleted_in_parts_and_people_on_demand() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let played = |key, time| {
        let key = PublicKey([key; 32]);
        Change::Played(PlayerTotals { time, key, name: "Ada".into(), sessions: 1, seconds: 9 })
    };
    let result = |key, time| {
        Change::Result(RoundResult {
            time,
            room: "1".into(),
            game: "race".into(),
            round: 1,
            key: PublicKey([key; 32]),
            name: "Ada".into(),
            measure: "lap".into(),
            value: 1.0,
        })
    };
    let mut changes: Vec<_> = (0..1500).map(|_| line("kick")).collect();
    changes.extend([played(1, 5), played(2, 100), result(1, 5), result(2, 100)]);
    changes.extend([Change::Sentence(ban(1, Some(50))), Change::Sentence(ban(2, None))]);
    for place in 0..=120_u8 {
        changes.push(Change::Record(Record {
            time: 1,
            game: "race".into(),
            measure: "points".into(),
            key: PublicKey([place; 32]),
            name: "Ada".into(),
            value: place.into(),
            best: Best::Most,
            is_public: true,
            run: None,
        }));
    }
    store.write(changes).await.expect("it takes them");
    let drop_some = || store.read(|db| old::drop_some(db, 60));
    assert_eq!(drop_some().await.expect("it can"), 1000);
    assert_eq!(drop_some().await.expect("it can"), 500);
    let count = |table: &'static str| {
        let query = format!("SELECT count(*) FROM {table}");
        store.read(move |db| db.query_row(&query, [], |row| row.get::<_, i64>(0)))
    };
    for (table, left) in [
        ("audit", 0),
        ("players", 1),
        ("results", 1),
        ("sentences", 1),
        ("records", 100),
        // Those of all time; those of the day are old.
        ("public_bests", 20),
    ] {
        assert_eq!(count(table).await.expect("it can be read"), left, "{table}");
    }
    let records = store.read(|db| records_of(db, Some("race"))).await.expect("it can be read");
    let values: Vec<_> = records.iter().map(|it| it.value).collect();
    assert_eq!((values[0], values[99]), (120.0, 21.0), "the largest value is the best");
    let forget = [2, 120].map(|key| Change::Forget(PublicKey([key; 32])));
    store.write(forget.into()).await.expect("it takes it");
    for (table, left) in [("players", 0), ("results", 0), ("records", 99), ("public_bests", 19)] {
        assert_eq!(count(table).await.expect("it can be read"), left, "{table}");
    }
    assert!(thread.end());
}

#[tokio::test]
async fn public_bests_cover_a_span_and_list_each_player_once() {
    const DAY: i64 = 86_400;
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let record = |name: &str, day: i64, value: f64, is_public| {
        Change::Record(Record {
            time: day * DAY + 7,
            game: "race".into(),
            measure: "lap".into(),
            key: PublicKey([name.as_bytes()[0]; 32]),
            name: name.into(),
            value,
            best: Best::Least,
            is_public,
            run: None,
        })
    };
    let mut changes = vec![
        record("Ada", 100, 30.0, true),
        record("Ada", 120, 32.0, true),
        record("Ada", 121, 33.0, true),
        record("Bob", 120, 31.0, true),
        record("Cyd", 120, 20.0, false),
        record("Dot", 0, 29.0, true),
        // A worse score on the same day, and an equal one that came later.
        record("Bob", 120, 40.0, true),
        record("Eve", 121, 31.0, true),
    ];
    // More than are kept for a day, all worse: no older score is lost.
    changes.extend((0..60).map(|at| record(&char::from(b'F' + at).to_string(), 121, 90.0, true)));
    store.write(changes).await.expect("it takes them");
    assert!(thread.end());
    let (store, _, thread) = Store::open(dir.path()).expect("it opens again");
    let bests = |since| {
        let store = store.clone();
        async move {
            let read = store.read(move |db| public_bests(db, since, 4)).await;
            let bests = read.expect("it can be read").into_iter();
            bests.map(|it| (it.name, it.value, it.time / DAY)).collect::<Vec<_>>()
        }
    };
    let of = |name: &str, value, day| (name.to_owned(), value, day);
    let all_time = [("Dot", 29.0, 0), ("Ada", 30.0, 100), ("Bob", 31.0, 120), ("Eve", 31.0, 121)];
    assert_eq!(bests(None).await, all_time.map(|(name, value, day)| of(name, value, day)));
    let month = bests(Some(101)).await;
    assert_eq!(month[..3], [of("Bob", 31.0, 120), of("Eve", 31.0, 121), of("Ada", 32.0, 120)]);
    let week = bests(Some(121)).await;
    assert_eq!(week[..2], [of("Eve", 31.0, 121), of("Ada", 33.0, 121)]);
    assert_eq!(bests(Some(122)).await, []);
    let count = "SELECT count(*) FROM public_bests WHERE day = 121";
    let kept = store.read(|db| db.query_row(count, [], |row| row.get::<_, i64>(0))).await;
    assert_eq!(kept.expect("it can be read"), 20);
    assert!(thread.end());
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    store.read(|db| db.pragma_update(None, "user_version", 99)).await.expect("it can be set");
    assert!(thread.end());
    let error = Store::open(dir.path()).expect_err("it is newer").to_string();
    assert!(error.contains("version 99") && error.contains("backup"), "{error}");
    assert!(dir.path().join(FILE).exists());
}

#[tokio::test]
async fn a_backup_is_whole_and_replaces_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let other = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    store.write(vec![Change::Sentence(ban(1, None))]).await.expect("it takes it");
    let copy = other.path().join(FILE);
    assert!(store.backup(copy.clone()).await.expect("it is copied") > 4096);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&copy).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "others cannot read the list of bans");
    }
    store.write(vec![Change::Sentence(ban(2, None))]).await.expect("it takes it");
    let again = store.backup(copy.clone()).await.expect_err("it is there").to_string();
    assert!(again.contains("exists"), "{again}");
    let nowhere = store.backup(other.path().join("no").join("where")).await;
    assert!(nowhere.is_err());
    let (_, everything, copied) = Store::open(other.path()).expect("it opens");
    assert_eq!(everything.sentences, [ban(1, None)]);
    assert!(copied.end() && thread.end());
}

#[tokio::test]
async fn an_invalid_row_costs_no_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let bans = [ban(1, None), ban(2, None)].map(Change::Sentence);
    store.write([bans.into(), vec![line("ban"), line("kick")]].concat()).await.expect("written");
    let hurt = "UPDATE sentences SET reason = CAST(x'ff' AS TEXT) WHERE id = 1;
        UPDATE audit SET act = CAST(x'ff' AS TEXT) WHERE id = 1;";
    store.read(|db| db.execute_batch(hurt)).await.expect("it can be done");
    let audit = store.read(|db| audit_of(db, None, 10)).await.expect("it can be read");
    assert_eq!(audit.iter().map(|it| &*it.act).collect::<Vec<_>>(), ["kick"]);
    drop(store);
    assert!(thread.end());
    let (_store, everything, _thread) = Store::open(dir.path()).expect("it opens again");
    assert_eq!(everything.sentences, [ban(2, None)]);
}

#[tokio::test]
async fn results_are_listed_by_round_newest_first() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, _thread) = Store::open(dir.path()).expect("it opens");
    let result = |round: u32, name: &str| {
        Change::Result(RoundResult {
            time: 10 + i64::from(round),
            room: "1".into(),
            game: "race".into(),
            round,
            key: PublicKey([1; 32]),
            name: name.into(),
            measure: "lap".into(),
            value: 7.0,
        })
    };
    let all = vec![result(1, "Ada"), result(1, "Bob"), result(2, "Ada"), result(3, "Cyd")];
    store.write(all).await.expect("written");
    let rounds = store.read(|db| results_of(db, 2)).await.expect("it can be read");
    let names = |round: &ResultRow| -> Vec<String> {
        round.players.iter().map(|it| it.name.clone()).collect()
    };
    assert_eq!(rounds.iter().map(|it| it.round).collect::<Vec<_>>(), [3, 2]);
    let rounds = store.read(|db| results_of(db, 9)).await.expect("it can be read");
    assert_eq!(
        rounds.iter().map(names).collect::<Vec<_>>(),
        [vec!["Cyd"], vec!["Ada"], vec!["Ada", "Bob"]]
    );
}

#[tokio::test]
async fn an_impossible_change_blocks_no_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    // A group is written whole or not at all, and its caller is notified.
    let torn = vec![Change::Sentence(ban(1, None)), record(f64::NAN, Best::Least), line("ban")];
    let refused = store.write(torn).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    let whole = store.write(vec![Change::Sentence(ban(2, None)), line("ban")]).await;
    assert_eq!(whole.expect("it takes it"), Written::Durably);
    let health = store.health();
    assert_eq!((health.pending, health.lost, health.problem), (0, 1, None));
    assert!(thread.end());
    let (_, everything, thread) = Store::open(dir.path()).expect("it opens again");
    assert_eq!(everything.sentences, [ban(2, None)]);
    assert!(thread.end());
}
