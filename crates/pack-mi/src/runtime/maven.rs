//! Maven: which one, with what it is called, and what it may touch.

mod findings;
mod log;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mica_agent::ToolError;
use mica_sandbox::Host;
use synapse_lang::project::disk;

pub(super) use findings::{Finding, Kind};
pub(super) use log::MavenLog;

use super::program::{Program, Reach};
use super::settings::MavenChoice;
use super::{Runtime, arguments};

/// Java takes no notice of the variables that name a proxy, so they are made into what it reads. `$0` and what follows are
/// the program and its arguments.
const THROUGH_PROXY: &str = r#"
proxy=${HTTPS_PROXY#http://}; proxy=${proxy%/}
if [ -n "$proxy" ]; then
  host=${proxy%:*}; port=${proxy##*:}
  MAVEN_OPTS="$MAVEN_OPTS -Dhttp.proxyHost=$host -Dhttp.proxyPort=$port -Dhttps.proxyHost=$host -Dhttps.proxyPort=$port -Dhttp.nonProxyHosts="
  export MAVEN_OPTS
fi
exec "$0" "$@"
"#;

/// Maven downloads hundreds of files; who watches need not read of each.
const QUIET_TRANSFERS: &str =
    "-Dorg.slf4j.simpleLogger.log.org.apache.maven.cli.transfer.Slf4jMavenTransferListener=warn";

/// A call of Maven.
pub(super) struct Maven {
    pub(super) program: Program,
    /// What is run, for people.
    pub(super) shown: String,
    /// Whether it reaches nothing, and so was told to be offline.
    pub(super) is_offline: bool,
    /// What should be known of it.
    pub(super) notes: Vec<String>,
}

/// What Maven is to do.
pub(super) struct Goal<'a> {
    pub(super) arguments: &'a [&'a str],
    /// Properties, without `-D`.
    pub(super) properties: &'a [String],
    /// Hosts that the call itself names.
    pub(super) hosts: Vec<Host>,
    pub(super) offline: bool,
    pub(super) wall: Duration,
}

impl Runtime {
    /// A call of Maven in the project.
    ///
    /// # Errors
    /// When there is no project for it, or not the wrapper that was chosen.
    pub(super) fn maven(&self, goal: Goal<'_>) -> Result<Maven, ToolError> {
        let (project, settings) = (self.project(), self.settings());
        if !project.join("pom.xml").is_file() {
            let below = project.strip_prefix(self.workspace.root()).ok();
            let place = below.filter(|path| !path.as_os_str().is_empty());
            let place = place.map_or_else(|| "the project".to_owned(), |path| path.display().to_string());
            return Err(ToolError::new(format!(
                "There is no pom.xml in {place}, so Maven cannot build it. Nothing was run."
            )));
        }
        let mut notes = Vec::new();
        let name = self.maven_name(&project, &mut notes)?;
        let mut hosts = goal.hosts;
        hosts.extend(settings.hosts.iter().cloned());
        let is_offline = goal.offline || hosts.is_empty();
        let mut arguments: Vec<String> = vec!["-B".to_owned()];
        if is_offline {
            arguments.push("-o".to_owned());
        }
        if let Some(path) = self.neutral_settings(&mut notes) {
            arguments.extend(["-s".to_owned(), path.display().to_string()]);
        }
        arguments.extend(goal.arguments.iter().map(|one| (*one).to_owned()));
        let mut shown = vec![name.clone()];
        shown.extend(arguments.iter().cloned());
        shown.extend(goal.properties.iter().map(|one| format!("-D{one}")));
        arguments.extend(["-Dstyle.color=never".to_owned(), QUIET_TRANSFERS.to_owned()]);
        arguments.extend(goal.properties.iter().map(|one| format!("-D{one}")));

        let mut program = Program::new(name.clone(), &project);
        program.wall = Some(goal.wall);
        if is_offline {
            program.arguments = arguments;
        } else {
            program.program = "sh".to_owned();
            program.arguments =
                ["-c".to_owned(), THROUGH_PROXY.to_owned(), name].into_iter().chain(arguments).collect();
            program.reach = Reach::Hosts(hosts, settings.weak);
        }
        let wrapper =
            settings.wrapper_folder.as_ref().filter(|_| shown.first().is_some_and(|name| name != "mvn"));
        for folder in settings.local_repository.iter().chain(wrapper) {
            if !folder.is_dir() {
                std::fs::create_dir_all(folder).map_err(|error| {
                    ToolError::new(format!(
                        "Maven's folder for downloads, {}, cannot be made: {error}. Nothing was run.",
                        folder.display()
                    ))
                })?;
                notes.push(format!("{} was made, for what Maven downloads", folder.display()));
            }
            program.writable.push(folder.clone());
        }
        if settings.reads_user_settings {
            program.opened.extend(settings.user_settings.clone());
        }
        Ok(Maven { program, shown: shown.join(" "), is_offline, notes })
    }

