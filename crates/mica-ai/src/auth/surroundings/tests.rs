//! Which variables make which chain.

use super::*;
use crate::auth::cli::{CommandError, CommandOutput};
use crate::auth::fake::{Script, clock};
use async_trait::async_trait;

struct NoRunner;

#[async_trait]
impl CommandRunner for NoRunner {
    async fn run(&self, program: &str, _args: &[&str]) -> Result<CommandOutput, CommandError> {
        Err(CommandError::NotFound { program: program.to_owned() })
    }
}

fn chain(variables: &[(&str, &str)], runner: bool) -> String {
    let lookup =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let surroundings = Surroundings::look_up(lookup);
    assert!(!format!("{surroundings:?}").contains("sesame"));
    let transport: Arc<dyn Transport> = Script::new([]);
    let runner = runner.then(|| Arc::new(NoRunner) as Arc<dyn CommandRunner>);
    surroundings.chain(&transport, &clock(), runner).describe()
}

#[tokio::test]
async fn on_a_bare_machine_the_platform_and_the_cli_are_tried() {
    let bare = "system-assigned managed identity of this virtual machine";
    assert_eq!(chain(&[], false), format!("chain of [{bare}]"));
    assert_eq!(chain(&[("AZURE_TENANT_ID", " ")], true), format!("chain of [{bare}, Azure CLI sign-in]"));
}

#[tokio::test]
async fn everything_that_is_set_is_tried_in_order() {
    let variables = [
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "app"),
        ("AZURE_CLIENT_SECRET", "sesame"),
        ("AZURE_FEDERATED_TOKEN_FILE", "/var/run/token"),
        ("IDENTITY_ENDPOINT", "http://127.0.0.1:41/msi"),
        ("IDENTITY_HEADER", "sesame"),
    ];
    assert_eq!(
        chain(&variables, true),
        "chain of [service principal app of tenant tenant, workload identity app of tenant tenant (token file \
         /var/run/token), managed identity app of this app, Azure CLI sign-in in tenant tenant]"
    );
}

#[test]
fn the_authority_is_taken_over() {
    let lookup = |name: &str| (name == "AZURE_AUTHORITY_HOST").then(|| "https://login.example/".to_owned());
    assert_eq!(Surroundings::look_up(lookup).authority, Authority::at("https://login.example"));
    assert_eq!(Surroundings::look_up(|_| None).authority, Authority::public());
}
