//! Reads what Maven prints, line by line, with bounded memory: what went wrong, where, and how it ended.
//!
//! Maven says most things twice: where they happen and in the summary. Each is kept once.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::findings::{Finding, Kind};

/// Findings that are kept. A build with more has one cause.
const FINDINGS: usize = 200;
/// Lines that are kept of the end.
const LAST: usize = 30;
/// Bytes of a message.
const MESSAGE: usize = 1_000;

/// What is read of a build.
pub(crate) struct MavenLog {
    project: PathBuf,
    findings: Vec<Finding>,
    last: VecDeque<String>,
    /// The finding that the next lines may belong to.
    open: Option<usize>,
    /// Whether it was told before, so that its lines are known.
    is_again: bool,
    /// The build file that the next messages are about.
    pom: Option<String>,
    succeeded: Option<bool>,
    dropped: usize,
}

impl MavenLog {
    /// The folder of the project that is built.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// For a project, whose paths are told relative to it.
    pub(crate) fn new(project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            findings: Vec::new(),
            last: VecDeque::new(),
            open: None,
            is_again: false,
            pom: None,
            succeeded: None,
            dropped: 0,
        }
    }

    /// What went wrong, each once. A failed goal is told only when nothing else says why.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let says_why = self.findings.iter().any(|one| !matches!(one.kind, Kind::Goal | Kind::Other));
        let keep = |one: &&Finding| !(says_why && one.kind == Kind::Goal);
        self.findings.iter().filter(keep).cloned().collect()
    }

    /// Whether Maven itself said that it went well; nothing when it did not come to an end.
    pub(crate) fn succeeded(&self) -> Option<bool> {
        self.succeeded
    }

    /// The last lines that say something.
    pub(crate) fn last(&self) -> Vec<&str> {
        self.last.iter().map(String::as_str).collect()
    }

    /// Takes a line in.
    pub(crate) fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if !line.is_empty() {
            if self.last.len() == LAST {
                self.last.pop_front();
            }
            self.last.push_back(shortened(line));
        }
        let Some((level, text)) = level_of(line) else {
            self.unmarked(line);
            return;
        };
        match level {
            "ERROR" | "FATAL" => self.error(text),
            "INFO" => {
                self.open = None;
                match text.trim() {
                    "BUILD SUCCESS" => self.succeeded = Some(true),
                    "BUILD FAILURE" => self.succeeded = Some(false),
                    _ => {}
                }
            }
            _ => self.open = None,
        }
    }

    /// A line without a level: the rest of a message, or what a program says before Maven has begun.
    fn unmarked(&mut self, line: &str) {
        let text = line.trim();
        if text.starts_with("at ") || text.is_empty() || text == "@" {
            return;
        }
        if let Some(finding) = java_trouble(text).or_else(|| download(text)) {
            self.add(finding);
        } else if let Some((row, column, rest)) = parse_error(text) {
            self.locate(row, column, rest);
        } else {
            self.continue_with(text);
        }
    }

    fn continue_with(&mut self, text: &str) {
        if self.is_again {
            return;
        }
        let Some(finding) = self.open.and_then(|at| self.findings.get_mut(at)) else { return };
        if finding.message.len() < MESSAGE && !text.starts_with('-') {
            let text = text.strip_prefix("Message: ").unwrap_or(text);
            let before = finding.message.trim_end_matches([' ', ';']);
            // A sentence goes on after a comma, and has ended after a full stop.
            let between = if before.ends_with([',', '.']) { "" } else { ";" };
            finding.message = shortened(&format!("{before}{between} {text}"));
        }
    }

    fn error(&mut self, raw: &str) {
        let text = without_help(raw.trim().trim_start_matches("[ERROR] "));
        if text.is_empty() || text == "@" || is_chatter(text) {
            self.open = None;
            return;
        }
        if let Some(finding) = self.compiler(text).or_else(|| self.pom(text)) {
            self.add(finding);
            return;
        }
        // `symbol:` and `location:` are indented below the message they explain.
        if (raw.starts_with("  ") || raw.starts_with('\t'))
            && self.open.is_some()
            && !text.starts_with("The project ")
        {
            self.continue_with(text);
            return;
        }
        if let Some(path) = about_project(text) {
            self.pom = Some(self.relative(path));
            self.open = None;
            return;
        }
        let found = java_trouble(text)
            .map(|one| vec![one])
            .or_else(|| unresolved(text))
            .or_else(|| self.xml(text).map(|one| vec![one]))
            .or_else(|| test(text).map(|one| vec![one]))
            .or_else(|| disk(text).map(|one| vec![one]))
            .or_else(|| goal(text).map(|one| vec![one]))
            .unwrap_or_else(|| vec![self.placed(Finding::new(Kind::Other, shortened(text)), text)]);
        for finding in found {
            self.add(finding);
        }
    }

    fn add(&mut self, finding: Finding) {
        let finding = Finding { message: shortened(&finding.message), ..finding };
        // The second telling has the same place, and its message begins the same.
        let same = |one: &Finding| {
            let place = (one.kind, &one.file, one.line, one.column)
                == (finding.kind, &finding.file, finding.line, finding.column);
            place && (one.message.starts_with(&finding.message) || finding.message.starts_with(&one.message))
        };
        self.is_again = false;
        if let Some(before) = self.findings.iter().position(same) {
            self.open = Some(before);
            self.is_again = true;
        } else if self.findings.len() < FINDINGS {
            self.open = Some(self.findings.len());
            self.findings.push(finding);
        } else {
            self.dropped += 1;
            self.open = None;
        }
    }

    /// `/path/X.java:[4,3] cannot find symbol`.
    fn compiler(&self, text: &str) -> Option<Finding> {
        let (path, rest) = text.split_once(":[")?;
        let (place, message) = rest.split_once(']')?;
        let (line, column) = place.split_once(',')?;
        let (line, column) = (line.trim().parse().ok()?, column.trim().parse().ok()?);
        if !path.contains('.') || path.contains(' ') && !Path::new(path).is_absolute() {
            return None;
        }
        let message = message.trim().trim_start_matches("error:").trim();
        let kind = java_trouble(message).map_or(Kind::Compile, |one| one.kind);
        Some(Finding::new(kind, message).at(self.relative(path), Some(line), Some(column)))
    }

    /// `Non-parseable POM /path/pom.xml: … @ line 2, column 4`, `'…' is missing. @ line 12, column 17`.
    fn pom(&self, text: &str) -> Option<Finding> {
        let text = text.trim_start_matches("[FATAL]").trim_start_matches("[ERROR]").trim();
        let (before, place) = text.rsplit_once("line ")?;
        let (line, column) = place.split_once(", column ")?;
        let (line, column) = (line.trim().parse().ok()?, number(column)?);
        let (message, file) = match before.trim_end().strip_suffix('@') {
            Some(message) => (message.trim(), None),
            // `… @ com.acme:orders:1.0.0, /path/pom.xml, line 12, column 17`.
            None => {
                let (message, whose) = before.rsplit_once(" @ ")?;
                let path = whose.trim_end_matches([' ', ',']).rsplit(", ").next()?;
                (message.trim(), Some(path))
            }
        };
        let message = message.trim_end_matches("and").trim();
        let named =
            message.strip_prefix("Non-parseable POM ").or_else(|| message.strip_prefix("Malformed POM "));
        let (file, message) = match named {
            Some(rest) => {
                let (path, message) = rest.split_once(": ")?;
                (Some(path), message)
            }
            None => (file, message),
        };
        let message = message.split(" (position: ").next().unwrap_or(message).trim();
        let file = file.filter(|path| path.contains('/') || path.contains('\\') || path.ends_with(".xml"));
        let file = file.map_or_else(
            || self.pom.clone().unwrap_or_else(|| "pom.xml".to_owned()),
            |path| self.relative(path),
        );
        Some(Finding::new(Kind::Pom, message).at(file, Some(line), Some(column)))
    }

    /// XML that a plugin reads.
    fn xml(&self, text: &str) -> Option<Finding> {
        if let Some((before, rest)) = text.split_once("lineNumber: ") {
            let line = number(rest);
            let column = rest.split_once("columnNumber: ").and_then(|(_, rest)| number(rest));
            let message = rest.splitn(3, "; ").last().unwrap_or(rest).trim();
            let finding = Finding::new(Kind::Xml, message);
            let system = before.split_once("systemId: ").and_then(|(_, rest)| rest.split(';').next());
            let file = system.map(|uri| {
                self.relative(uri.trim().trim_start_matches("file://").trim_start_matches("file:"))
            });
            let file = file.or_else(|| self.file_in(before)).or_else(|| self.file_before());
            return Some(match file {
                Some(file) => finding.at(file, line, column),
                None => Finding { line, column, ..finding },
            });
        }
        let (line, column, message) = parse_error(text)?;
        let finding = Finding::new(Kind::Xml, message);
        let file = self.file_in(text).or_else(|| self.file_before());
        Some(match file {
            Some(file) => finding.at(file, Some(line), Some(column)),
            None => Finding { line: Some(line), column: Some(column), ..finding },
        })
    }

    /// A place that comes in a line behind the message it belongs to.
    fn locate(&mut self, line: u32, column: u32, message: &str) {
        match self.open.and_then(|at| self.findings.get_mut(at)).filter(|one| one.line.is_none()) {
            Some(finding) => {
                finding.kind = Kind::Xml;
                (finding.line, finding.column) = (Some(line), Some(column));
            }
            None => {
                let finding = Finding::new(Kind::Xml, message);
                let file = self.file_before();
                self.add(match file {
                    Some(file) => finding.at(file, Some(line), Some(column)),
                    None => Finding { line: Some(line), column: Some(column), ..finding },
                });
            }
        }
    }

    /// The file that the last finding is about.
    fn file_before(&self) -> Option<String> {
        self.open.and_then(|at| self.findings.get(at)).and_then(|one| one.file.clone())
    }

    /// With the file that a message names, when it is one of the project.
    fn placed(&self, finding: Finding, text: &str) -> Finding {
        match self.file_in(text) {
            Some(file) => finding.at(file, None, None),
            None => finding,
        }
    }

    fn file_in(&self, text: &str) -> Option<String> {
        let root = self.project.to_str()?;
        let at = text.find(root)?;
        let path = text.get(at..)?;
        let end = path.find([' ', ':', ',', ';', '\'', '"', ')']).unwrap_or(path.len());
        let path = path.get(..end)?.trim_end_matches('.');
        let relative = self.relative(path);
        (!relative.is_empty() && relative != path).then_some(relative)
    }

    fn relative(&self, path: &str) -> String {
        let path = path.trim();
        match Path::new(path).strip_prefix(&self.project) {
            Ok(relative) => relative.display().to_string(),
            Err(_) => path.to_owned(),
        }
    }
}

