//! Lists of addresses that may not come in.

use super::*;

#[test]
fn deny_lists_are_files_and_urls() {
    let list = ConfigFile::new("\u{feff}192.0.2.0/24 ; VPN\r\n2001:db8::7\r\n");
    let url = "https://example.org/list.txt?key=sesame";
    let file = ConfigFile::new(&format!("deny_lists = [{:?}, {url:?}]", list.path()));
    let settings = loaded(&["--config", file.path()], &[]);
    let [of_file, of_url] = &*settings.config.joining.deny_lists else { panic!("two") };
    assert!(matches!(of_file, DenyList::File { ranges, .. } if ranges.entries() == 2));
    assert_eq!(*of_url, DenyList::Url(url.to_owned()));
    let shown = settings.list().into_iter().find(|it| it.setting == "deny_lists");
    let shown = shown.expect("it is listed").value;
    assert_eq!(shown, format!("{},https://example.org/list.txt?...", list.path()));
    assert!(!format!("{settings:?}").contains("sesame"), "{settings:?}");
    // Other content is a change, though it is shown alike.
    fs::write(list.path(), "192.0.2.0/25").expect("writable");
    let changes = settings.changes(&settings.load_again(&judge).expect("it is good"));
    assert_eq!(changes.len(), 1);
    fs::write(list.path(), "192.0.2.0/25\nnonsense").expect("writable");
    let mistakes = settings.load_again(&judge).expect_err("it is refused");
    let problem = format!("{}: line 2 has \"nonsense\", but an address looks like", list.path());
    assert!(mistakes[0].to_string().contains(&problem), "{mistakes:?}");
    // Each bad line is a mistake of its own, beside those of other lists.
    fs::write(list.path(), "one\n192.0.2.0/25\nthree").expect("writable");
    let lines = refused(&["--deny-lists", &format!("{},", list.path())], &[]);
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, problem) in lines.iter().zip([": line 1 has", ": line 3 has", "2 is empty"]) {
        assert!(line.contains(problem), "{lines:?}");
    }
}

#[test]
fn mistakes_in_deny_lists_are_told_without_secrets() {
    let nine = (0..9).map(|it| format!("https://a/{it}")).collect::<Vec<_>>().join(",");
    for (value, problem) in [
        (&*nine, "up to 8 files or URLs, separated by commas; there are 9"),
        ("https://a/?secret,https://a/?secret", "; number 2 repeats 1"),
        ("https://a/?secret,", "; number 2 is empty"),
        ("https://a/?secret,ftp://a/", "; number 2 needs a URL of at most"),
        ("https://a/?secret,https://me:you@a/", "without a user's name"),
        ("/nowhere/at/all", "; it cannot be used: /nowhere/at/all: "),
        ("/", "it is not a file"),
    ] {
        let error = refused(&["--deny-lists", value], &[]);
        assert!(error.contains(problem) && !error.contains("sesame"), "{value}: {error}");
    }
}
