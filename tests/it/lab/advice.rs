//! Snapshot of the page of advice.

use std::sync::Arc;

use phaselock_lab::advise::AdviceQuestion;
use phaselock_lab::formulas::Formula;
use phaselock_lab::sweep::SweepSubject;

use super::pages::{check, rows};

#[test]
fn the_page_of_advice() {
    let recording = Arc::new(Formula::Zigzag.record(10.0));
    let subject =
        SweepSubject { name: Formula::Zigzag.name().into(), recording: recording.clone() };
    let usual = AdviceQuestion::new(subject, "mobile".parse().expect("a profile"));
    let question = AdviceQuestion { rates: vec![5.0, 10.0, 30.0], repeats: 2, ..usual };
    let measured = rows(&question.plan());
    let delays: Vec<_> = question.delay_plans(&measured).iter().map(rows).collect();
    let advice = question.answer(&measured, &delays).expect("everything was measured");
    check("advice", &advice.markdown(&recording));
    check("advice-json", &serde_json::to_string_pretty(&advice).expect("advice is JSON"));
    check("advice-svg", &advice.picture());
}
