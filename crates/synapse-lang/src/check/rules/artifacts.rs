//! What holds for one kind of artifact: APIs, proxies, endpoints, tasks, inbound endpoints, stores, processors.

mod classes;
mod crons;
mod databases;
mod endpoint_templates;
mod faults;
mod injector;
mod local_entries;
mod parameters;
mod protocols;
mod quartz;
mod regexes;
mod resources;
mod scripts;
mod several;
mod uri_templates;
mod validation;

pub(super) use databases::{question_marks, without_strings};

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &resources::Resources,
    &uri_templates::UriTemplates,
    &crons::Crons,
    &injector::Injector,
    &parameters::Parameters,
    &protocols::Protocols,
    &classes::Classes,
    &regexes::Regexes,
    &local_entries::LocalEntries,
    &faults::Faults,
    &databases::Databases,
    &several::Several,
    &validation::Validation,
    &scripts::Scripts,
    &endpoint_templates::EndpointTemplates,
];
