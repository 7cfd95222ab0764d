//! What `mica doctor` says about a Micro Integrator project: its runtime, and what builds and runs it. Only looks.

use std::path::{Path, PathBuf};

use pack_mi::{Checker, MiPack};

use super::Finding;
use crate::config::MiValues;
use crate::surroundings::Surroundings;

/// What there is to say; nothing in other folders.
pub(super) fn findings(values: &MiValues, surroundings: &Surroundings) -> Vec<Finding> {
    if MiPack::claims(&surroundings.folder).is_none() {
        return Vec::new();
    }
    let checker = Checker::new(&surroundings.folder);
    let project = match checker.runtime() {
        Some(version) => Finding::good("project", format!("built for Micro Integrator {version}")),
        None => Finding::bad(
            "project",
            "its pom.xml does not say which runtime it is built for; files are checked as for the newest",
            "set <project.runtime.version> in the properties of pom.xml",
        ),
    };
    vec![project, maven(&checker, surroundings), java(values, surroundings), server(values)]
}

fn maven(checker: &Checker, surroundings: &Surroundings) -> Finding {
    let wrapper = checker.root().map(|root| root.join("mvnw")).filter(|path| path.is_file());
    match wrapper.or_else(|| on_path("mvn", surroundings)) {
        Some(path) => Finding::good("maven", path.display().to_string()),
        None => Finding::good(
            "maven",
            "not found: projects cannot be built or tested here. Install Maven, or add its wrapper to the project",
        ),
    }
}

fn java(values: &MiValues, surroundings: &Surroundings) -> Finding {
    let home = values.java_home.clone().or_else(|| surroundings.variable("JAVA_HOME"));
    let found = match &home {
        Some(home) => Some(Path::new(home).join("bin/java")).filter(|path| path.is_file()),
        None => on_path("java", surroundings),
    };
    match (found, home) {
        (Some(path), _) => Finding::good("java", path.display().to_string()),
        (None, Some(home)) => Finding::bad(
            "java",
            format!("there is no bin/java in {home}"),
            "mend JAVA_HOME, or java_home below [mi] in the settings",
        ),
        (None, None) => Finding::good("java", "not found: install a JDK to build, test or run projects"),
    }
}

fn server(values: &MiValues) -> Finding {
    match values.runtime.as_deref() {
        None => Finding::good(
            "server",
            "no Micro Integrator is configured: `runtime` below [mi] in the settings names its folder",
        ),
        Some(folder) if Path::new(folder).join("bin/micro-integrator.sh").is_file() => {
            Finding::good("server", folder.to_owned())
        }
        Some(folder) => Finding::bad(
            "server",
            format!("there is no bin/micro-integrator.sh in {folder}"),
            "mend `runtime` below [mi] in the settings",
        ),
    }
}

/// The first file of a name in the folders that programs are looked for in.
fn on_path(name: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    let folders = surroundings.variable("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}
