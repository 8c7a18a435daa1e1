//! Databases that are damaged, moved or removed.

use super::*;
use crate::store::jobs::Decided;

/// A host's database with one ban, in a directory of its own.
fn deciding(id: i64) -> (tempfile::TempDir, Keeping) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FILE);
    let (connection, _) = open::open(&file).expect("it opens");
    let common = Arc::new(Common::default());
    let decided: Decided = Box::new(move || vec![Change::Sentence(ban(id, None))]);
    assert!(common.decided.set(decided).is_ok());
    (dir, Keeping::new(connection, file, common))
}

/// Windows lets nobody remove, rename or replace a database that is open.
#[cfg(unix)]
#[tokio::test]
async fn a_database_lost_at_run_time_costs_no_decision() {
    // Removed with its journals, removed without them, moved, and replaced.
    let remove_all = |dir: &Path| fs::remove_dir_all(dir).expect("it can be removed");
    let remove = |dir: &Path| fs::remove_file(dir.join(FILE)).expect("it can be removed");
    let rename = |dir: &Path| fs::rename(dir.join(FILE), dir.join("other")).expect("renamed");
    let replace = |dir: &Path| {
        fs::write(dir.join("new"), [7; 4096]).expect("it can be written");
        fs::rename(dir.join("new"), dir.join(FILE)).expect("renamed");
    };
    let harms: [&dyn Fn(&Path); 4] = [&remove_all, &remove, &rename, &replace];
    for (number, harm) in harms.iter().enumerate() {
        let dir = tempfile::tempdir().expect("a directory");
        let data = dir.path().join("data");
        fs::create_dir(&data).expect("a directory");
        let (store, _, thread) = Store::open(&data).expect("it opens");
        store.refill_from(|| vec![Change::Sentence(ban(1, None))]);
        let first = store.write(vec![Change::Sentence(ban(1, None))]).await;
        assert_eq!(first.expect("it takes it"), Written::Durably);
        harm(&data);
        let second = store.write(vec![Change::Sentence(ban(2, None))]).await;
        assert_eq!(second.expect("it takes it"), Written::Durably, "case {number}");
        let problem = store.health().problem;
        assert!(
            problem.is_some_and(|it| it.contains("all bans, mutes, roles and tokens")),
            "case {number}"
        );
        let third = store.write(vec![Change::Sentence(ban(3, None))]).await;
        assert_eq!(third.expect("it takes it"), Written::Durably);
        // As after a kill: nothing is written at the end.
        drop((store, thread));
        let (_, everything, thread) = Store::open(&data).expect("it opens again");
        let ids: Vec<_> = everything.sentences.iter().map(|it| it.id).collect();
        assert_eq!(ids, [1, 2, 3], "case {number}");
        assert!(thread.end());
    }
}

#[cfg(unix)]
#[test]
fn a_removed_journal_costs_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FILE);
    let (connection, _) = open::open(&file).expect("it opens");
    let mut keeping = Keeping::new(connection, file.clone(), Arc::default());
    let history = || vec![record(1.0, Best::Least)];
    keeping.write(history()).expect("it takes it");
    keeping.write(vec![Change::Sentence(ban(1, None))]).expect("it takes it");
    keeping.write(vec![record(0.5, Best::Least)]).expect("it takes it");
    fs::remove_file(files::with_end(&file, "-wal")).expect("it is there");
    keeping.write(vec![Change::Sentence(ban(2, None))]).expect("it takes it");
    assert_eq!(keeping.common.health().problem, None);
    // As after a kill: what is not in files is lost, and no journal is folded in at the end.
    let copy = dir.path().join("copy");
    fs::create_dir(&copy).expect("a directory");
    for name in [FILE, &*format!("{FILE}-wal")] {
        fs::copy(dir.path().join(name), copy.join(name)).expect("it is there");
    }
    let (connection, _) = open::open(&copy.join(FILE)).expect("it opens again");
    let everything = read::everything(&connection).expect("it can be read");
    assert_eq!(everything.sentences.len(), 2);
    let records = records_of(&connection, None).expect("it can be read");
    assert_eq!(records[0].value, 0.5);
}

#[cfg(unix)]
#[test]
fn a_recreated_database_has_the_copy_and_current_decisions() {
    let (dir, mut keeping) = deciding(2);
    let file = dir.path().join(FILE);
    let first = vec![record(1.0, Best::Least), Change::Sentence(ban(1, None))];
    keeping.write(first).expect("it takes it");
    keeping.copy();
    // Lifted since, and another one made.
    keeping.write(vec![Change::Lift(1), Change::Sentence(ban(2, None))]).expect("it takes it");
    fs::remove_file(&file).expect("it is there");
    keeping.write(vec![line("ban")]).expect("it takes it");
    drop(keeping);
    let (connection, _) = open::open(&file).expect("it opens again");
    let everything = read::everything(&connection).expect("it can be read");
    assert_eq!(everything.sentences.iter().map(|it| it.id).collect::<Vec<_>>(), [2]);
    assert_eq!(records_of(&connection, None).expect("it can be read").len(), 1);
}

