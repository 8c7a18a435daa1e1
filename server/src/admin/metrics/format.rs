//! The two text formats of metrics, and the choice between them by a request's `Accept` header
//! (RFC 9110, 12.5.1).

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A format for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus' text format 0.0.4, which all programs can read.
    Prometheus,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

/// A media range of an `Accept` header, such as `text/*;q=0.5`.
struct Range<'a> {
    kind: &'a str,
    version: Option<&'a str>,
    /// Quality in thousandths.
    quality: u16,
}

impl Format {
    /// Returns the format that a client prefers by its `Accept` headers. The default is
    /// Prometheus', even for clients that accept neither.
    pub(crate) fn preferred<'a>(accept: impl Iterator<Item = &'a str>) -> Self {
        let ranges: Vec<_> = accept.flat_map(split_ranges).filter_map(Range::parse).collect();
        match Self::OpenMetrics.rank(&ranges).cmp(&Self::Prometheus.rank(&ranges)) {
            Ordering::Greater => Self::OpenMetrics,
            _ => Self::Prometheus,
        }
    }

    /// Returns the content type.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Converts text in OpenMetrics to this format.
    pub(super) fn write(self, text: String) -> String {
        match self {
            Self::Prometheus => to_prometheus(&text),
            Self::OpenMetrics => text,
        }
    }

    /// Returns quality and precision of the most precise range that includes this format, or (0, 0)
    /// if the client does not accept it.
    fn rank(self, ranges: &[Range<'_>]) -> (u16, u8) {
        let (kind, family, version) = match self {
            Self::Prometheus => ("text/plain", "text/*", "0.0.4"),
            Self::OpenMetrics => ("application/openmetrics-text", "application/*", "1.0.0"),
        };
        let precision = |range: &Range<'_>| match range {
            Range { kind: "*/*", .. } => Some(1),
            Range { kind: it, .. } if it.eq_ignore_ascii_case(family) => Some(2),
            Range { kind: it, .. } if !it.eq_ignore_ascii_case(kind) => None,
            Range { version: None, .. } => Some(3),
            Range { version: it, .. } => (*it == Some(version)).then_some(4),
        };
        let included = ranges.iter().filter_map(|it| Some((precision(it)?, it.quality)));
        match included.max() {
            Some((precision, quality)) if quality > 0 => (quality, precision),
            _ => (0, 0),
        }
    }
}

/// Splits a header at commas outside of quotes.
fn split_ranges(header: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    header.split(move |c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
}

impl<'a> Range<'a> {
    /// Returns `None` for a malformed range, which is ignored.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().filter(|kind| kind.contains('/'))?;
        let mut range = Self { kind, version: None, quality: 1000 };
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            if name.eq_ignore_ascii_case("q") {
                let quality = value.parse::<f32>().ok().filter(|it| (0.0..=1.0).contains(it))?;
                // Three decimals at most, so this is exact.
                range.quality = (quality * 1000.0).round() as u16;
            } else if name.eq_ignore_ascii_case("version") {
                range.version = Some(value);
            }
        }
        Some(range)
    }
}

/// Converts OpenMetrics to Prometheus' format: counters are declared under the names of their
/// samples, and there is no end marker.
fn to_prometheus(text: &str) -> String {
    let declared = |line: &str| -> Option<String> {
        let name = line.strip_prefix("# TYPE ")?.strip_suffix(" counter")?;
        Some(name.to_owned())
    };
    let counters: BTreeSet<_> = text.lines().filter_map(declared).collect();
    let mut written = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        let head = (words.next(), words.next(), words.next());
        match (head, words.next()) {
            ((Some("#"), Some("UNIT"), _), _) => continue,
            ((Some("#"), Some(what), Some(name)), Some(rest)) if counters.contains(name) => {
                written.push_str(&format!("# {what} {name}_total {rest}"));
            }
            _ => written.push_str(line),
        }
        written.push('\n');
    }
    written
}

#[cfg(test)]
mod tests {
    use super::Format::{OpenMetrics, Prometheus};
    use super::*;

    #[test]
    fn the_client_chooses_the_format() {
        let cases = [
            // Nothing, a browser, curl.
            (&[][..], Prometheus),
            (&[""], Prometheus),
            (&["*/*"], Prometheus),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], Prometheus),
            // Prometheus 2.50, 2.20, and 3.
            (
                &["application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
                   version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"],
                OpenMetrics,
            ),
            (
                &["application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,\
                   */*;q=0.1"],
                Prometheus,
            ),
            (
                &["application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                   application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;\
                   escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"],
                OpenMetrics,
            ),
            (&["text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.8"], Prometheus),
            (&["text/plain;q=0.3", "APPLICATION/OpenMetrics-Text;Q=0.4"], OpenMetrics),
            (&["application/*, text/*;q=0.5"], OpenMetrics),
            (&["application/openmetrics-text, */*"], OpenMetrics),
            (&["text/plain;q=0, */*"], OpenMetrics),
            (&["application/openmetrics-text;q=0, */*;q=0.1"], Prometheus),
            (&["application/openmetrics-text;version=\"1.0.0\";x=\"a,b\";q=0.2"], OpenMetrics),
            // Neither format, or nonsense: the default is used.
            (&["application/json"], Prometheus),
            (&["text/plain;q=0, application/openmetrics-text;q=0"], Prometheus),
            (&["application/openmetrics-text;q=2", ";;,,=\"", "q=1", "/"], Prometheus),
        ];
        for (accept, expected) in cases {
            assert_eq!(Format::preferred(accept.iter().copied()), expected, "{accept:?}");
        }
    }

    #[test]
    fn counters_are_declared_under_their_sample_names() {
        let text = "# HELP a_joins Players who joined.\n# TYPE a_joins counter\n\
                    a_joins_total{room=\"1\"} 5\n# HELP a_up_seconds Time.\n\
                    # TYPE a_up_seconds gauge\n# UNIT a_up_seconds seconds\na_up_seconds 7.0\n\
                    # EOF\n";
        let expected = "# HELP a_joins_total Players who joined.\n\
                        # TYPE a_joins_total counter\na_joins_total{room=\"1\"} 5\n\
                        # HELP a_up_seconds Time.\n# TYPE a_up_seconds gauge\n\
                        a_up_seconds 7.0\n";
        assert_eq!(Prometheus.write(text.to_owned()), expected);
        assert_eq!(OpenMetrics.write(text.to_owned()), text);
    }
}
