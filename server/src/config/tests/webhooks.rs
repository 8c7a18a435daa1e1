//! Webhooks in every form in which they are given.

use super::*;

#[test]
fn webhooks_are_tables_in_the_file_and_json_or_urls_elsewhere() {
    let secret = ConfigFile::new("\u{20}whsec_MDEyMzQ1Njc4OWFiY2RlZg==\r\n");
    let url = ConfigFile::new("https://discord.com/api/webhooks/1/abc\n");
    let file = ConfigFile::new(&format!(
        "bots = 1\n[[webhook]]\nurl = \"https://hook.example.org:8443/x?y=1\"\n\
         secret_file = {:?}\nevents = [\"joins\", \"alarms\"]\n\n[[webhook]]\nurl_file = {:?}\n",
        secret.path(),
        url.path()
    ));
    let settings = loaded(&["--config", file.path()], &[]);
    let [json, discord] = &*settings.config.http.webhook else { panic!("two") };
    assert_eq!((json.format, &*json.key), (WebhookFormat::Json, &b"0123456789abcdef"[..]));
    assert_eq!(json.topics, [Topic::Joins, Topic::Alarms]);
    assert_eq!((discord.format, &*discord.topics), (WebhookFormat::Discord, &Topic::ALL[..]));
    let shown =
        settings.list().into_iter().find(|it| it.setting == "webhook").expect("it is listed");
    assert_eq!(
        shown.value,
        "hook.example.org:8443 (json: joins alarms), discord.com (discord: joins sanctions \
         alarms results)"
    );
    assert!(shown.origin.starts_with("webhook in ") && shown.origin.ends_with(":2"), "{shown:?}");
    assert!(!format!("{settings:?}").contains("abc"), "{settings:?}");
    // Another secret is a change, though it is shown alike.
    fs::write(secret.path(), "fedcba98765432100").expect("writable");
    let changes = settings.changes(&settings.load_again(&judge).expect("it is good"));
    assert_eq!(changes.len(), 1);

    let env = "PHASELOCK_WEBHOOK=https://discord.com/api/webhooks/1/a, http://discordapp.com/b";
    assert_eq!(serve(&[], &[env]).http.webhook.len(), 2);
    let json = format!(r#"{{"url": "http://a/", "secret_file": {:?}}}"#, secret.path());
    assert_eq!(serve(&["--webhook", &json], &[]).http.webhook[0].host(), "a");
}

#[test]
fn mistakes_in_webhooks_are_told_by_number_and_without_secrets() {
    let secret = ConfigFile::new("short");
    let short = format!("url = \"https://a/\"\nsecret_file = {:?}", secret.path());
    let discord = "https://discord.com/x";
    for (table, problem) in [
        ("", "number 2 needs a url or a url_file, not both"),
        ("url = \"ftp://a/secret\"", "begins with https:// or http://"),
        ("url = \"https://me:secret@a/\"", "without a user's name"),
        ("url = \"http://h:99999/\"", "a port from 1 to 65535"),
        ("url = \"http://99999:99999/\"", "a port from 1 to 65535"),
        ("url = \"http://[::1]:0/\"", "a port from 1 to 65535"),
        ("url = \"http://h:/\"", "a port from 1 to 65535"),
        ("url = \"https://[::1]/secret\"", "number 2 needs a secret_file"),
        ("url = \"https://a:65535/secret\"", "number 2 needs a secret_file"),
        ("url = \"https://a/secret\"", "number 2 needs a secret_file"),
        (&short, "has a secret that is not 16 to 256 bytes long"),
        ("url = \"https://a/\"\nsecret_file = \"/nowhere\"", "names /nowhere, not a file with"),
        ("url = \"https://discord.com/x\"\nevents = []", "names no events"),
        ("url = \"https://discord.com/x\"\nevents = [\"jions\"]", "unknown variant `jions`"),
        ("url = \"https://discord.com/x\"\nsecret = \"secret\"", "unknown field `secret`"),
        ("url = \"https://discord.com/x\"\nsecret_file = \"/x\"", "remove secret_file"),
    ] {
        let file =
            ConfigFile::new(&format!("[[webhook]]\nurl = {discord:?}\n[[webhook]]\n{table}"));
        let error = refused(&["--config", file.path()], &[]);
        assert!(error.starts_with("webhook in ") && error.contains(problem), "{table}: {error}");
        assert!(!error.contains("secret\"") && !error.contains("/secret "), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let file = ConfigFile::new("webhook = [1.5]");
    assert!(
        refused(&["--config", file.path()], &[]).ends_with("must be tables, or text in quotes")
    );
    let many = [discord; 9].join(",");
    assert!(refused(&["--webhook", &many], &[]).ends_with("up to 8 webhooks, but these are 9"));
}
