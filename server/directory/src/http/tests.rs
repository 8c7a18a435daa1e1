//! Requests over real sockets, plain and over TLS.

use std::fs;

use phaselock::wire::directory::play::{PartyWish, Play, PlayRefusal, PlayerProof, RequestId};
use phaselock::wire::directory::{Answer, Question};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::task::spawn_blocking;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::*;

const NONCE: [u8; 8] = [7; 8];

fn question() -> Vec<u8> {
    let play = Play {
        request: RequestId([1; 8]),
        game: "race".into(),
        people: 1,
        party: PartyWish::None,
        pings: vec![],
    };
    Question::Play { play, token: None, player: PlayerProof::None }.encode(NONCE)
}

/// Serves with a directory that refuses every game, and answers nothing after four requests.
async fn served(tls: Option<Tls>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (asks, mut asked) = questions();
    tokio::spawn(serve(listener, tls, asks));
    tokio::spawn(async move {
        for count in 0.. {
            let Some((from, request, reply)) = asked.recv().await else { return };
            assert!(from.is_loopback());
            let WebRequest::Question(bytes) = request else {
                let _ = reply.send((count < 4).then(Vec::new));
                continue;
            };
            assert!(Question::parse(&bytes).is_ok());
            let answer = Answer::Denied(PlayRefusal::Game).encode(NONCE, 99);
            let _ = reply.send(answer.filter(|_| count < 4));
        }
    });
    address.to_string()
}

fn agent(tls: TlsConfig) -> Agent {
    let config = Agent::config_builder().http_status_as_error(false).proxy(None).tls_config(tls);
    config.timeout_global(Some(Duration::from_secs(20))).build().into()
}

fn post(agent: &Agent, url: &str, body: &[u8]) -> (u16, Vec<u8>, bool) {
    let mut answer = agent.post(url).send(body).expect("an answer");
    let status = answer.status().as_u16();
    let any = answer.headers().get("access-control-allow-origin").is_some_and(|it| it == "*");
    (status, answer.body_mut().read_to_vec().expect("a body"), any)
}

#[tokio::test]
async fn questions_of_browsers_are_answered_and_nothing_else() {
    let address = served(None).await;
    spawn_blocking(move || {
        let agent = agent(TlsConfig::default());
        let url = format!("http://{address}/");
        let (status, body, any_origin) = post(&agent, &url, &question());
        assert_eq!((status, any_origin), (200, true));
        assert_eq!(Answer::parse(&body, NONCE), Ok(Answer::Denied(PlayRefusal::Game)));
        assert_eq!(post(&agent, &url, &Question::Regions.encode(NONCE)).0, 200);
        let allowed = agent.options(&url).call().expect("an answer");
        let header = |name: &str| allowed.headers().get(name).map(|it| it.to_str().unwrap());
        assert_eq!(allowed.status().as_u16(), 204);
        assert_eq!(header("access-control-allow-origin"), Some("*"));
        assert_eq!(header("access-control-allow-methods"), Some("POST"));
        assert_eq!(header("access-control-allow-headers"), Some("content-type"));
        // Neither the list nor announcements, whose senders must prove that they get UDP packets.
        for wrong in [
            Question::List { after: 0 }.encode(NONCE),
            Question::Announce { port: 1, proof: None }.encode(NONCE),
            b"junk".to_vec(),
            vec![],
            vec![0; 100_000],
        ] {
            assert_eq!(post(&agent, &url, &wrong).0, 400);
        }
        assert_eq!(post(&agent, &format!("{url}else"), &question()).0, 404);
        assert_eq!(agent.get(&url).call().expect("an answer").status().as_u16(), 405);
        assert_eq!(post(&agent, &url, &question()).0, 200);
        assert_eq!(post(&agent, &url, &question()).0, 429, "the directory does not answer");
        assert_eq!(agent.options(&url).call().expect("an answer").status().as_u16(), 429);
    })
    .await
    .expect("no panic");
}

#[tokio::test]
async fn questions_are_answered_over_tls_and_a_renewed_certificate_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let renew = || {
        let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let CertifiedKey { cert, signing_key } = made;
        fs::write(&certificate, cert.pem()).expect("a file");
        fs::write(&key, signing_key.serialize_pem()).expect("a file");
        let root = Certificate::from_der(cert.der()).to_owned();
        let crypto = Arc::new(default_provider());
        let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(crypto);
        tls.root_certs(RootCerts::new_with_certs(&[root])).build()
    };
    let trust = renew();
    let tls = Tls::new(&certificate, &key).expect("a certificate");
    let renewed = renew();
    let before = tls.current.borrow().clone();
    tls.reload();
    assert!(!Arc::ptr_eq(&before, &tls.current.borrow()), "it is the new one");
    // Half of a renewal is not used.
    fs::write(&key, "").expect("a file");
    let before = tls.current.borrow().clone();
    tls.reload();
    assert!(Arc::ptr_eq(&before, &tls.current.borrow()));
    assert!(Tls::new(&certificate, &key).is_err());
    let address = served(Some(tls)).await;
    spawn_blocking(move || {
        let port = address.rsplit_once(':').expect("a port").1;
        let url = format!("https://localhost:{port}/");
        assert_eq!(post(&agent(renewed), &url, &question()).0, 200);
        assert!(agent(trust).post(&url).send(&question()[..]).is_err(), "the old one");
    })
    .await
    .expect("no panic");
}

#[test]
fn connections_are_limited_by_address_and_in_total() {
    let open = Arc::new(Open::default());
    let count = |from: &str| {
        let from: IpAddr = from.parse().expect("an address");
        std::iter::from_fn(|| open.enter(from)).take(1000).collect::<Vec<_>>()
    };
    let one = count("2001:db8::1");
    assert_eq!(one.len(), PER_ADDRESS_MAX);
    assert!(count("2001:db8::2").is_empty(), "of the same household");
    let all: Vec<_> = (0..40).map(|it| count(&format!("192.0.2.{it}"))).collect();
    assert_eq!(one.len() + all.iter().map(Vec::len).sum::<usize>(), CONNECTIONS_MAX);
    drop((one, all));
    assert!(open.0.lock().expect("no panic").is_empty());
    assert_eq!(count("192.0.2.1").len(), PER_ADDRESS_MAX);
}