#[test]
fn an_invalid_journal_does_not_block_copies() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FILE);
    let (connection, _) = open::open(&file).expect("it opens");
    let held = connection.execute_batch("BEGIN; SELECT * FROM audit");
    held.expect("it reads");
    fs::copy(&file, files::with_end(&file, "-journal")).expect("it can be written");
    let begun = Instant::now();
    let copied = files::copy(&file);
    assert!(begun.elapsed() < PATIENCE, "{copied:?}");
    connection.execute_batch("COMMIT").expect("it ends");
    assert!(files::backup(&connection, &dir.path().join("backup")).is_ok());
}

#[test]
fn damage_is_noticed_by_the_next_copy_and_costs_no_decision() {
    let (dir, mut keeping) = deciding(1);
    let file = dir.path().join(FILE);
    keeping.write(vec![Change::Sentence(ban(1, None))]).expect("it takes it");
    keeping.copy();
    assert_eq!(keeping.common.health().problem, None);
    for end in ["", "-wal"] {
        let file = dir.path().join(format!("{FILE}{end}"));
        let size = fs::metadata(&file).expect("it is there").len();
        fs::write(file, vec![0xa5; size as usize]).expect("it can be written");
    }
    keeping.copy();
    let problem = keeping.common.health().problem.clone();
    assert!(
        problem.is_some_and(|it| it.contains("all bans, mutes, roles and tokens")),
        "the loss is reported"
    );
    drop(keeping);
    let (connection, problem) = open::open(&file).expect("it opens again");
    let everything = read::everything(&connection).expect("it can be read");
    assert_eq!((everything.sentences.len(), problem), (1, None));
}

#[tokio::test]
async fn a_damaged_database_is_restored_from_its_last_copy() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FILE);
    let (connection, _) = open::open(&file).expect("it opens");
    let mut keeping = Keeping::new(connection, file.clone(), Arc::default());
    keeping.write(vec![Change::Sentence(ban(1, None))]).expect("it takes it");
    keeping.copy();
    keeping.write(vec![Change::Sentence(ban(2, None))]).expect("it takes it");
    drop(keeping);
    fs::write(&file, b"no database at all".repeat(500)).expect("it can be written");
    let (store, everything, thread) = Store::open(dir.path()).expect("it opens all the same");
    assert_eq!(everything.sentences.len(), 1, "the copy has the first");
    let problem = store.health().problem.expect("the problem is reported");
    assert!(problem.contains("damaged-") && problem.contains("a copy of"), "{problem}");
    assert!(thread.end());
    // A missing or empty one is restored, too.
    for harm in [&|file: &Path| fs::remove_file(file), &|file: &Path| fs::write(file, b"")]
        as [&dyn Fn(&Path) -> std::io::Result<()>; 2]
    {
        harm(&file).expect("it is possible");
        let (store, everything, thread) = Store::open(dir.path()).expect("it opens all the same");
        assert_eq!(everything.sentences.len(), 1, "the copy has the first");
        assert!(store.health().problem.is_some_and(|it| it.contains("a copy of")));
        assert!(thread.end());
    }
    // A copy that is damaged too is no worse than none.
    fs::write(&file, b"no database at all".repeat(500)).expect("it can be written");
    fs::write(files::copy_of(&file), b"nor this".repeat(500)).expect("it can be written");
    let (_, everything, thread) = Store::open(dir.path()).expect("it opens all the same");
    assert!(everything.sentences.is_empty());
    assert!(thread.end());
}

#[tokio::test]
async fn damaged_files_are_set_aside_and_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, _, thread) = Store::open(dir.path()).expect("it opens");
    let many = (0..500).map(|id| Change::Sentence(ban(id, None))).collect();
    store.write(many).await.expect("it takes them");
    assert!(thread.end());
    drop(store);
    let file = dir.path().join(FILE);
    let whole = fs::read(&file).expect("it is there");
    let mut torn = whole.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 4096].fill(0xa5);
    for (number, damaged) in
        [torn, b"no database at all, but long enough".repeat(100)].iter().enumerate()
    {
        fs::write(&file, damaged).expect("it can be written");
        let (store, everything, thread) = Store::open(dir.path()).expect("it opens all the same");
        assert!(everything.sentences.is_empty());
        let problem = store.health().problem.expect("the problem is reported");
        assert!(problem.contains("damaged-"), "{problem}");
        assert_eq!(store.write(vec![line("new")]).await.expect("it continues"), Written::Durably);
        assert!(thread.end());
        let names = fs::read_dir(dir.path()).expect("it can be read");
        let aside = names.filter_map(|it| it.ok()?.file_name().into_string().ok());
        let aside: Vec<_> = aside.filter(|name| name.contains("damaged-")).collect();
        let kept = aside
            .iter()
            .find(|name| fs::read(dir.path().join(name)).ok().as_ref() == Some(damaged));
        assert!(kept.is_some(), "case {number}: {aside:?}");
        // Another second, another name.
        for name in aside {
            fs::remove_file(dir.path().join(name)).expect("it can be removed");
        }
    }
}
