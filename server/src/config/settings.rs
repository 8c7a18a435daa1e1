//! All settings, and the values that depend on others.

use std::ffi::OsStr;
use std::net::SocketAddr;

use phaselock::limits::ROOMS_MAX;
use phaselock::time::Rates;

use super::error::Mistake;
use super::http::Http;
use super::joining::Joining;
use super::layers::Layers;
use super::operation::Operation;
use super::play::{Play, SNAPSHOT_HZ_IDEAL};
use super::setting::Setting;
use super::types::Config;
use super::values::number;

/// All settings, in the order of the help.
pub(super) fn settings() -> impl Iterator<Item = &'static Setting<Config>> {
    [Play::table(), Joining::table(), Operation::table(), Http::table()].into_iter().flatten()
}

/// Returns the defaults overridden by what was given, and all mistakes. `bad` has the flags of
/// settings with a mistake.
pub(super) fn settle(layers: &Layers, bad: &mut Vec<&'static str>) -> (Config, Vec<Mistake>) {
    let mut config = Config::default();
    let mut mistakes = Vec::new();
    for setting in settings() {
        let Some(given) = layers.get(setting.flag) else { continue };
        if let Err(faults) = (setting.read)(&mut config, &given.text) {
            let hidden = OsStr::new("(hidden)");
            let text = if setting.is_secret { hidden } else { &given.text };
            mistakes.extend(faults.mistakes(&given.origin, text));
            bad.push(setting.flag);
        }
    }
    // A value that depends on an invalid one cannot be checked.
    if !bad.contains(&"tick-hz") {
        match snapshot_hz(config.play.tick_hz, layers) {
            Ok(snapshot_hz) => config.play.snapshot_hz = snapshot_hz,
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(same_ports(&config, layers, bad));
    if !bad.contains(&"rooms") {
        match rooms_max(config.play.rooms, layers) {
            Ok(rooms_max) => config.play.rooms_max = rooms_max,
            Err(wrong) => mistakes.extend(wrong),
        }
    }
    let given = |flag| layers.get(flag).map(|given| given.origin.clone());
    if let (Some(origin), Some(other)) = (given("password"), given("password-file")) {
        mistakes.push(Mistake::Both { origin, other });
    }
    for (flag, other, missing) in
        [("cert-file", "key-file", "key_file"), ("key-file", "cert-file", "cert_file")]
    {
        if let (Some(origin), None) = (given(flag), given(other)) {
            mistakes.push(Mistake::Lacks { origin, missing });
        }
    }
    (config, mistakes)
}

/// Finds sockets of one protocol with the same port and address.
fn same_ports(config: &Config, layers: &Layers, bad: &[&str]) -> Vec<Mistake> {
    let sure = |flag: &str| !bad.contains(&flag);
    let origin = |flag: &str| {
        let default = || format!("the default of {}", flag.replace('-', "_"));
        layers.get(flag).map_or_else(default, |given| given.origin.clone())
    };
    let mut mistakes = Vec::new();
    let listen = if sure("listen") { &config.joining.listen[..] } else { &[] };
    for (at, address) in listen.iter().enumerate() {
        if let Some(other) = listen[..at].iter().find(|other| overlap(**other, *address)) {
            let (origin, other) = (origin("listen"), format!("{other} of the same setting"));
            mistakes.push(Mistake::SamePort { origin, address: *address, other });
        }
    }
    if let (Some(admin), Some(web)) = (config.operation.admin_listen, config.http.web)
        && sure("admin-listen")
        && sure("web")
        && overlap(admin, web)
    {
        let other = format!("{admin} of {}", origin("admin-listen"));
        mistakes.push(Mistake::SamePort { origin: origin("web"), address: web, other });
    }
    mistakes
}

/// Whether two sockets conflict: `[::]` is every address, including those of IPv4.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let covers = |wide: SocketAddr, narrow: SocketAddr| {
        wide.ip().is_unspecified() && (wide.is_ipv6() || narrow.is_ipv4())
    };
    let same_ip = one.ip().to_canonical() == other.ip().to_canonical();
    one.port() == other.port()
        && one.port() != 0
        && (same_ip || covers(one, other) || covers(other, one))
}

/// Returns the maximum number of rooms. By default there are only the permanent ones.
fn rooms_max(rooms: u16, layers: &Layers) -> Result<u16, Vec<Mistake>> {
    let mut rooms_max = rooms;
    let Some(given) = layers.get("rooms-max") else { return Ok(rooms_max) };
    number(&mut rooms_max, &given.text, rooms..=ROOMS_MAX)
        .map_err(|faults| faults.mistakes(&given.origin, &given.text))?;
    Ok(rooms_max)
}

/// Returns the snapshot rate. By default it is the valid one that is nearest to the ideal.
fn snapshot_hz(tick_hz: u32, layers: &Layers) -> Result<u32, Mistake> {
    let divisors = (Rates::SNAPSHOT_HZ_MIN..=tick_hz).filter(|hz| tick_hz.is_multiple_of(*hz));
    let Some(given) = layers.get("snapshot-hz") else {
        // By ratio: twice the ideal is as far away as half of it.
        let off = |hz: u32| (f64::from(hz) / f64::from(SNAPSHOT_HZ_IDEAL)).ln().abs();
        let nearest = divisors.min_by(|a, b| off(*a).total_cmp(&off(*b)));
        return Ok(nearest.unwrap_or(tick_hz));
    };
    let asked = given.text.to_str().and_then(|text| text.parse::<u32>().ok());
    divisors.clone().find(|hz| Some(*hz) == asked).ok_or_else(|| {
        let origin = layers.get("tick-hz").map_or("the default of tick_hz", |given| &given.origin);
        let list = divisors.map(|hz| hz.to_string()).collect::<Vec<_>>().join(", ");
        let rule =
            format!("a divisor of the tick rate, which {origin} makes {tick_hz}: one of {list}");
        Mistake::invalid(&given.origin, &given.text, rule)
    })
}