fn level_of(line: &str) -> Option<(&str, &str)> {
    let (level, text) = line.strip_prefix('[')?.split_once(']')?;
    let known = ["ERROR", "FATAL", "INFO", "WARNING", "WARN", "DEBUG"].contains(&level);
    known.then(|| (level, text.strip_prefix(' ').unwrap_or(text)))
}

/// Without what points to Maven's own pages.
fn without_help(text: &str) -> &str {
    text.split(" -> [Help ").next().unwrap_or(text).trim_end_matches("-> [Help 1]").trim()
}

/// What Maven says below every failure.
fn is_chatter(text: &str) -> bool {
    const BEGINNINGS: [&str; 12] = [
        "To see the full stack trace",
        "Re-run Maven using",
        "For more information about the errors",
        "[Help ",
        "After correcting the problems",
        "mvn <args>",
        "COMPILATION ERROR",
        "The build could not read",
        "Some problems were encountered while processing the POMs",
        "Please refer to ",
        "See dump files",
        "-> [Help",
    ];
    BEGINNINGS.iter().any(|one| text.starts_with(one))
}

/// `The project com.acme:orders:1.0.0 (/path/pom.xml) has 1 error`.
fn about_project(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("The project ")?;
    let (_, rest) = rest.split_once('(')?;
    let (path, rest) = rest.split_once(')')?;
    rest.trim_start().starts_with("has ").then_some(path)
}

