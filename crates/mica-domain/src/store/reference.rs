//! References: what something in the store is called.
//!
//! ```text
//! var:NAME PATH          a variable
//! tool:NAME PATH         what the tool gave last in this run
//! tool:NAME[] PATH       all that it gave, as a list
//! tool:NAME[2] PATH      what it gave the third time; [-1] is the last
//! call:ID PATH           what one call gave
//! sys:user PATH          also org, agent, now
//! NAME PATH              a field of what the session is about
//! ```
//!
//! A place right behind a tool picks a call. `tool:search[-1][0]` is the first of what the last one gave.

use std::fmt;

use super::path::{Letters, Misread, Path, Step};

/// Which results of a tool are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The last.
    Latest,
    /// All, as a list.
    All,
    /// One, from the first; from the last when it is negative.
    At(i64),
}

/// What the product knows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sys {
    /// Who is served.
    User,
    /// Their organisation.
    Org,
    /// Who serves.
    Agent,
    /// When the run began.
    Now,
}

impl Sys {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::User, Self::Org, Self::Agent, Self::Now];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Org => "org",
            Self::Agent => "agent",
            Self::Now => "now",
        }
    }
}

/// Where a reference begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// A variable.
    Var(String),
    /// Results of a tool, of this run.
    Tool(String, Which),
    /// The result of a call, of this run.
    Call(String),
    /// What the product knows of itself.
    Sys(Sys),
    /// A field of what the session is about.
    Field(String),
}

/// A reference: where it begins, and where it goes from there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Where it begins.
    pub source: Source,
    /// Where it goes.
    pub path: Path,
}

impl Reference {
    /// A variable.
    pub fn var(name: impl Into<String>) -> Self {
        Self { source: Source::Var(name.into()), path: Path::default() }
    }

    /// Reads a reference.
    ///
    /// # Errors
    /// [`Misread`].
    pub fn parse(text: &str) -> Result<Self, Misread> {
        let mut letters = Letters::new(text)?;
        let source = if letters.take("var:") {
            Source::Var(letters.name("the name of a variable")?)
        } else if letters.take("tool:") {
            let name = letters.name("the name of a tool")?;
            Source::Tool(name, which(&mut letters)?)
        } else if letters.take("call:") {
            let id = letters.while_is(|letter| {
                !matches!(letter, '.' | '[' | ']' | '"' | '{' | '}') && !letter.is_whitespace()
            });
            if id.is_empty() {
                return Err(letters.wrong("the id of a call is expected"));
            }
            Source::Call(id.to_owned())
        } else if letters.take("sys:") {
            let known = Sys::ALL.into_iter().find(|sys| {
                let behind = letters.rest().strip_prefix(sys.name());
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['.', '[']))
            });
            let Some(sys) = known else {
                let names: Vec<&str> = Sys::ALL.iter().map(|sys| sys.name()).collect();
                return Err(letters.wrong(format!("one of {} is expected", names.join(", "))));
            };
            letters.take(sys.name());
            Source::Sys(sys)
        } else {
            let name = letters.name("var:, tool:, call:, sys: or the name of a field")?;
            if letters.peek() == Some(':') {
                return Err(letters.wrong(format!(
                    "there is no {name}: — use var:, tool:, call:, sys: or the name of a field"
                )));
            }
            Source::Field(name)
        };
        let mut steps = Vec::new();
        letters.steps(&mut steps)?;
        Ok(Self { source, path: Path::of(steps) })
    }
}

fn which(letters: &mut Letters<'_>) -> Result<Which, Misread> {
    if letters.take("[]") {
        return Ok(Which::All);
    }
    if letters.peek() != Some('[') {
        return Ok(Which::Latest);
    }
    let wrong =
        letters.wrong("behind a tool, the number of a call or nothing is expected between the brackets");
    match letters.place() {
        Ok(Step::At(at)) => Ok(Which::At(at)),
        Ok(_) => Err(wrong),
        Err(misread) => Err(misread),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Var(name) => write!(f, "var:{name}"),
            Self::Tool(name, Which::Latest) => write!(f, "tool:{name}"),
            Self::Tool(name, Which::All) => write!(f, "tool:{name}[]"),
            Self::Tool(name, Which::At(at)) => write!(f, "tool:{name}[{at}]"),
            Self::Call(id) => write!(f, "call:{id}"),
            Self::Sys(sys) => write!(f, "sys:{}", sys.name()),
            Self::Field(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.source, self.path)
    }
}

impl serde::Serialize for Reference {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Reference {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(from)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl std::str::FromStr for Reference {
    type Err = Misread;

    fn from_str(text: &str) -> Result<Self, Misread> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
