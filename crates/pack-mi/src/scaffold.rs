//! New projects: the files that one begins with.
//!
//! Pure: a wish goes in, a list of files comes out, and whoever asked writes them. What comes out passes the checker, for
//! every runtime that it knows.
//!
//! ```
//! use pack_mi::scaffold::{NewProject, files};
//!
//! let project = NewProject::new("orders", "4.4.0".parse().unwrap())?;
//! let files = files(&project);
//! assert!(files.iter().any(|file| file.path == "pom.xml" && file.content.contains("<artifactId>orders</artifactId>")));
//! # Ok::<(), pack_mi::scaffold::ScaffoldError>(())
//! ```

mod api;
pub mod openapi;
mod pom;

use synapse_lang::model::Version;

pub use openapi::OpenApi;

/// The folders of artifacts.
pub const ARTIFACTS: [&str; 12] = [
    "apis",
    "data-services",
    "data-sources",
    "endpoints",
    "inbound-endpoints",
    "local-entries",
    "message-processors",
    "message-stores",
    "proxy-services",
    "sequences",
    "tasks",
    "templates",
];

/// A project that is wished for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProject {
    /// Its name: the artifact id, and usually the folder.
    pub name: String,
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The runtime it is built for.
    pub runtime: Version,
    /// An id that tells it from all others, for the tools of the product.
    pub id: String,
    /// Addresses of Maven repositories that the build file names. None are known by themselves.
    pub repositories: Vec<String>,
    /// An API to begin with.
    pub api: Option<OpenApi>,
}

/// A file that is to be written, or a folder that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Where, relative to the project, with forward slashes. An empty folder ends with one: a file that only keeps it
    /// would be packed by the build.
    pub path: String,
    /// What is in it.
    pub content: String,
}

/// Why there is no such project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScaffoldError {
    /// The name is none.
    #[error(
        "{name:?} cannot be the name of a project: it begins with a letter and has letters, digits, `-` and `_`, at most 64"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The group is none.
    #[error("{group:?} cannot be a group: groups look like com.example.shop")]
    BadGroup {
        /// The group.
        group: String,
    },
    /// The address of a repository is none.
    #[error(
        "{address:?} is no address of a repository: it begins with https:// or http://, and has no blanks"
    )]
    BadRepository {
        /// The address.
        address: String,
    },
    /// The runtime is not one that projects are made for.
    #[error("there are no projects for runtime {runtime}: the versions from {oldest} on can be used")]
    BadRuntime {
        /// The runtime.
        runtime: Version,
        /// The oldest there is.
        oldest: Version,
    },
}

impl NewFile {
    /// Whether it is a folder with nothing in it.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
    }
}

impl NewProject {
    /// A project of that name for a runtime, in a group of its own.
    ///
    /// # Errors
    /// [`ScaffoldError`] when the name cannot be one.
    pub fn new(name: &str, runtime: Version) -> Result<Self, ScaffoldError> {
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|one| one.is_ascii_alphanumeric() || "-_".contains(one))
            && name.len() <= 64;
        if !is_name {
            return Err(ScaffoldError::BadName { name: name.to_owned() });
        }
        if runtime < Version::OLDEST {
            return Err(ScaffoldError::BadRuntime { runtime, oldest: Version::OLDEST });
        }
        Ok(Self {
            name: name.to_owned(),
            group: "com.example".to_owned(),
            version: "1.0.0".to_owned(),
            runtime,
            id: String::new(),
            repositories: Vec::new(),
            api: None,
        })
    }

    /// In another group.
    ///
    /// # Errors
    /// [`ScaffoldError`] when it cannot be one.
    pub fn in_group(mut self, group: &str) -> Result<Self, ScaffoldError> {
        let is_part = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphabetic())
                && part.chars().all(|one| one.is_ascii_alphanumeric() || "-_".contains(one))
        };
        if group.len() > 200 || !group.split('.').all(is_part) {
            return Err(ScaffoldError::BadGroup { group: group.to_owned() });
        }
        group.clone_into(&mut self.group);
        Ok(self)
    }

    /// With repositories that the build may ask.
    ///
    /// # Errors
    /// [`ScaffoldError`] when one of them is no address.
    pub fn with_repositories(mut self, addresses: &[String]) -> Result<Self, ScaffoldError> {
        let is_address = |address: &str| {
            let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty())
                && !address.chars().any(|one| one.is_whitespace() || one.is_control())
        };
        if let Some(wrong) = addresses.iter().find(|address| !is_address(address)) {
            return Err(ScaffoldError::BadRepository { address: wrong.clone() });
        }
        self.repositories = addresses.to_vec();
        Ok(self)
    }
}

