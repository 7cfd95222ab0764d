//! Programs that the user set up and signed in to, run as they are: not confined, and ended when nobody waits for them.

use std::path::PathBuf;

use async_trait::async_trait;
use mica_ai::auth::{CommandError, CommandOutput, CommandRunner};
use mica_sandbox::{Boundary, Command, Sandbox, SandboxError, Stub};
use tokio_util::sync::CancellationToken;

use crate::surroundings::Surroundings;

/// What is kept of each stream. A token is a few kilobytes.
const MOST: usize = 256 * 1024;

/// Runs programs with everything that the user has.
pub struct Runner {
    sandbox: Sandbox,
    boundary: Boundary,
    folder: PathBuf,
}

impl Runner {
    /// In the folder and the environment that were found.
    pub fn new(surroundings: &Surroundings) -> Self {
        Self {
            sandbox: Sandbox::unconfined(Stub::this_program()),
            boundary: Boundary::open(surroundings.variables.clone(), &std::env::temp_dir()),
            folder: surroundings.folder.clone(),
        }
    }
}

#[async_trait]
impl CommandRunner for Runner {
    async fn run(&self, program: &str, args: &[&str]) -> Result<CommandOutput, CommandError> {
        let command = Command::new(program, &self.folder).arguments(args.iter().copied());
        // Dropping the future drops the command, which ends it.
        match self.sandbox.run_to_end(command, &self.boundary, MOST, CancellationToken::new()).await {
            Ok(finished) => Ok(CommandOutput {
                code: match finished.ended.how {
                    mica_sandbox::How::Exited(code) => Some(code),
                    _ => None,
                },
                stdout: finished.output.text().into(),
                stderr: finished.errors.text(),
            }),
            Err(SandboxError::NotFound { program }) => Err(CommandError::NotFound { program }),
            Err(error) => {
                Err(CommandError::Failed { program: program.to_owned(), reason: error.to_string() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stub is the program itself, and a test is not: what is seen here is that nothing is run without one.
    #[tokio::test]
    async fn without_a_stub_nothing_runs() {
        let folder = std::env::temp_dir();
        let runner = Runner {
            sandbox: Sandbox::unconfined(Stub::at("/no/such/stub")),
            boundary: Boundary::open(std::collections::BTreeMap::new(), &folder),
            folder,
        };
        let error = runner.run("true", &[]).await.unwrap_err();
        assert!(matches!(error, CommandError::Failed { .. }), "{error}");
    }
}
