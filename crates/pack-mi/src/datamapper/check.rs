//! Types of a mapping, checked by the TypeScript compiler, where there is one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_sandbox::{Command, SandboxError};
use mica_tools::Ground;
use tokio_util::sync::CancellationToken;

/// Checks the types of a file.
#[async_trait]
pub trait TypeChecker: Send + Sync {
    /// Checks a file as it is on disk.
    async fn check(&self, file: &Path, cancel: &CancellationToken) -> TypeReport;
}

/// What a check of types came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeReport {
    /// Nothing is wrong.
    Fine,
    /// What is wrong, a line each.
    Found(Vec<String>),
    /// It was not checked, and why.
    Skipped(String),
}

impl TypeReport {
    /// For the model.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Fine => "The TypeScript compiler finds nothing wrong.".to_owned(),
            Self::Found(lines) => format!("The TypeScript compiler says:\n{}", lines.join("\n")),
            Self::Skipped(why) => format!("Types were not checked: {why}."),
        }
    }
}

/// How long the compiler may take: it reads its own library first.
const TIME: Duration = Duration::from_secs(60);

/// Bytes of what it prints that are read.
const PRINTED: usize = 32 << 10;

/// Lines of it that are told.
const LINES: usize = 15;

/// The compiler of this machine, in the sandbox that commands run in. It may read the project, and write nothing.
pub struct SandboxedTsc {
    ground: Arc<dyn Ground>,
    program: String,
    first: Vec<String>,
}

impl SandboxedTsc {
    /// The `tsc` that is found on the path.
    pub fn new(ground: Arc<dyn Ground>) -> Self {
        Self { ground, program: "tsc".to_owned(), first: Vec::new() }
    }

    /// Another program, with arguments before those of the compiler.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<String>, first: Vec<String>) -> Self {
        self.program = program.into();
        self.first = first;
        self
    }

    async fn run(&self, file: &Path, cancel: &CancellationToken) -> Result<TypeReport, String> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let name = file.file_name().and_then(|name| name.to_str()).ok_or("the path is no text")?;
        let sandbox = self.ground.sandbox().await.map_err(|error| error.message)?;
        let mut boundary = self.ground.boundary().map_err(|error| error.message)?.read_only();
        boundary.limits.wall = Some(TIME);
        let arguments = [
            "--noEmit",
            "--pretty",
            "false",
            "--skipLibCheck",
            "--strict",
            "false",
            "--target",
            "es2020",
            "--module",
            "esnext",
            "--moduleResolution",
            "bundler",
            name,
        ];
        let command = Command::new(&self.program, PathBuf::from(folder))
            .arguments(self.first.iter().cloned())
            .arguments(arguments);
        let finished = match sandbox.run_to_end(command, &boundary, PRINTED, cancel.clone()).await {
            Ok(finished) => finished,
            Err(SandboxError::NotFound { .. }) => {
                return Ok(TypeReport::Skipped("there is no TypeScript compiler (tsc) here".to_owned()));
            }
            Err(error) => return Err(error.for_model()),
        };
        if finished.ended.how.is_success() {
            return Ok(TypeReport::Fine);
        }
        let printed = finished.output.text();
        let lines: Vec<String> =
            printed.lines().filter(|line| line.contains("error TS")).take(LINES).map(str::to_owned).collect();
        if lines.is_empty() {
            let why = finished.errors.text();
            let why =
                why.lines().chain(printed.lines()).find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(format!("the compiler ended with {} {why}", finished.ended.how));
        }
        Ok(TypeReport::Found(lines))
    }
}

#[async_trait]
impl TypeChecker for SandboxedTsc {
    async fn check(&self, file: &Path, cancel: &CancellationToken) -> TypeReport {
        self.run(file, cancel)
            .await
            .unwrap_or_else(|why| TypeReport::Skipped(why.trim_end_matches('.').to_owned()))
    }
}
