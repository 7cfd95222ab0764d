//! What a server wants to know from the person: a form becomes questions, an address is shown and never opened.
//!
//! Promises: nothing is answered that the person did not say; where nobody is there, it is declined; what does not fit the
//! form is asked again, and not sent.

use mica_agent::ToolCx;
use mica_ai::id::CallId;
use mica_tools::person::{Answer, Choice, Question};
use mica_tools::{Inquiry, Person, Reply};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

use super::words::{clean, line};

/// Questions that a person is asked at once.
const AT_ONCE: usize = 4;
/// Fields of a form.
const FIELDS: usize = 20;
/// How often a field is asked about.
const TRIES: usize = 3;

const YES: &str = "Yes";
const NO: &str = "No";
const LEAVE: &str = "Leave it out";
const DONE: &str = "I have done that";
const DECLINE: &str = "Decline";

/// Asks the person.
pub(super) async fn ask(
    server: &str,
    call: &CallId,
    person: &dyn Person,
    cx: Option<&ToolCx>,
    params: &ElicitRequestParams,
) -> ElicitResult {
    let asking = Asking { server, call, person, cx };
    match params {
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => asking.address(message, url).await,
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            asking.form(message, &schema).await
        }
        _ => ElicitResult::new(ElicitationAction::Decline),
    }
}

struct Asking<'a> {
    server: &'a str,
    call: &'a CallId,
    person: &'a dyn Person,
    cx: Option<&'a ToolCx>,
}

impl Asking<'_> {
    async fn address(&self, message: &str, url: &str) -> ElicitResult {
        let host = reqwest::Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .and_then(|url| url.host_str().map(str::to_owned));
        let Some(host) = host else { return ElicitResult::new(ElicitationAction::Decline) };
        let question = Question {
            header: line(self.server, 30),
            question: format!(
                "The MCP server {} wants you to open an address of {host} in a browser: {}\nIt says: {}",
                line(self.server, 60),
                line(url, 2_000),
                clean(message, 600)
            ),
            options: vec![choice(DONE, None), choice(DECLINE, None)],
            multi_select: false,
        };
        match self.asked(vec![question]).await {
            Reply::Answered(answers)
                if answers.iter().any(|answer| answer.chosen.iter().any(|one| one == DONE)) =>
            {
                ElicitResult::new(ElicitationAction::Accept)
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    async fn form(&self, message: &str, schema: &Value) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return declined };
        if properties.len() > FIELDS {
            return declined;
        }
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let fields: Vec<Field<'_>> = properties
            .iter()
            .map(|(name, schema)| Field { name, schema, required: required.contains(&name.as_str()) })
            .collect();
        let mut content = Map::new();
        let says = format!(
            "The MCP server {} asks (what you answer is sent to it; give it no passwords): {}",
            line(self.server, 60),
            clean(message, 600)
        );
        if fields.is_empty() {
            let question = Question {
                header: line(self.server, 30),
                question: says,
                options: vec![choice(YES, None), choice(DECLINE, None)],
                multi_select: false,
            };
            return match self.asked(vec![question]).await {
                Reply::Answered(answers)
                    if answers.iter().any(|answer| answer.chosen.iter().any(|one| one == YES)) =>
                {
                    ElicitResult::new(ElicitationAction::Accept).with_content(json!({}))
                }
                _ => declined,
            };
        }
        for together in fields.chunks(AT_ONCE) {
            let mut open: Vec<(&Field<'_>, Option<String>)> =
                together.iter().map(|field| (field, None)).collect();
            for _ in 0..TRIES {
                let questions =
                    open.iter().map(|(field, wrong)| field.question(&says, wrong.as_deref())).collect();
                let answers = match self.asked(questions).await {
                    Reply::Answered(answers) => answers,
                    Reply::Declined { .. } | Reply::Nobody => return declined,
                };
                let mut again = Vec::new();
                for ((field, _), answer) in open.iter().zip(&answers) {
                    match field.value(answer) {
                        Ok(Some(value)) => drop(content.insert(field.name.to_owned(), value)),
                        Ok(None) => {}
                        Err(wrong) => again.push((*field, Some(wrong))),
                    }
                }
                open = again;
                if open.is_empty() {
                    break;
                }
            }
            if !open.is_empty() {
                return ElicitResult::new(ElicitationAction::Cancel);
            }
        }
        ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
    }

    async fn asked(&self, questions: Vec<Question>) -> Reply {
        let told = json!(questions);
        let answer = self.person.ask(Inquiry { call: self.call.clone(), questions });
        match self.cx {
            Some(cx) => {
                let answer = async {
                    tokio::select! {
                        biased;
                        () = cx.cancel.cancelled() => Reply::Declined { reason: None },
                        reply = answer => reply,
                    }
                };
                cx.person(told, answer).await
            }
            None => answer.await,
        }
    }
}

fn choice(label: &str, description: Option<String>) -> Choice {
    Choice { label: label.to_owned(), description }
}

/// A field of a form.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
}