/// Java that does not fit or is not there, wherever it is said.
fn java_trouble(text: &str) -> Option<Finding> {
    const MISFITS: [&str; 5] = [
        "invalid target release",
        "invalid source release",
        "invalid flag: --release",
        "UnsupportedClassVersionError",
        "class file has wrong version",
    ];
    const ABSENT: [&str; 8] = [
        "No compiler is provided in this environment",
        "The JAVA_HOME environment variable is not defined correctly",
        "JAVA_HOME is not defined correctly",
        "JAVA_HOME is set to an invalid directory",
        "JAVA_HOME not found in your environment",
        "does not exist in PATH nor is JAVA_HOME set",
        "Unable to locate a Java Runtime",
        "Unable to find javac",
    ];
    let message = text.rsplit_once("Fatal error compiling: ").map_or(text, |(_, rest)| rest);
    if ABSENT.iter().any(|sign| text.contains(sign)) {
        return Some(Finding::new(Kind::NoJava, message.trim_start_matches("Error: ").trim()));
    }
    let release = text.contains("release version ") && text.contains(" not supported");
    let option = text.contains("ource option ") || text.contains("arget option ");
    let old = option && text.contains(" is no longer supported");
    if !(release || old || MISFITS.iter().any(|sign| text.contains(sign))) {
        return None;
    }
    Some(Finding::new(Kind::Jdk, message.trim_start_matches("error: ").trim()))
}

