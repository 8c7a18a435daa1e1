//! The OpenAPI description of the API: what each route declares, and the errors that all routes
//! have in common.

use serde_json::{Value, json};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, ResponseBuilder};

/// Which requests an error applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    /// Requests with a body.
    Bodies,
    /// Requests with a body, a query or a parameter in the path.
    Inputs,
    /// `Inputs` and `Changes`.
    InputsAndChanges,
    /// Requests that change something.
    Changes,
}

/// Errors by their status.
const ERRORS: [(&str, &str, Of); 12] = [
    ("400", "The request is invalid", Of::Inputs),
    ("401", "The token is missing or unknown", Of::All),
    ("403", "The token's role does not allow this", Of::All),
    ("404", "No such player, room, ban or other object", Of::InputsAndChanges),
    ("409", "The request conflicts with the current state", Of::Changes),
    ("413", "The body is too large", Of::Bodies),
    ("415", "The content type of the body is not JSON", Of::Bodies),
    ("421", "The host name is not one of this machine's", Of::All),
    ("422", "The body has missing, unknown or invalid fields", Of::Bodies),
    ("500", "The request panicked; see the log", Of::All),
    ("503", "The server or the database is unavailable", Of::All),
    ("504", "The request takes longer than 10 s, and continues", Of::All),
];

/// Requests that must have exactly one of several fields.
const ONE_OF: [(&str, &[&str]); 2] =
    [("Punish", &["who", "key", "address", "network"]), ("GiveRole", &["who", "key"])];

/// Returns the description as JSON, completed with what no route declares: authentication, errors,
/// and mutually exclusive fields.
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
