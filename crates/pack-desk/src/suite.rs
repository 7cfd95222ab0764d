//! The suite of evals that comes along: whether the desk is fit for its agents. It asks no model.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::station::Suites;
use crate::store::{Result, Store, articles, team};

/// The suite that comes along.
pub struct Built;

type Case = fn(&Store) -> Result<Result<(), String>>;

const CASES: &[(&str, Case)] = &[
    ("every article is found by its title", by_title),
    ("customers are shown nothing internal", nothing_internal),
    ("agents may do less than their owners", less),
    ("agents are told to leave money to people", money),
    ("every thread has an assignee that exists", assignees),
];

#[async_trait]
impl Suites for Built {
    fn names(&self) -> Vec<String> {
        vec!["desk".to_owned()]
    }

    async fn run(
        &self,
        suite: &str,
        store: &Store,
        progress: &(dyn Fn(i64, i64) + Send + Sync),
    ) -> Result<Value, String> {
        if suite != "desk" {
            return Err(format!("there is no suite {suite:?}"));
        }
        let total = i64::try_from(CASES.len()).unwrap_or_default();
        let mut cases = Vec::new();
        for (done, (name, case)) in (1i64..).zip(CASES) {
            let store = store.clone();
            let outcome =
                tokio::task::spawn_blocking(move || case(&store)).await.map_err(|error| error.to_string())?;
            let why = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(why)) => Some(why),
                Err(error) => return Err(error.to_string()),
            };
            cases.push(json!({ "name": name, "passed": why.is_none(), "why": why }));
            progress(done, total);
        }
        Ok(json!({ "cases": cases }))
    }
}

fn by_title(store: &Store) -> Result<Result<(), String>> {
    store.look(|connection| {
        for (id, title) in articles::list(connection)? {
            let found = articles::search(connection, &title, true, Some(3))?;
            if !found.iter().any(|found| found.id == id) {
                return Ok(Err(format!(
                    "{id} is not among the first three for {title:?}; index the articles anew"
                )));
            }
        }
        Ok(Ok(()))
    })
}

fn nothing_internal(store: &Store) -> Result<Result<(), String>> {
    store.look(|connection| {
        for (_, title) in articles::list(connection)? {
            let found = articles::search(connection, &title, false, Some(50))?;
            if let Some(found) = found.iter().find(|found| found.audience == "internal") {
                return Ok(Err(format!("{} is shown to customers", found.id)));
            }
        }
        Ok(Ok(()))
    })
}

fn less(store: &Store) -> Result<Result<(), String>> {
    store.look(|connection| {
        for agent in team::agents(connection)? {
            if team::rights(connection, &agent.id)?.allow("agents.write") {
                return Ok(Err(format!("{} may change agents", agent.id)));
            }
        }
        Ok(Ok(()))
    })
}

fn money(store: &Store) -> Result<Result<(), String>> {
    store.look(|connection| {
        let triage = team::agent(connection, "agent:triage")?;
        let says = triage.prompt.to_lowercase();
        let told = says.contains("money") || says.contains("contract");
        Ok(if told {
            Ok(())
        } else {
            Err(format!("{} is not told who handles money and contracts", triage.id))
        })
    })
}

fn assignees(store: &Store) -> Result<Result<(), String>> {
    store.look(|connection| {
        let lost: Option<String> = connection.query_row(
            "SELECT min(id) FROM threads WHERE assignee IS NOT NULL AND assignee NOT IN (SELECT id FROM members UNION SELECT id \
             FROM agents)",
            [],
            |row| row.get(0),
        )?;
        Ok(lost.map_or(Ok(()), |id| Err(format!("{id} is with somebody who is not there"))))
    })
}