impl Field<'_> {
    fn kind(&self) -> &str {
        self.schema.get("type").and_then(Value::as_str).unwrap_or("string")
    }

    /// What can be chosen: what it is called, and what it stands for.
    fn choices(&self) -> Vec<(String, Value)> {
        let list = match self.kind() {
            "boolean" => return vec![(YES.to_owned(), json!(true)), (NO.to_owned(), json!(false))],
            "array" => self.schema.get("items").unwrap_or(&Value::Null),
            _ => self.schema,
        };
        let titled = ["oneOf", "anyOf"].iter().find_map(|key| list.get(key)?.as_array());
        if let Some(titled) = titled {
            let one = |one: &Value| {
                let value = one.get("const")?;
                let title = one.get("title").and_then(Value::as_str).or_else(|| value.as_str())?;
                Some((line(title, 80), value.clone()))
            };
            return titled.iter().filter_map(one).collect();
        }
        let names = list.get("enumNames").and_then(Value::as_array);
        let values = list.get("enum").and_then(Value::as_array);
        let one = |(at, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(at)?.as_str()).or_else(|| value.as_str());
            Some((line(name?, 80), value.clone()))
        };
        values.into_iter().flatten().enumerate().filter_map(one).collect()
    }

    fn question(&self, says: &str, wrong: Option<&str>) -> Question {
        let text = |key: &str| self.schema.get(key).and_then(Value::as_str);
        let title = line(text("title").unwrap_or(self.name), 60);
        let about = text("description").map(|about| format!(" ({})", line(about, 300))).unwrap_or_default();
        let usual =
            self.schema.get("default").map(|usual| format!(" Usually: {}.", line(&usual.to_string(), 100)));
        let kind = match (self.kind(), text("format")) {
            ("number", _) => " A number.".to_owned(),
            ("integer", _) => " A whole number.".to_owned(),
            (_, Some(format)) => format!(" A text of the kind {}.", line(format, 20)),
            _ => String::new(),
        };
        let wrong = wrong.map(|wrong| format!("\n{wrong}")).unwrap_or_default();
        let mut options: Vec<Choice> = self.choices().iter().map(|(label, _)| choice(label, None)).collect();
        if !self.required {
            options.push(choice(LEAVE, None));
        }
        Question {
            header: line(&title, 30),
            question: format!("{says}\n{title}{about}.{kind}{}{wrong}", usual.unwrap_or_default()),
            options,
            multi_select: self.kind() == "array",
        }
    }

    /// What an answer comes to. `None`: it is left out.
    fn value(&self, answer: &Answer) -> Result<Option<Value>, String> {
        let choices = self.choices();
        let words = answer.words();
        let is_left = words.is_none() && answer.chosen.iter().any(|label| label == LEAVE);
        if is_left && !self.required {
            return Ok(None);
        }
        let chosen = |label: &str| {
            let found = choices.iter().find(|(known, _)| known.eq_ignore_ascii_case(label.trim()));
            found.map(|(_, value)| value.clone())
        };
        let value = match self.kind() {
            "array" => {
                let said = words.into_iter().flat_map(|words| words.split(','));
                let labels: Vec<&str> = answer.chosen.iter().map(String::as_str).chain(said).collect();
                let values: Option<Vec<Value>> = labels.into_iter().map(chosen).collect();
                Value::Array(values.ok_or("Choose among those that are listed.")?)
            }
            _ if !choices.is_empty() => {
                let label = words.or(answer.chosen.first().map(String::as_str)).unwrap_or_default();
                chosen(label).ok_or("Choose one of those that are listed.")?
            }
            "number" | "integer" => {
                let words = words.unwrap_or_default();
                let whole = words.parse::<i64>().ok().map(Value::from);
                let broken = words.parse::<f64>().ok().filter(|_| self.kind() == "number").map(Value::from);
                whole.or(broken).ok_or("That is no such number.")?
            }
            _ => Value::String(words.ok_or("Answer in your own words.")?.to_owned()),
        };
        let mut wrapped = Map::new();
        wrapped.insert("value".to_owned(), value.clone());
        let outer = json!({ "type": "object", "properties": { "value": self.schema } });
        match mica_policy::validate::Schema::compile(&outer).map(|outer| outer.judge(&mut wrapped)) {
            Ok(Ok(_)) => Ok(Some(value)),
            Ok(Err(invalid)) => {
                Err(invalid.complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
            Err(_) => Err("The form is broken.".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;

    use super::*;

    /// Answers what it was given, and keeps what it was asked.
    struct Scripted {
        replies: Mutex<Vec<Reply>>,
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl Person for Scripted {
        async fn ask(&self, inquiry: Inquiry) -> Reply {
            for question in &inquiry.questions {
                let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
                self.asked.lock().unwrap().push(format!("{} [{}]", question.question, labels.join("|")));
            }
            self.replies.lock().unwrap().remove(0)
        }
    }

    fn chose(label: &str) -> Answer {
        Answer { chosen: vec![label.to_owned()], text: None }
    }

    fn said(text: &str) -> Answer {
        Answer { chosen: Vec::new(), text: Some(text.to_owned()) }
    }

    async fn check(params: Value, replies: Vec<Reply>, expect: Value) -> Vec<String> {
        let person = Scripted { replies: Mutex::new(replies), asked: Mutex::default() };
        let params: ElicitRequestParams = serde_json::from_value(params).unwrap();
        let answer = ask("shop", &CallId::from("c"), &person, None, &params).await;
        assert_eq!(serde_json::to_value(answer).unwrap(), expect);
        assert!(person.replies.lock().unwrap().is_empty(), "all replies are used");
        person.asked.into_inner().unwrap()
    }

    fn form() -> Value {
        json!({ "message": "Who are you?", "requestedSchema": { "type": "object", "required": ["age", "name"], "properties": {
            "age": { "type": "integer", "minimum": 18 },
            "name": { "type": "string", "title": "Your name" },
            "size": { "type": "string", "enum": ["s", "m"] },
        } } })
    }

    #[tokio::test]
    async fn a_form_is_asked_field_by_field_and_again_where_it_does_not_fit() {
        let asked = check(
            form(),
            vec![
                Reply::Answered(vec![said("7"), said("Ann"), chose(LEAVE)]),
                Reply::Answered(vec![said("old")]),
                Reply::Answered(vec![said("70")]),
            ],
            json!({ "action": "accept", "content": { "name": "Ann", "age": 70 } }),
        )
        .await;
        let says =
            "The MCP server shop asks (what you answer is sent to it; give it no passwords): Who are you?";
        assert_eq!(asked[1], format!("{says}\nYour name. []"));
        assert_eq!(asked[2], format!("{says}\nsize. [s|m|Leave it out]"));
        assert!(asked[3].starts_with(&format!("{says}\nage. A whole number.\n")), "{}", asked[3]);
        assert!(asked[4].ends_with("That is no such number. []"), "{}", asked[4]);
    }

    #[tokio::test]
    async fn what_nobody_answers_is_declined() {
        let declined = json!({ "action": "decline" });
        check(form(), vec![Reply::Nobody], declined.clone()).await;
        check(form(), vec![Reply::Declined { reason: None }], declined.clone()).await;
        let wrong = || Reply::Answered(vec![said("x"), said("Ann"), chose("m")]);
        let again = || Reply::Answered(vec![said("x")]);
        check(form(), vec![wrong(), again(), again()], json!({ "action": "cancel" })).await;
    }

    #[tokio::test]
    async fn an_address_is_shown_and_never_opened() {
        let url = |url: &str| json!({ "mode": "url", "message": "Pay", "url": url, "elicitationId": "1" });
        let asked = check(
            url("https://pay.example/x"),
            vec![Reply::Answered(vec![chose(DONE)])],
            json!({ "action": "accept" }),
        )
        .await;
        assert_eq!(
            asked,
            [
                "The MCP server shop wants you to open an address of pay.example in a browser: https://pay.example/x\nIt says: \
              Pay [I have done that|Decline]"
            ]
        );
        check(url("https://pay.example/x"), vec![Reply::Nobody], json!({ "action": "decline" })).await;
        check(url("javascript:alert(1)"), vec![], json!({ "action": "decline" })).await;
    }
}