/// The wrapper, which downloads Maven itself before Maven can say anything.
fn download(text: &str) -> Option<Finding> {
    const SIGNS: [&str; 5] = [
        "UnknownHostException",
        "Could not resolve host",
        "unable to resolve host address",
        "Failed to fetch",
        "Temporary failure in name resolution",
    ];
    SIGNS.iter().any(|sign| text.contains(sign)).then(|| Finding::new(Kind::Wrapper, text))
}

/// Artifacts that are not to be had: each by name.
fn unresolved(text: &str) -> Option<Vec<Finding>> {
    let plugin = text.contains("Plugin ") && text.contains("could not be resolved");
    let signs = [
        "Could not resolve dependencies",
        "Could not find artifact",
        "Failure to find",
        "Could not transfer artifact",
        "could not be resolved",
        "in offline mode",
        "No plugin found for prefix",
    ];
    if !signs.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let offline = text.contains("in offline mode") || text.contains("offline and the artifact");
    let kind = match (offline, plugin) {
        (true, _) => Kind::Offline,
        (false, true) => Kind::Plugin,
        (false, false) => Kind::Dependency,
    };
    let mut names: Vec<&str> = Vec::new();
    for before in
        ["Could not find artifact ", "Failure to find ", "Could not transfer artifact ", "and the artifact "]
    {
        names.extend(text.split(before).skip(1).filter_map(coordinates));
    }
    if let Some((_, rest)) = text.split_once("artifacts could not be resolved: ") {
        names.extend(rest.split(", ").map_while(coordinates));
    }
    names.sort_unstable();
    names.dedup();
    // What kept it from coming, behind the address of the repository.
    let reason =
        text.rsplit_once("): ").map(|(_, reason)| reason).filter(|reason| !reason.contains("Could not"));
    let from = text.split_once("Could not transfer artifact").and(reason);
    let whose =
        plugin.then(|| text.split_once("Plugin ").and_then(|(_, rest)| rest.split(' ').next())).flatten();
    if names.is_empty() {
        return Some(vec![Finding::new(kind, text)]);
    }
    let told = |name: &str| {
        let what = match kind {
            Kind::Offline => format!("{name} is not in Maven's local repository, and the build is offline"),
            _ => match from {
                Some(reason) => format!("{name} could not be downloaded: {reason}"),
                None => format!("{name} was found in no repository"),
            },
        };
        let what = match whose.filter(|plugin| !same_artifact(plugin, name)) {
            Some(plugin) => format!("{what} (the plugin {plugin} needs it)"),
            None if plugin => format!("{what} (it is a plugin of Maven)"),
            None => what,
        };
        Finding::new(kind, what)
    };
    Some(names.into_iter().map(told).collect())
}

