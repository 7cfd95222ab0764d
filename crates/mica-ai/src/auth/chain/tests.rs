//! The order, the memory, and the list of excuses.

use super::*;
use crate::auth::fake::{Source, auth, bearer_of};
use crate::auth::{Credential, EntraCredential};

fn chain(members: &[&Arc<Source>]) -> Arc<DefaultChain> {
    Arc::new(DefaultChain::new(
        members.iter().map(|member| (*member).clone() as Arc<dyn TokenSource>).collect(),
    ))
}

#[tokio::test(start_paused = true)]
async fn the_first_that_works_is_kept() {
    let first = Source::new("first", [Err("absent")]);
    let second = Source::new("second", [Ok("t-1"), Ok("t-2")]);
    let third = Source::new("third", []);
    let credential = EntraCredential::new(chain(&[&first, &second, &third]));
    assert_eq!(credential.describe(), "chain of [first, second, third], scope https://ai.azure.com/.default");
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    credential.rejected().await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
    assert_eq!((first.asked().len(), second.asked().len(), third.asked().len()), (1, 2, 0));
    let patience: Vec<Patience> = second.asked().into_iter().map(|(_, patience)| patience).collect();
    assert_eq!(patience, [Patience::Probe, Patience::Full]);
    assert_eq!(
        credential.describe(),
        "second (chosen from a chain of 3), scope https://ai.azure.com/.default"
    );
    assert!(
        credential.hint().ends_with("If another identity was meant, name it instead of using the chain.")
    );
}

#[tokio::test(start_paused = true)]
async fn the_chosen_one_answers_for_itself() {
    let first = Source::new("first", [Err("absent"), Ok("another identity")]);
    let second = Source::new("second", [Ok("t-1"), Err("away")]);
    let credential = EntraCredential::new(chain(&[&first, &second]));
    bearer_of(&credential).await.unwrap();
    credential.rejected().await;
    let (_, said, hint) = auth(&bearer_of(&credential).await.unwrap_err());
    assert_eq!((said.as_str(), hint.as_str()), ("away", "Mend second."));
    assert_eq!(first.asked().len(), 1, "the identity does not change in the middle of a run");
}

#[tokio::test(start_paused = true)]
async fn when_none_works_each_has_its_say() {
    let first = Source::new("first", [Err("absent"), Ok("t-1")]);
    let silent = Source::new("silent", []);
    let last = Source::new("last", [Err("signed out")]);
    let credential = EntraCredential::new(chain(&[&first, &silent, &last]));
    let (_, said, hint) = auth(&bearer_of(&credential).await.unwrap_err());
    assert_eq!(
        said,
        "none of 3 credentials works. 1. first: absent; 2. silent: no answer within 20 s; 3. last: signed out"
    );
    assert_eq!(
        hint,
        "One of them is enough. 1. Mend first. 2. Check the network, or leave this credential out. 3. Mend last."
    );
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1", "a failure is not remembered");
}

#[tokio::test(start_paused = true)]
async fn four_silent_members_are_listed_before_the_deadline() {
    let silent = Source::new("silent", []);
    let credential = EntraCredential::new(chain(&[&silent, &silent, &silent, &silent]));
    let (_, said, _) = auth(&bearer_of(&credential).await.unwrap_err());
    assert!(said.starts_with("none of 4 credentials works. 1. silent: no answer within 20 s; 2. "), "{said}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_chain_says_so() {
    let (_, said, _) = auth(&bearer_of(&EntraCredential::new(chain(&[]))).await.unwrap_err());
    assert_eq!(said, "there is no credential to try");
}