/// The files of a project, by path.
#[must_use]
pub fn files(project: &NewProject) -> Vec<NewFile> {
    let mut files = vec![
        file("pom.xml", pom::text(project)),
        file(".gitignore", IGNORED.to_owned()),
        file("README.md", readme(project)),
        file("deployment/deployment.toml", DEPLOYMENT.to_owned()),
        file("deployment/docker/Dockerfile", DOCKERFILE.to_owned()),
        file(
            "src/main/wso2mi/resources/artifact.xml",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<artifacts>\n</artifacts>\n".to_owned(),
        ),
        file("src/main/wso2mi/resources/conf/config.properties", CONFIGURABLES.to_owned()),
    ];
    let mut folders: Vec<String> =
        ARTIFACTS.iter().map(|folder| format!("src/main/wso2mi/artifacts/{folder}")).collect();
    let mut resources = vec!["api-definitions", "connectors", "inbound-connectors", "metadata"];
    if project.runtime < Version::EXPRESSIONS {
        resources.extend(["registry/gov", "registry/conf"]);
    } else {
        resources.push("datamapper");
    }
    folders.extend(resources.iter().map(|folder| format!("src/main/wso2mi/resources/{folder}")));
    folders.extend(
        ["deployment/libs", "src/main/java", "src/test/wso2mi", "src/test/resources/mock-services"]
            .map(str::to_owned),
    );
    if let Some(api) = &project.api {
        files.extend(api::files(api));
    }
    for folder in folders {
        let folder = format!("{folder}/");
        if !files.iter().any(|file| file.path.starts_with(&folder)) {
            files.push(file(&folder, String::new()));
        }
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files
}

fn file(path: &str, content: String) -> NewFile {
    NewFile { path: path.to_owned(), content }
}

fn readme(project: &NewProject) -> String {
    let NewProject { name, runtime, .. } = project;
    format!(
        "# {name}\n\nAn integration for WSO2 Micro Integrator {runtime}.\n\n\
         - Artifacts are in `src/main/wso2mi/artifacts`, one file each; resources and connectors in `src/main/wso2mi/resources`.\n\
         - `mica check` checks them; `mvn clean install` builds `target/{name}_{version}.car`.\n\
         - Unit tests are in `src/test/wso2mi`.\n\
         - Values that differ between places are declared in `src/main/wso2mi/resources/conf/config.properties`, and set in \
         the environment or in `.env`, which is not kept in version control.\n",
        version = project.version,
    )
}

const IGNORED: &str = "target/
*.car
.env
.tryout/
deployment/libs/*.jar
.classpath
.project
.settings/
.idea/
*.iml
.DS_Store
";

const CONFIGURABLES: &str = "# Values that differ between places: one name:type on a line, for example
# backend_url:string
";

const DEPLOYMENT: &str =
    "# The server that this project is deployed to. The runtime's documentation lists what can stand here.

[server]
hostname = \"localhost\"

[keystore.primary]
file_name = \"repository/resources/security/wso2carbon.jks\"
password = \"wso2carbon\"
alias = \"wso2carbon\"
key_password = \"wso2carbon\"

[truststore]
file_name = \"repository/resources/security/client-truststore.jks\"
password = \"wso2carbon\"
";

const DOCKERFILE: &str = "ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY CompositeApps/*.car ${WSO2_SERVER_HOME}/repository/deployment/server/carbonapps/
# COPY libs/*.jar ${WSO2_SERVER_HOME}/lib/
";

#[cfg(test)]
mod tests;