/// `g:a:jar:1.0` and `g:a:1.0` are the same artifact.
fn same_artifact(plugin: &str, name: &str) -> bool {
    let parts = |text: &str| -> Vec<String> { text.split(':').take(2).map(ToOwned::to_owned).collect() };
    parts(plugin) == parts(name)
}

/// `group:artifact:type:version` at the beginning of a text.
fn coordinates(text: &str) -> Option<&str> {
    let end = text.find([' ', ',', '(']).unwrap_or(text.len());
    let name = text.get(..end)?.trim_end_matches([':', '.']);
    let is_one = name.split(':').count() >= 3 && name.split(':').all(|part| !part.is_empty());
    is_one.then_some(name)
}

/// `ParseError at [row,col]:[5,3]`, which the parser of XML says; the message follows.
fn parse_error(text: &str) -> Option<(u32, u32, &str)> {
    let (_, rest) = text.split_once("[row,col")?;
    let (_, rest) = rest.split_once(":[").or_else(|| rest.split_once("}]: ["))?;
    let (place, message) = rest.split_once(']')?;
    let (row, column) = place.split_once(',')?;
    let message = message.trim().trim_start_matches("Message: ");
    let message = if message.is_empty() { "The XML is not well-formed" } else { message };
    Some((row.trim().parse().ok()?, column.trim().parse().ok()?, message))
}

/// `  OrderTest.adds:12 expected:<2> but was:<3>`, and the count of them.
fn test(text: &str) -> Option<Finding> {
    if text.starts_with("There are test failures") || text.starts_with("Tests run:") {
        return Some(Finding::new(Kind::Test, text));
    }
    let (place, message) = text.split_once(' ')?;
    let (name, line) = place.rsplit_once(':')?;
    let (class, _) = name.split_once('.')?;
    let is_class = class.starts_with(char::is_uppercase) && class.chars().all(char::is_alphanumeric);
    let line = line.trim_start_matches("->").parse().ok()?;
    is_class.then(|| Finding { line: Some(line), ..Finding::new(Kind::Test, format!("{name}: {message}")) })
}

fn disk(text: &str) -> Option<Finding> {
    const SIGNS: [&str; 4] = [
        "No space left on device",
        "Permission denied",
        "Read-only file system",
        "Could not create local repository",
    ];
    SIGNS.iter().any(|sign| text.contains(sign)).then(|| Finding::new(Kind::Disk, text))
}

/// `Failed to execute goal g:a:v:goal (id) on project p: message`.
fn goal(text: &str) -> Option<Finding> {
    let rest = text.strip_prefix("Failed to execute goal ")?;
    let (what, message) = rest.split_once(": ").map_or((rest, ""), |(_, _)| {
        let at = rest.find(" on project ").and_then(|at| rest.get(at..)?.find(": ").map(|more| at + more));
        at.map_or((rest, ""), |at| (rest.get(..at).unwrap_or(rest), rest.get(at + 2..).unwrap_or_default()))
    });
    let plugin = what.split(' ').next().unwrap_or(what);
    let mut parts = plugin.split(':').skip(1);
    let name = parts.next().unwrap_or(plugin);
    Some(Finding::new(Kind::Goal, format!("{name}: {}", message.trim().trim_end_matches(':'))))
}

fn number(text: &str) -> Option<u32> {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn shortened(text: &str) -> String {
    super::arguments::shortened(text, MESSAGE)
}