    /// The program's name.
    fn maven_name(&self, project: &Path, notes: &mut Vec<String>) -> Result<String, ToolError> {
        let wrapper = project.join("mvnw");
        let state = wrapper_state(&wrapper);
        match (self.settings().maven, state) {
            (MavenChoice::Installed, _) | (MavenChoice::Either, Wrapper::Absent) => Ok("mvn".to_owned()),
            (_, Wrapper::Usable) => Ok("./mvnw".to_owned()),
            (MavenChoice::Either, Wrapper::NotExecutable) => {
                notes.push("mvnw is not executable, so the installed mvn is used (chmod +x mvnw)".to_owned());
                Ok("mvn".to_owned())
            }
            (MavenChoice::Wrapper, Wrapper::Absent) => Err(ToolError::new(
                "The setting mi.maven asks for the project's wrapper, and there is no mvnw in the project. Nothing was run.",
            )),
            (MavenChoice::Wrapper, Wrapper::NotExecutable) => {
                Err(ToolError::new("The project's mvnw is not executable: chmod +x mvnw. Nothing was run."))
            }
        }
    }

    /// The user's settings of Maven are hidden from builds, because they can hold passwords; Maven would stop at what it
    /// cannot read, so it is given settings that say nothing.
    fn neutral_settings(&self, notes: &mut Vec<String>) -> Option<PathBuf> {
        let settings = self.settings();
        let hidden = settings.user_settings.as_ref().filter(|path| path.is_file())?;
        if settings.reads_user_settings {
            return None;
        }
        notes.push(format!(
            "{} is not used, because it can hold passwords and builds run foreign code; the user allows it with \
             mi.maven_settings = true",
            hidden.display()
        ));
        self.shared.logs.write("maven-settings", "<settings/>\n", (self.shared.clock)()).ok()
    }
}

/// What became of the wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Absent,
    NotExecutable,
    Usable,
}

fn wrapper_state(path: &Path) -> Wrapper {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => Wrapper::Usable,
        Ok(found) if found.is_file() => Wrapper::NotExecutable,
        _ => Wrapper::Absent,
    }
}

/// What to say when Maven is not there.
pub(super) fn missing(name: &str) -> String {
    if name == "./mvnw" {
        return "The project's mvnw cannot be run: its first line names a shell that is not here. Nothing was run.".to_owned();
    }
    "Maven is not installed here: there is no mvn on the path, and the project has no executable mvnw. The user installs \
     it (the package is called maven on Debian, Ubuntu, Fedora and in Homebrew) with a JDK of version 11 or 17, or puts a \
     wrapper into the project. Nothing was run."
        .to_owned()
}

/// Hosts that a call names.
pub(super) fn hosts(texts: &[String]) -> Result<Vec<Host>, ToolError> {
    texts
        .iter()
        .map(|text| {
            text.parse().map_err(|error: mica_sandbox::SandboxError| {
                ToolError::new(format!("{} Nothing was run.", error.for_model()))
            })
        })
        .collect()
}

/// Whether the build file of a project, or one that it inherits from, names repositories.
fn has_repositories(project: &Path) -> bool {
    disk::poms(project)
        .iter()
        .filter_map(|(path, _)| disk::text(path))
        .any(|text| ["<repositories>", "<pluginRepositories>"].iter().any(|element| text.contains(element)))
}

/// Findings of a project as lines for the model, and what to do about them.
pub(super) fn told(findings: &[Finding], most: usize, project: &Path) -> Vec<String> {
    let mut lines: Vec<String> = findings.iter().take(most).map(ToString::to_string).collect();
    if findings.len() > most {
        lines.push(format!("… and {} more", arguments::count(findings.len() - most, "error")));
    }
    let has_repositories = has_repositories(project);
    let mut helps: Vec<&str> = Vec::new();
    for help in findings.iter().filter_map(|finding| finding.kind.help(has_repositories)) {
        if !helps.contains(&help) {
            helps.push(help);
        }
    }
    lines.extend(helps.into_iter().map(|help| format!("→ {help}")));
    lines
}

#[cfg(test)]
mod tests;
