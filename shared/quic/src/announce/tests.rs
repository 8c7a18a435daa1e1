//! Announcements in virtual time.

use phaselock::time::LocalTime;
use phaselock::wire::directory::{AnnouncementProof, AnnouncementRefusal, Answer, Question};

use super::{Announcer, Standing};
use crate::identity::{Identity, verified};

fn secs(secs: i64) -> LocalTime {
    LocalTime(secs * 1_000_000)
}

fn answer(question: &[u8], answer: &Answer) -> Vec<u8> {
    let (_, nonce) = Question::parse(question).expect("a question");
    answer.encode(nonce, question.len()).expect("it fits")
}

fn proof_of(question: &[u8]) -> AnnouncementProof {
    let Ok((Question::Announce { proof: Some(proof), .. }, _)) = Question::parse(question) else {
        panic!("it is a proof");
    };
    proof
}

#[test]
fn server_proves_itself_and_announces_itself_again_in_time() {
    let identity = Identity::ephemeral().expect("an identity");
    let signer = identity.signer();
    let mut announcer = Announcer::new(4433, 7, secs(0));
    for now in [0, 300] {
        assert_eq!(announcer.next_timeout(), secs(now));
        assert_eq!(announcer.has_answer(), now > 0);
        let first = announcer.handle_timeout(secs(now)).expect("an announcement");
        let challenge = answer(&first, &Answer::Challenge([9; 24]));
        let second = announcer.handle_packet(secs(now), &challenge, &signer).expect("a proof");
        assert_eq!(verified(&proof_of(&second), 4433), Some(identity.fingerprint));
        assert!(announcer.handle_packet(secs(now), &challenge, &signer).is_none(), "once");
        assert!(announcer.has_answer());
        let listed = answer(&second, &Answer::Listed { seconds: 600 });
        assert!(announcer.handle_packet(secs(now), &listed, &signer).is_none());
        assert_eq!(*announcer.standing(), Standing::Listed);
    }
}

#[test]
fn lost_packets_are_sent_again_and_silence_is_told() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut announcer = Announcer::new(4433, 7, secs(0));
    let mut sent = 0;
    while *announcer.standing() == Standing::Asking {
        let due = announcer.next_timeout();
        sent += usize::from(announcer.handle_timeout(due).is_some());
    }
    assert_eq!((sent, announcer.standing()), (3, &Standing::Silent));
    assert!(!announcer.has_answer());
    let due = announcer.next_timeout();
    let first = announcer.handle_timeout(due).expect("it keeps trying");
    let challenge = answer(&first, &Answer::Challenge([9; 24]));
    let proof = announcer.handle_packet(due, &challenge, &signer).expect("a proof");
    let due = announcer.next_timeout();
    assert_eq!(announcer.handle_timeout(due), Some(proof), "the same again");
}

#[test]
fn refusals_are_told_and_forged_answers_are_not_heard() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut announcer = Announcer::new(4433, 7, secs(0));
    let first = announcer.handle_timeout(secs(0)).expect("an announcement");
    let forged = Answer::Listed { seconds: 600 }.encode([1; 8], 99).expect("it fits");
    assert!(announcer.handle_packet(secs(0), &forged, &signer).is_none());
    assert_eq!(*announcer.standing(), Standing::Asking);
    let refused = answer(&first, &Answer::Refused(AnnouncementRefusal::Silent));
    announcer.handle_packet(secs(1), &refused, &signer);
    assert_eq!(*announcer.standing(), Standing::Refused(AnnouncementRefusal::Silent));
    assert!(announcer.standing().to_string().contains("forward it in the router"));
    assert_eq!(announcer.next_timeout(), secs(181));
}
