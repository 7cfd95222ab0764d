//! The Azure CLI by script: signed in, signed out, missing, slow and garbled.

use std::sync::Mutex;

use super::*;
use crate::auth::EntraCredential;
use crate::auth::fake::{NOW, auth, bearer_of, clock, faces};

type Ran = Result<CommandOutput, CommandError>;

/// Gives one result and keeps the command line; without a result it never ends.
struct Runner {
    result: Option<Ran>,
    ran: Mutex<Vec<String>>,
}

#[async_trait]
impl CommandRunner for Runner {
    async fn run(&self, program: &str, args: &[&str]) -> Ran {
        self.ran.lock().unwrap().push(format!("{program} {}", args.join(" ")));
        match &self.result {
            Some(result) => result.clone(),
            None => std::future::pending().await,
        }
    }
}

fn runner(result: Option<Ran>) -> Arc<Runner> {
    Arc::new(Runner { result, ran: Mutex::default() })
}

fn output(code: i32, stdout: &str, stderr: &str) -> Option<Ran> {
    Some(Ok(CommandOutput {
        code: Some(code),
        stdout: SecretString::from(stdout),
        stderr: stderr.to_owned(),
    }))
}

async fn failure(result: Option<Ran>) -> (String, String) {
    let source = AzureCli::new(runner(result), clock());
    let error = bearer_of(&EntraCredential::new(Arc::new(source))).await.unwrap_err();
    assert!(!faces(&error).contains("sesame"));
    let (tried, said, hint) = auth(&error);
    assert_eq!(tried, "Azure CLI sign-in, scope https://ai.azure.com/.default");
    (said, hint)
}

#[tokio::test(start_paused = true)]
async fn the_command_is_asked_for_json_and_the_scope() {
    let stdout = format!(r#"{{"accessToken":"t","expires_on":{},"tokenType":"Bearer"}}"#, NOW + 900);
    let runner = runner(output(0, &stdout, "WARNING: something"));
    let source = AzureCli::new(runner.clone(), clock()).tenant("contoso.example");
    let token = source.fetch(&Scope::foundry(), Patience::Full).await.unwrap();
    assert_eq!((token.secret.expose_secret(), token.lifetime), ("t", Duration::from_secs(900)));
    let expected = "az account get-access-token --output json --scope https://ai.azure.com/.default \
                    --tenant contoso.example";
    assert_eq!(*runner.ran.lock().unwrap(), [expected]);
}

#[tokio::test(start_paused = true)]
async fn without_the_cli_it_says_to_install_it() {
    let (said, hint) = failure(Some(Err(CommandError::NotFound { program: "az".to_owned() }))).await;
    assert_eq!(said, "az is not installed, or not on the path");
    assert_eq!(
        hint,
        "Install the Azure CLI and sign in with `az login --scope https://ai.azure.com/.default`, or use another \
         credential."
    );
}

#[tokio::test(start_paused = true)]
async fn signed_out_it_says_to_sign_in() {
    let stderr = "WARNING: old version\nERROR: Please run 'az login' to setup account.\n";
    let (said, hint) = failure(output(1, "sesame", stderr)).await;
    assert_eq!(said, "Please run 'az login' to setup account.");
    assert_eq!(
        hint,
        "Sign in with `az login --scope https://ai.azure.com/.default`; `az account show` tells who is signed in."
    );
}

#[tokio::test(start_paused = true)]
async fn an_expired_sign_in_is_told_by_its_number() {
    let stderr = "ERROR: AADSTS700082: The refresh token has expired due to inactivity. Trace ID: 1";
    let (said, hint) = failure(output(1, "", stderr)).await;
    assert_eq!(said, "AADSTS700082: The refresh token has expired due to inactivity.");
    assert!(hint.starts_with("The sign-in was unused for too long. Run `az login` again."), "{hint}");
}

#[tokio::test(start_paused = true)]
async fn a_wordless_failure_is_told_by_its_code() {
    assert_eq!(failure(output(2, "sesame", "")).await.0, "az ended with code 2 and said nothing");
    let killed = CommandOutput { code: None, stdout: SecretString::from(""), stderr: String::new() };
    assert_eq!(failure(Some(Ok(killed))).await.0, "az was ended by a signal");
    let broken = CommandError::Failed { program: "az".to_owned(), reason: "no permission".to_owned() };
    assert_eq!(failure(Some(Err(broken))).await.0, "az could not be run: no permission");
}

#[tokio::test(start_paused = true)]
async fn garbled_output_is_told_without_its_contents() {
    let (said, _) = failure(output(0, "{\"accessToken\":\"sesame", "")).await;
    assert_eq!(said, "az did not print a token: its answer is not JSON (line 1, column 22)");
    let (said, _) = failure(output(0, r#"{"token":"sesame"}"#, "")).await;
    assert_eq!(said, "az did not print a token: its answer holds no access token");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_hangs_is_given_up() {
    assert_eq!(failure(None).await.0, "az did not finish within 30 s");
}

#[tokio::test(start_paused = true)]
async fn a_value_that_looks_like_an_option_is_not_passed_on() {
    let runner = runner(output(0, "", ""));
    let source = AzureCli::new(runner.clone(), clock()).tenant("--debug");
    source.fetch(&Scope::foundry(), Patience::Full).await.unwrap_err();
    let source = AzureCli::new(runner.clone(), clock());
    source.fetch(&Scope::named("-x"), Patience::Full).await.unwrap_err();
    assert_eq!(runner.ran.lock().unwrap().len(), 0);
}

#[test]
fn what_the_command_printed_does_not_print() {
    let output = CommandOutput { code: Some(0), stdout: SecretString::from("sesame"), stderr: String::new() };
    assert!(!format!("{output:?}").contains("sesame"));
}
