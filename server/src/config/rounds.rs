//! Settings of rounds and of the people in them.

use std::ffi::OsStr;

use phaselock::game::Strength;
use phaselock::wire::round::{ReadyUp, VoteKinds};

use super::setting::Setting;
use super::values::{Faults, ListRule, list, put, switch};

/// Names of the effects of being ready.
const READY: [(&str, ReadyUp); 3] =
    [("off", ReadyUp::Off), ("early", ReadyUp::Early), ("wait", ReadyUp::Wait)];

/// Names of no votes and of all.
const VOTES: [(&str, VoteKinds); 2] = [("all", VoteKinds::ALL), ("none", VoteKinds::NONE)];

/// Settings of rounds, in the order of the help.
pub(super) const ROUNDS: [Setting; 4] = [
    Setting {
        flag: "bot-strength",
        value: "STRENGTH",
        help: "Strength of the bots: easy, normal or hard",
        read: |config, text| {
            let named = Strength::NAMED.into_iter().find(|(name, _)| *name == text);
            put(&mut config.bot_strength, named.map(|(_, it)| it), "easy, normal or hard")
        },
        show: |config| {
            let named = Strength::NAMED.into_iter().find(|(_, it)| *it == config.bot_strength);
            named.map_or("normal", |(name, _)| name).to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    },
    Setting {
        flag: "bots-fill",
        help: "Bots leave when people come, so that people and bots together number --bots",
        read: |config, text| switch(&mut config.bots_fill, text),
        show: |config| config.bots_fill.to_string(),
        is_of_room: true,
        ..Setting::SWITCH
    },
    Setting {
        flag: "votes",
        value: "KINDS",
        help: "Votes that players may call: game, kick, time and sides, separated by commas, or \
               all or none",
        read: |config, text| {
            config.votes = parse_votes(text)?;
            Ok(())
        },
        show: |config| match config.votes {
            VoteKinds::ALL => "all".to_owned(),
            VoteKinds::NONE => "none".to_owned(),
            VoteKinds(bits) => {
                let named = VoteKinds::NAMED.iter().filter(|(_, bit)| bits & bit != 0);
                list(named.map(|(name, _)| *name))
            }
        },
        is_of_room: true,
        ..Setting::LIST
    },
    Setting {
        flag: "ready-up",
        value: "EFFECT",
        help: "What happens when players are ready: off, early (a warm-up ends when all are) or \
               wait (it ends only when most are, or after two minutes)",
        read: |config, text| {
            let ready = READY.into_iter().find(|(name, _)| *name == text);
            put(&mut config.ready, ready.map(|(_, ready)| ready), "off, early or wait")
        },
        show: |config| {
            let named = READY.into_iter().find(|(_, ready)| *ready == config.ready);
            named.map_or("early", |(name, _)| name).to_owned()
        },
        is_of_room: true,
        ..Setting::TEXT
    },
];

/// Parses kinds of votes.
fn parse_votes(text: &OsStr) -> Result<VoteKinds, Faults> {
    if let Some((_, all)) = VOTES.iter().find(|(name, _)| *name == text) {
        return Ok(*all);
    }
    let rule = "all, none, or some of game, kick, time and sides with commas between";
    let rule = ListRule { text: rule, max: VoteKinds::NAMED.len(), is_distinct: true };
    let bits = rule.parse(text, |word| {
        let found = VoteKinds::NAMED.iter().find(|(name, _)| *name == word);
        found.map(|(_, bit)| *bit).ok_or(None)
    })?;
    Ok(VoteKinds(bits.into_iter().fold(0, |bits, bit| bits | bit)))
}
