//! Operations of connectors and their connections.

mod connections;
mod operations;
mod results;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] =
    &[&operations::Operations, &connections::Connections, &results::Results];

/// What is known of a connector that comes with every project.
struct Connector {
    prefix: &'static str,
    operations: &'static [&'static str],
    /// The kinds of connections.
    connections: &'static [&'static str],
}

/// Connectors whose operations are all known, and which do nothing without a connection.
static KNOWN: &[Connector] = &[Connector {
    prefix: "http",
    operations: &["get", "post", "put", "patch", "delete", "head", "options", "init"],
    connections: &["HTTP", "HTTPS"],
}];

/// Connectors with several kinds of connections: an init without its kind is of no use to them.
static KINDS: &[&str] = &["http", "email", "file", "kafka", "amazonsqs", "ldap", "redis"];

fn known(prefix: &str) -> Option<&'static Connector> {
    KNOWN.iter().find(|one| one.prefix == prefix)
}
