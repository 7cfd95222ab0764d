//! What each request told the model that the request before it had not.

use serde_json::Value;

use crate::played::Asked;

/// Reads requests one after the other.
#[derive(Default)]
pub(crate) struct Telling {
    /// Items of the conversation that were told.
    known: usize,
    /// Everything else of the last request: tools, system prompt, settings.
    rest: Option<Value>,
}

impl Telling {
    /// All texts that a request tells anew. A conversation that is shorter than the last one has begun again; what is
    /// outside of it counts when it changed.
    pub(crate) fn next(&mut self, asked: &Asked) -> String {
        let items = asked.items();
        if items.len() < self.known {
            self.known = 0;
        }
        let mut words = String::new();
        let rest = asked.json.clone();
        let before = self.rest.as_ref().filter(|_| self.known > 0);
        // The rest is for the provider: names of models, keys of caches.
        for key in ["tools", "instructions", "system"] {
            if before.map(|before| &before[key]) != Some(&rest[key]) {
                strings(&rest[key], &mut words);
            }
        }
        items.iter().skip(self.known).for_each(|item| strings(item, &mut words));
        self.known = items.len();
        self.rest = Some(rest);
        words
    }
}

fn strings(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            words.push_str(text);
            words.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, words)),
        Value::Object(members) => members.values().for_each(|member| strings(member, words)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use mica_ai::Dialect;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_new_is_told() {
        let asked = |system: &str, texts: &[&str]| {
            let items: Vec<Value> =
                texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
            let body = json!({ "instructions": system, "model": "m", "input": items });
            Asked::on_wire(Dialect::Responses, body.to_string().into_bytes())
        };
        let mut telling = Telling::default();
        assert_eq!(telling.next(&asked("be kind", &["one"])), "be kind\nuser\none\n");
        assert_eq!(telling.next(&asked("be kind", &["one", "two"])), "user\ntwo\n");
        assert_eq!(telling.next(&asked("be brief", &["one", "two", "three"])), "be brief\nuser\nthree\n");
        assert_eq!(telling.next(&asked("be brief", &["new"])), "be brief\nuser\nnew\n");
    }
}
