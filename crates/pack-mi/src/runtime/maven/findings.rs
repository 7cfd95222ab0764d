//! What went wrong in a build: its kind, its place in the project, and what to do about it.

use std::fmt;

use serde::Serialize;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The compiler.
    Compile,
    /// A build file.
    Pom,
    /// A dependency that is not to be had.
    Dependency,
    /// A plugin of Maven that is not to be had.
    Plugin,
    /// Something that would have to be downloaded, offline.
    Offline,
    /// Maven itself, which the project's wrapper downloads.
    Wrapper,
    /// Java that does not fit.
    Jdk,
    /// No Java, or none that compiles.
    NoJava,
    /// XML of the project.
    Xml,
    /// A test.
    Test,
    /// Space, rights, a folder that cannot be made.
    Disk,
    /// What a plugin says when it fails.
    Goal,
    /// An error that did not end the build.
    Other,
}

impl Kind {
    /// What to do about it, in a project whose build file names repositories or does not.
    pub(crate) fn help(self, has_repositories: bool) -> Option<&'static str> {
        match self {
            Self::Offline if !has_repositories => Some(
                "The build was offline, and this is not in Maven's local repository. pom.xml names no repositories: add one to \
                 pom.xml and build again with `network` naming its host, or the user sets mi.maven_settings = true, when \
                 Maven's own settings name one, and lists its host in mi.network.",
            ),
            Self::Offline => Some(
                "The build was offline, and this is not in Maven's local repository. Build again with `network` naming \
                 the hosts of the repositories in pom.xml (the user is asked), or the user lists them in mi.network.",
            ),
            Self::Wrapper => Some(
                "The project's mvnw downloads Maven when it is first used. Build again with `network` naming the host in \
                 .mvn/wrapper/maven-wrapper.properties, or the user sets mi.maven = \"mvn\".",
            ),
            Self::Dependency => Some(
                "Check group, artifact, version and type in pom.xml. A connector has the type zip and the group \
                 org.wso2.integration.connector; its repository must be in pom.xml, too.",
            ),
            Self::Plugin => Some(
                "Check the plugin's version in pom.xml (car.plugin.version), and that pom.xml has a pluginRepository \
                 that serves it.",
            ),
            Self::Jdk => Some(
                "The build needs another Java. The user sets mi.java_home to a JDK that fits, or the source and target \
                 version in pom.xml are lowered to what there is.",
            ),
            Self::NoJava => Some(
                "There is no Java here that can build: a JDK, with bin/javac; a JRE is not enough. The user installs one of \
                 version 11 or 17 (openjdk-17-jdk on Debian and Ubuntu, openjdk@17 in Homebrew), or sets mi.java_home to the \
                 folder of one. pom.xml has nothing to do with it.",
            ),
            Self::Disk => Some(
                "The sandbox lets a build write the project and Maven's local repository, and nothing else.",
            ),
            Self::Compile | Self::Pom | Self::Xml | Self::Test | Self::Goal | Self::Other => None,
        }
    }
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// Its kind.
    pub(crate) kind: Kind,
    /// The file, relative to the project when it is in it.
    pub(crate) file: Option<String>,
    /// The line, from 1.
    pub(crate) line: Option<u32>,
    /// The column, from 1.
    pub(crate) column: Option<u32>,
    /// What it says.
    pub(crate) message: String,
}

impl Finding {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, file: None, line: None, column: None, message: message.into() }
    }

    pub(super) fn at(mut self, file: impl Into<String>, line: Option<u32>, column: Option<u32>) -> Self {
        (self.file, self.line, self.column) = (Some(file.into()), line, column);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}
