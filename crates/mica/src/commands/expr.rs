//! `mica expr`: what an expression gives, or why it gives nothing.

mod batch;

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use synapse_lang::diagnostic::{Code, Diagnostic, Severity};
use synapse_lang::expr::check::{self as checker, Env};
use synapse_lang::expr::{self, Context, Evaluation, Status, SyntaxError};
use synapse_lang::text::Lines;

use super::language::Said;
use crate::cli::language::{ExprFlags, PlainForm};
use crate::exit::Exit;
use crate::render::findings::json::Finding;
use crate::render::findings::text::{Repairs, finding};
use crate::render::findings::{Counts, excerpt};
use crate::render::paint::{Paint, Style, clean};

/// Evaluates or checks.
///
/// # Errors
/// When the context or the batch cannot be read.
pub fn run(flags: &ExprFlags, paint: Paint) -> Result<Said> {
    let context = flags.context.as_deref().map(context).transpose()?;
    if let Some(file) = &flags.batch {
        return batch::run(file, &with_time(context.unwrap_or_default()));
    }
    let text = inner(flags.expression.as_deref().unwrap_or_default());
    if flags.check {
        return check(text, context.as_ref(), flags.format, paint);
    }
    let context = with_time(context.unwrap_or_default());
    let (evaluation, error) = match expr::parse(text) {
        Ok(expression) => (expr::evaluate(&expression, &context), None),
        Err(error) => (expr::evaluate_text(text, &context), Some(error)),
    };
    let out = match flags.format {
        PlainForm::Json => format!("{}\n", result(None, &evaluation)),
        PlainForm::Text => told(text, &evaluation, error.as_ref(), paint),
    };
    let exit = match evaluation.status {
        Status::Ok | Status::Null => Exit::Done,
        Status::EvalError | Status::SyntaxError | Status::Crash => Exit::Error,
    };
    Ok(Said { out, err: String::new(), exit })
}

/// The text between `${` and `}`, when it stands in them.
pub fn inner(text: &str) -> &str {
    let trimmed = text.trim();
    trimmed.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or(text)
}

fn context(file: &Path) -> Result<Context> {
    let shown = file.display();
    let text =
        std::fs::read_to_string(file).with_context(|| format!("the context {shown} cannot be read"))?;
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("the context {shown} is not JSON"))?;
    context_of(value).with_context(|| format!("the context {shown} is no context"))
}

/// The context that a JSON object describes.
///
/// # Errors
/// When it has other members than a context.
pub fn context_of(mut value: Value) -> Result<Context> {
    // A body is text. People who write one by hand write JSON as it is.
    if let Some(payload) = value.get_mut("payload")
        && !payload.is_string()
        && !payload.is_null()
    {
        *payload = Value::String(payload.to_string());
    }
    serde_json::from_value(value).with_context(|| {
        "it may have payload, content_type, vars, headers, syn, ax, func, reg, configs, namespaces, time_zone and now, and a \
         variable is {\"type\":\"int\",\"value\":1}"
    })
}

/// A context that does not say what time it is has the time of the machine.
#[allow(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
pub fn with_time(mut context: Context) -> Context {
    if context.now == 0 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        context.now = i64::try_from(since.as_millis()).unwrap_or_default();
    }
    context
}

/// What an evaluation gave, for programs.
pub fn result(id: Option<&Value>, evaluation: &Evaluation) -> Value {
    let value = matches!(evaluation.status, Status::Ok | Status::Null).then_some(&evaluation.string);
    let mut result = json!({
        "status": evaluation.status.word(),
        "string": value,
        "type": evaluation.kind,
        "message": evaluation.message,
    });
    if let Some(id) = id {
        let rest = std::mem::take(&mut result);
        let mut whole = serde_json::Map::new();
        whole.insert("id".to_owned(), id.clone());
        if let Value::Object(rest) = rest {
            whole.extend(rest);
        }
        result = Value::Object(whole);
    }
    result
}

/// What an evaluation gave, for people.
pub fn told(text: &str, evaluation: &Evaluation, error: Option<&SyntaxError>, paint: Paint) -> String {
    let message = evaluation.message.as_deref().map(clean).unwrap_or_default();
    match evaluation.status {
        Status::Ok => {
            let kind = format!("({})", evaluation.kind.unwrap_or("?"));
            format!("{} {}\n", clean(&evaluation.string), paint.paint(Style::Dim, &kind))
        }
        Status::Null => format!("{}\n", paint.paint(Style::Dim, "null: the value is empty")),
        Status::EvalError => format!(
            "{} {message}\n   {} a warning in the log; the value is empty, and the flow goes on\n",
            paint.paint(Style::Red, "evaluation error:"),
            paint.paint(Style::Dim, "at run time:")
        ),
        Status::Crash => format!(
            "{} {message}\n   {} an exception that the expression engine does not catch\n",
            paint.paint(Style::Red, "crash:"),
            paint.paint(Style::Dim, "at run time:")
        ),
        Status::SyntaxError => {
            let mut out = format!("{} {message}\n", paint.paint(Style::Red, "no expression:"));
            if let Some(error) = error {
                out.push_str(&excerpt(text, &Lines::of(text), error.span, Severity::Error, paint));
                if let Some(edit) = error.hint.as_ref().and_then(|hint| hint.edit.as_ref())
                    && let Some(better) = synapse_lang::fix::apply(text, &[edit])
                {
                    out.push_str(&format!("   {} {}\n", paint.paint(Style::Green, "try:"), clean(&better)));
                }
            }
            out
        }
    }
}

/// What is wrong with an expression where such things are known.
pub fn findings(text: &str, env: &Env) -> Vec<Diagnostic> {
    let found = checker::check(text, env).into_iter();
    let told = found.map(|one| Diagnostic {
        code: Code(one.code),
        class: one.class,
        severity: one.severity,
        span: one.span,
        message: one.message,
        fixes: one.fixes,
    });
    told.collect()
}

/// What is wrong with an expression, without running it.
fn check(text: &str, sample: Option<&Context>, form: PlainForm, paint: Paint) -> Result<Said> {
    let env = sample.map_or_else(Env::default, Env::of_sample);
    let found = findings(text, &env);
    let mut counts = Counts::default();
    found.iter().for_each(|one| counts.add(one.severity));
    let kind = expr::parse(text).ok().map(|expression| checker::kind_of(&expression, &env).to_string());
    let lines = Lines::of(text);
    let out = match form {
        PlainForm::Json => {
            let listed: Vec<Finding<'_>> = found.iter().map(|one| Finding::of(text, &lines, one)).collect();
            serde_json::to_string(&json!({ "expr": text, "kind": kind, "diagnostics": listed }))? + "\n"
        }
        PlainForm::Text => {
            let mut out = String::new();
            for one in &found {
                finding(&mut out, "<expression>", text, &lines, one, paint, Repairs::ByHand);
                out.push('\n');
            }
            let words = counts.words().unwrap_or_else(|| paint.paint(Style::Green, "No findings"));
            let kind = kind.map_or_else(String::new, |kind| format!("; the value is {kind}"));
            out + &format!("{words}{kind}.\n")
        }
    };
    let exit = if counts.errors > 0 { Exit::Error } else { Exit::Done };
    Ok(Said { out, err: String::new(), exit })
}

#[cfg(test)]
mod tests {
    use super::inner;

    #[test]
    fn the_braces_may_be_typed() {
        for (text, expect) in [("${ 1 }", " 1 "), (" ${a} ", "a"), ("a", "a"), ("${a", "${a"), (" a ", " a ")]
        {
            assert_eq!(inner(text), expect);
        }
    }
}
