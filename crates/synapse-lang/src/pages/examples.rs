//! The examples on a page: fenced blocks whose first line says what the checker makes of them.
//!
//! ````text
//! ```xml bad                       the page's code is found in it, and no other
//! ```xml bad also=SYN0102          … and SYN0102 too
//! ```xml bad runtime=4.3.0         … for that runtime
//! ```xml bad path=src/main/…       … in a file of that name
//! ```xml good                      nothing is found in it
//! ```xml fixed                     what the repairs make of the bad example before it
//! ```xml bad case=a path=…         one file of a small project; all blocks of `case=a` are its files
//! ```xml with case=a path=…        another file of that project; what is found in it does not matter
//! ```expr bad                      one expression on each line; the code is found in every one
//! ```expr good                     nothing is found in any
//! ````
//!
//! An `xml` block without a namespace is a list of mediators: it is checked inside a sequence. `raw` turns that off.

/// What the checker should make of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The page's code is found.
    Bad,
    /// Nothing is found.
    Good,
    /// The repaired form of the bad example before it.
    Fixed,
    /// A file that stands beside the others of its case.
    With,
}

/// What kind of text an example is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fence {
    /// A document, or a list of mediators.
    Xml,
    /// Expressions, one on a line.
    Expr,
    /// Another file of a project: a pom, properties.
    Other,
}

/// An example on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What kind of text it is.
    pub fence: Fence,
    /// What the checker should make of it.
    pub verdict: Verdict,
    /// Words and `name=value` pairs after the verdict.
    pub options: Vec<(String, String)>,
    /// The text.
    pub text: String,
}

impl Example {
    /// The value of an option; empty for one without a value.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The text as the checker is given it: a list of mediators is put into a sequence.
    #[must_use]
    pub fn document(&self) -> String {
        let bare = self.fence == Fence::Xml && !self.text.contains("xmlns=") && self.option("raw").is_none();
        if bare {
            format!(
                "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"example\">\n{}</sequence>\n",
                self.text
            )
        } else {
            self.text.clone()
        }
    }
}

/// Reads the examples of a page. Fences without a verdict are prose and left out.
pub(super) fn read(body: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut text = String::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            text.push_str(line);
            text.push('\n');
        }
        examples.extend(example(info, text));
    }
    examples
}

fn example(info: &str, text: String) -> Option<Example> {
    let mut words = info.split_whitespace();
    let fence = match words.next()? {
        "xml" => Fence::Xml,
        "expr" => Fence::Expr,
        _ => Fence::Other,
    };
    let verdict = match words.next()? {
        "bad" => Verdict::Bad,
        "good" => Verdict::Good,
        "fixed" => Verdict::Fixed,
        "with" => Verdict::With,
        _ => return None,
    };
    let options = words.map(|word| word.split_once('=').unwrap_or((word, "")));
    let options = options.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Some(Example { fence, verdict, options, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_with_a_verdict_are_examples() {
        let body = "# T\n\n```xml bad also=SYN0102 runtime=4.3.0\n<log/>\n```\n\n```sh\nls\n```\n```expr good\n1 + 1\n2\n```\n";
        let examples = read(body);
        assert_eq!(examples.len(), 2);
        assert_eq!(examples[0].option("also"), Some("SYN0102"));
        assert_eq!(examples[0].option("runtime"), Some("4.3.0"));
        assert_eq!(examples[0].option("path"), None);
        assert_eq!(
            examples[0].document(),
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"example\">\n<log/>\n</sequence>\n"
        );
        assert_eq!((examples[1].fence, examples[1].verdict), (Fence::Expr, Verdict::Good));
        assert_eq!(examples[1].document(), "1 + 1\n2\n");
    }
}
