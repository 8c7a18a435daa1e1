//! Format and filter of the log, as settings.

use tracing_subscriber::filter::{ParseError, Targets};

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Directives that are not a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log filter {filter:?} is not valid: {problem}")]
pub struct BadFilter {
    filter: String,
    problem: String,
}

/// Parses directives separated by commas, optionally with blanks around them.
pub(crate) fn parse_filter(filter: &str) -> Result<Targets, BadFilter> {
    let invalid = |problem| BadFilter { filter: filter.to_owned(), problem };
    let directives: Vec<_> = filter.split(',').map(str::trim).collect();
    // The parser would take any text for the name of a module, which then never logs.
    if let Some(wrong) = directives.iter().find(|it| !names_module_or_level(it)) {
        let problem = format!("{wrong:?} is neither a level nor a module, such as phaselock_quic");
        return Err(invalid(problem));
    }
    directives.join(",").parse().map_err(|error: ParseError| invalid(error.to_string()))
}

/// Whether a directive begins with a possible level or module, with or without a field.
fn names_module_or_level(directive: &str) -> bool {
    let (name, level) = directive.split_once('=').unwrap_or((directive, ""));
    let field =
        name.split_once("[{").filter(|(_, field)| !level.is_empty() && field.ends_with("}]"));
    let module = field.map_or(name, |(module, _)| module);
    let plain = |c: char| c.is_alphanumeric() || "_-:.".contains(c);
    !name.is_empty() && module.chars().all(plain)
}
