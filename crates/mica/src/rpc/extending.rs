//! Extensions over a pipe: which there are, and their commands.

use anyhow::{Result, anyhow};
use mica_ext::Typed;
use serde_json::{Value, json};

use crate::equipment::extensions::rows::Row;
use crate::work::Work;

/// Which extensions there are, and which commands they bring.
pub fn listed(work: &Work) -> Value {
    let rows: Vec<Value> = work.loading.rows().iter().map(Row::value).collect();
    let commands = work.extensions().commands();
    let commands = commands.iter().map(|command| {
        json!({ "name": command.name, "description": command.description, "extension": command.extension })
    });
    json!({ "extensions": rows, "commands": commands.collect::<Vec<_>>() })
}

/// Does a command.
///
/// # Errors
/// There is none of this name, or it failed.
pub async fn command(work: &Work, name: &str, arguments: &str) -> Result<Value> {
    match work.extensions().command(name, arguments).await {
        None => Err(anyhow!("there is no command {name:?}; `extensions` lists them")),
        Some(Err(failure)) => Err(anyhow!(failure)),
        Some(Ok(typed)) => Ok(match typed {
            Typed::Go | Typed::Handled(None) => json!({}),
            Typed::Handled(Some(text)) => json!({ "text": text }),
            Typed::Instead(prompt) => json!({ "prompt": prompt }),
            Typed::Refused(reason) => json!({ "refused": reason }),
        }),
    }
}
