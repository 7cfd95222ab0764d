//! Proves XML: a document of the kind its root says, or a list of mediators inside a sequence.

use std::collections::BTreeMap;

use synapse_lang::check::{Setting, check};
use synapse_lang::diagnostic::{Code, Diagnostic, Severity};
use synapse_lang::model::{Model, SYNAPSE_NAMESPACE, Version};
use synapse_lang::syntax::Document;
use synapse_lang::text::Unit;

use super::Trial;

pub(super) fn prove(trial: &mut Trial<'_>) {
    trial.counts();
    trial.only_options(&["bad", "since", "until", "inert"]);
    let subject = Subject::of(&trial.fence.text);
    if trial.fence.option("inert").is_some() {
        let document = Document::parse(trial.fence.text.as_str());
        if let Some(problem) = document.problems().first() {
            let line =
                document.lines().position(&trial.fence.text, problem.span.start, Unit::Utf8).line as usize;
            trial.fails(line + 1, format!("not well-formed: {:?}", problem.kind));
        }
        return;
    }
    let runtimes = trial.runtimes();
    match trial.fence.option("bad") {
        Some(codes) => bad(trial, &subject, codes, &runtimes),
        None => good(trial, &subject, &runtimes),
    }
}

/// A text as the checker is given it.
struct Subject {
    document: Document,
    path: String,
    /// Lines that were put before the example.
    before: usize,
}

impl Subject {
    fn of(text: &str) -> Self {
        let alone = Document::parse(text);
        if let Some(root) = alone.root()
            && let Some(artifact) = Model::get().artifact(root.local(), root.namespace().unwrap_or_default())
        {
            let file = artifact.file.as_ref();
            let folder = file.map_or("sequences", |file| file.folder.as_str());
            let under = if folder.starts_with("src/") { "" } else { "src/main/wso2mi/artifacts/" };
            let named_by = file.and_then(|file| file.named_by.as_deref()).unwrap_or("name");
            let name =
                root.value(named_by).map_or_else(|| "example".to_owned(), std::borrow::Cow::into_owned);
            let extension = file.map_or("xml", |file| file.extension.as_str());
            let path = format!("{under}{folder}/{name}.{extension}");
            return Self { document: alone, path, before: 0 };
        }
        let wrapped =
            format!("<sequence xmlns=\"{SYNAPSE_NAMESPACE}\" name=\"example\">\n{text}</sequence>\n");
        let path = "src/main/wso2mi/artifacts/sequences/example.xml".to_owned();
        Self { document: Document::parse(wrapped), path, before: 1 }
    }

    fn check(&self, runtime: Version) -> Vec<Diagnostic> {
        check(&self.document, Setting { path: Some(&self.path), runtime: Some(runtime), project: None })
    }

    /// The line of the example that a finding stands on, counted from 1.
    fn line(&self, finding: &Diagnostic) -> usize {
        let position = self.document.lines().position(self.document.source(), finding.span.start, Unit::Utf8);
        (position.line as usize + 1).saturating_sub(self.before)
    }
}

fn good(trial: &mut Trial<'_>, subject: &Subject, runtimes: &[Version]) {
    let mut found: BTreeMap<(usize, String), Vec<Version>> = BTreeMap::new();
    for runtime in runtimes {
        for one in subject.check(*runtime).iter().filter(|one| one.severity >= Severity::Warning) {
            let said = format!("{} ({}): {}", one.code, one.severity.word(), one.message);
            found.entry((subject.line(one), said)).or_default().push(*runtime);
        }
    }
    for ((line, said), versions) in found {
        let versions: Vec<String> = versions.iter().map(Version::to_string).collect();
        trial.fails(line, format!("{said} [{}]", versions.join(" ")));
    }
}

fn bad(trial: &mut Trial<'_>, subject: &Subject, codes: &str, runtimes: &[Version]) {
    for text in codes.split(',') {
        let wanted: Code = match text.trim().parse() {
            Ok(code) => code,
            Err(error) => {
                trial.fails(0, format!("bad: {error}"));
                continue;
            }
        };
        for runtime in runtimes {
            let found = subject.check(*runtime);
            if !found.iter().any(|one| one.code == wanted) {
                let mut codes: Vec<String> = found.iter().map(|one| one.code.to_string()).collect();
                codes.dedup();
                let codes = if codes.is_empty() { "nothing".to_owned() } else { codes.join(", ") };
                trial.fails(0, format!("{wanted} is not found for {runtime}; found is {codes}"));
                break;
            }
        }
    }
}
