//! The prefixes of published connectors and modules.
//!
//! An artifact is named after its prefix, in lower case, unless [`OTHERWISE`] says so.

/// What stands before the dot of their operations.
static PREFIXES: &[&str] = &[
    "ai",
    "amazondynamodb",
    "amazonlambda",
    "amazons3",
    "amazonsqs",
    "bigquery",
    "ceridiandayforce",
    "CSV",
    "db",
    "email",
    "epic",
    "facebookads",
    "fhirBase",
    "fhirrepository",
    "file",
    "gmail",
    "googleads",
    "googlefirebase",
    "googlepubsub",
    "googlespreadsheet",
    "hl7v2tofhir",
    "http",
    "iso8583",
    "jira",
    "kafkaTransport",
    "ldap",
    "mongodb",
    "msazuredatalakestorage",
    "msazurestorage",
    "pcml",
    "pulsar",
    "redis",
    "salesforce",
    "salesforcebulk",
    "salesforcemarketingcloud",
    "salesforcepubsub",
    "salesforcerest",
    "servicenow",
    "sharepoint",
    "smpp",
    "snowflake",
    "twilio",
    "utility",
];

/// Artifacts with another name than their prefix.
static OTHERWISE: &[(&str, &str)] = &[("mi-connector-kafka", "kafkaTransport")];

/// The prefix of the published connector with this artifact, in lower case, and with this name without
/// `mi-connector-` or the like.
pub(super) fn prefix(artifact: &str, stem: &str) -> Option<&'static str> {
    let otherwise = OTHERWISE.iter().find(|(name, _)| *name == artifact).map(|(_, prefix)| *prefix);
    otherwise.or_else(|| PREFIXES.iter().copied().find(|prefix| prefix.eq_ignore_ascii_case(stem)))
}

/// The prefix of the published connector whose artifact is named after this word, when it is another word.
pub(super) fn instead_of(word: &str) -> Option<&'static str> {
    let named_so =
        |artifact: &str| artifact.rsplit('-').next().is_some_and(|last| last.eq_ignore_ascii_case(word));
    OTHERWISE.iter().find(|(artifact, _)| named_so(artifact)).map(|(_, prefix)| *prefix)
}

/// Whether operations of a published connector have this prefix.
pub(super) fn is_prefix(text: &str) -> bool {
    PREFIXES.iter().any(|prefix| prefix.eq_ignore_ascii_case(text))
}
