//! The Azure CLI as a token source: whoever is signed in with `az login`.
//!
//! Nothing is started here. The binary hands over a [`CommandRunner`], so that the one crate that starts processes
//! stays the only one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};

use super::token::{AccessToken, Clock, Patience, Scope, TokenError, TokenSource};
use super::{aadsts, wire};
use crate::error::Reply;

/// The CLI is a Python program that may have to ask the network: seconds are normal.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs a program to its end.
///
/// Contract: when the future is dropped, the program is ended too. No shell is involved.
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs `program` with `args` and collects what it prints.
    ///
    /// # Errors
    /// When it could not be run at all. A program that fails has an output.
    async fn run(&self, program: &str, args: &[&str]) -> Result<CommandOutput, CommandError>;
}

/// What a program printed, and how it ended.
#[derive(Debug, Clone)]
pub struct CommandOutput {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Standard output. A secret, because the token is in it.
    pub stdout: SecretString,
    /// Standard error.
    pub stderr: String,
}

/// Why a program did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is no such program.
    #[error("{program} is not installed, or not on the path")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// It is there and could not be started.
    #[error("{program} could not be run: {reason}")]
    Failed {
        /// Its name.
        program: String,
        /// Why.
        reason: String,
    },
}

/// Fetches tokens of whoever is signed in to the Azure CLI.
pub struct AzureCli {
    runner: Arc<dyn CommandRunner>,
    clock: Arc<dyn Clock>,
    tenant: Option<String>,
}

impl AzureCli {
    /// The account that the CLI has chosen.
    pub fn new(runner: Arc<dyn CommandRunner>, clock: Arc<dyn Clock>) -> Self {
        Self { runner, clock, tenant: None }
    }

    /// In a given tenant, for people who are guests in several.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn sign_in(&self, scope: &Scope) -> String {
        match &self.tenant {
            Some(tenant) => format!("az login --tenant {tenant} --scope {scope}"),
            None => format!("az login --scope {scope}"),
        }
    }

    fn failed(&self, output: &CommandOutput, scope: &Scope) -> TokenError {
        let code = wire::find_aadsts(&output.stderr).map(str::to_owned);
        let said = output
            .stderr
            .lines()
            .map(|line| line.trim().trim_start_matches("ERROR:").trim())
            .find(|line| !line.is_empty() && !line.starts_with("WARNING:"))
            .unwrap_or_default();
        let (_, said) = wire::split_aadsts(said);
        // Its standard output is not quoted: it may hold a token.
        let message = match (wire::quote(said), output.code) {
            (said, _) if !said.is_empty() => said,
            (_, Some(code)) => format!("az ended with code {code} and said nothing"),
            (_, None) => "az was ended by a signal".to_owned(),
        };
        let known = code.as_deref().and_then(aadsts::hint);
        let hint = match known {
            Some(hint) => format!("{hint} The command is `{}`.", self.sign_in(scope)),
            None => {
                format!("Sign in with `{}`; `az account show` tells who is signed in.", self.sign_in(scope))
            }
        };
        TokenError { reply: Box::new(Reply { code, message, ..Reply::default() }), hint }
    }
}

#[async_trait]
impl TokenSource for AzureCli {
    async fn fetch(&self, scope: &Scope, _patience: Patience) -> Result<AccessToken, TokenError> {
        let mut args = vec!["account", "get-access-token", "--output", "json", "--scope", scope.as_str()];
        if let Some(tenant) = &self.tenant {
            args.extend(["--tenant", tenant]);
        }
        if args.iter().skip(5).step_by(2).any(|value| value.starts_with('-')) {
            return Err(TokenError::local(
                "a scope or tenant that begins with a dash would be read as an option",
                "Correct the scope or the tenant.",
            ));
        }
        let output = match tokio::time::timeout(LIMIT, self.runner.run("az", &args)).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                let hint = match error {
                    CommandError::NotFound { .. } => format!(
                        "Install the Azure CLI and sign in with `{}`, or use another credential.",
                        self.sign_in(scope)
                    ),
                    CommandError::Failed { .. } => {
                        "Check that `az account show` works in a terminal.".to_owned()
                    }
                };
                return Err(TokenError::local(error.to_string(), hint));
            }
            Err(_) => {
                return Err(TokenError::local(
                    format!("az did not finish within {} s", LIMIT.as_secs()),
                    "Check that `az account get-access-token` works in a terminal, and does not ask for anything.",
                ));
            }
        };
        if output.code != Some(0) {
            return Err(self.failed(&output, scope));
        }
        AccessToken::read(output.stdout.expose_secret().as_bytes(), Some(self.clock.now())).map_err(|why| {
            TokenError::local(
                format!("az did not print a token: {why}"),
                "Update the Azure CLI with `az upgrade`, and check that `az account get-access-token --output json` \
                 prints nothing else.",
            )
        })
    }

    fn describe(&self) -> String {
        match &self.tenant {
            Some(tenant) => format!("Azure CLI sign-in in tenant {tenant}"),
            None => "Azure CLI sign-in".to_owned(),
        }
    }

    fn hint(&self) -> String {
        "`az account show` tells who is signed in, and in which tenant.".to_owned()
    }
}

impl fmt::Debug for AzureCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AzureCli({})", self.describe())
    }
}

#[cfg(test)]
mod tests;
