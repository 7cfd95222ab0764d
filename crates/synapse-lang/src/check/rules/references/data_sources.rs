//! Data services, held against the data sources of the project.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::near::nearest;

const SOURCE: u16 = 916;

/// Data sources that the project does not have.
pub(super) struct DataSources;

impl Rule for DataSources {
    fn codes(&self) -> &'static [u16] {
        &[SOURCE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["property"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let names = element.value("name").is_some_and(|name| name == "carbon_datasource_name");
        let Some(project) = subject.project.filter(|_| names && placed.id() == "data.property") else {
            return;
        };
        let text = element.text();
        let name = text.trim();
        let roots = project.files().filter_map(|(_, file)| file.document().root());
        let sources = roots.filter(|root| root.local() == "datasource").filter_map(|root| root.first("name"));
        let known: Vec<String> = sources.map(|one| one.text().trim().to_owned()).collect();
        // Without any of its own, the project uses those of the server.
        if known.is_empty() || name.is_empty() || name.contains('$') || known.iter().any(|one| one == name) {
            return;
        }
        let Some(span) = element.content_span() else { return };
        if let Some(meant) = nearest(name, known.iter().map(String::as_str)) {
            let fix = Fix::review(format!("Name {meant}"), vec![Edit::replace(span, meant)]);
            let message = format!("The project has no data source {name}; did you mean {meant}?");
            findings.report(SOURCE, span, message).fix(fix);
        } else {
            let message = format!("The project has no data source {name}; the server must have it");
            findings.report(SOURCE, span, message).severity(Severity::Info);
        }
    }
}
