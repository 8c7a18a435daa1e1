//! The description of the interface for programs: what the routes say of themselves, and the
//! answers that all of them have in common.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, ResponseBuilder};

/// An error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    /// A sentence on what is wrong.
    error: String,
    /// All mistakes in the settings, where these could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    mistakes: Option<Vec<String>>,
}

/// Requests that an answer is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    /// Those with a body.
    Bodies,
    /// Those with a body, a query or a name in their path.
    Inputs,
    /// Those, and those that change something.
    InputsAndChanges,
    /// Those that change something.
    Changes,
}

/// Errors by their status.
const ERRORS: [(&str, &str, Of); 12] = [
    ("400", "The request makes no sense", Of::Inputs),
    ("401", "It takes a token, and has none that is known", Of::All),
    ("403", "The token's role has no right to it", Of::All),
    ("404", "There is no such player, room, ban or other thing", Of::InputsAndChanges),
    ("409", "It cannot be done as things are now", Of::Changes),
    ("413", "The body is too big", Of::Bodies),
    ("415", "The body is no JSON by its header", Of::Bodies),
    ("421", "The host's name is not one of this machine's", Of::All),
    ("422", "The body has not the fields that it should have", Of::Bodies),
    ("500", "The request has panicked; the log has why", Of::All),
    ("503", "The server or the database does not do it now", Of::All),
    ("504", "It takes longer than 10 s and goes on", Of::All),
];

/// Requests of which exactly one of several fields is given.
const ONE_OF: [(&str, &[&str]); 2] =
    [("Punish", &["who", "key", "address", "network"]), ("GiveRole", &["who", "key"])];

/// The description as JSON, with what no route says: how to log in, which errors there are, and
/// which fields exclude each other.
pub(super) fn complete(mut description: OpenApi) -> Value {
    add_common(&mut description);
    let mut value = serde_json::to_value(description).unwrap_or_default();
    for (schema, fields) in ONE_OF {
        let one = fields.iter().map(|field| json!({ "required": [field] }));
        let one: Vec<_> = one.collect();
        value["components"]["schemas"][schema]["oneOf"] = one.into();
    }
    value
}

fn add_common(description: &mut OpenApi) {
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(scheme));
    for item in description.paths.paths.values_mut() {
        let looks = item.get.iter_mut().map(|operation| (operation, false));
        let changes = [&mut item.put, &mut item.post, &mut item.delete];
        let changes = changes.into_iter().flatten().map(|operation| (operation, true));
        for (operation, changes_something) in looks.chain(changes) {
            add_errors(operation, changes_something);
        }
    }
}

fn add_errors(operation: &mut Operation, changes_something: bool) {
    let has_body = operation.request_body.is_some();
    let has_input = has_body || operation.parameters.as_ref().is_some_and(|all| !all.is_empty());
    for (status, text, of) in ERRORS {
        let applies = match of {
            Of::All => true,
            Of::Bodies => has_body,
            Of::Inputs => has_input,
            Of::InputsAndChanges => has_input || changes_something,
            Of::Changes => changes_something,
        };
        if applies && !operation.responses.responses.contains_key(status) {
            let content = Content::new(Some(Ref::from_schema_name("Problem")));
            let response = ResponseBuilder::new().description(text);
            let response = response.content("application/json", content).build();
            operation.responses.responses.insert(status.to_owned(), response.into());
        }
    }
}
