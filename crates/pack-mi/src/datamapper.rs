//! Data mappers: schemas from samples, the TypeScript that maps them, and a trial on the sample.
//!
//! A data mapper is a folder with a TypeScript file: two interfaces, and a function from the one to the other. The build
//! makes the rest. The tools here write that folder, and never hand over a mapping that they have not run.
//!
//! Its nouns: a [`Schema`] is what one side looks like, a [`Shape`] its core; [`CreateDataMapper`] and
//! [`GenerateDataMapping`] are the tools; a [`Mapper`] writes mappings when it is asked to, and a [`TypeChecker`] reads
//! them; both come from the program.

mod auto;
mod check;
mod create;
mod extent;
mod generate;
mod layout;
mod mapping;
pub mod sample;
pub mod schema;
pub mod shape;
mod trial;
mod typescript;
pub mod xsd;

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::Tool;
use mica_tools::Workspace;
use serde_json::Value;

use crate::Checker;

pub use check::{SandboxedTsc, TypeChecker, TypeReport};
pub use create::CreateDataMapper;
pub use generate::GenerateDataMapping;
pub use shape::{Field, Shape};

/// The helpers that every mapping can import, for projects that have none yet.
pub const DM_UTILS: &str = include_str!("datamapper/dm-utils.ts");

/// What a message is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON.
    Json,
    /// XML.
    Xml,
    /// CSV, with names in the first line.
    Csv,
}

impl Kind {
    /// As the mediator and the comments of a mapping say it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Xml => "XML",
            Self::Csv => "CSV",
        }
    }

    /// From what a comment says.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "JSON" | "JSONSCHEMA" | "CONNECTOR" => Some(Self::Json),
            "XML" | "XSD" => Some(Self::Xml),
            "CSV" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// What one side of a mapping looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Its name: of the root element, for XML.
    pub title: String,
    /// What it is written in.
    pub kind: Kind,
    /// What it looks like.
    pub shape: Shape,
    /// Prefixes, and what they stand for.
    pub namespaces: Vec<(String, String)>,
}

impl Schema {
    /// A schema without namespaces.
    pub fn new(title: &str, kind: Kind, shape: Shape) -> Self {
        Self { title: title.to_owned(), kind, shape, namespaces: Vec::new() }
    }
}

/// Why there is no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON, or none that can be mapped.
    #[error("it is no usable JSON: {0}")]
    Json(String),
    /// It is no XML.
    #[error("it is no usable XML, line {line}: {reason}")]
    Xml {
        /// Where.
        line: usize,
        /// Why.
        reason: String,
    },
    /// It is no CSV.
    #[error("it is no usable CSV, line {line}: {reason}")]
    Csv {
        /// Where.
        line: usize,
        /// Why.
        reason: String,
    },
    /// It is no XSD, or one that needs more than itself.
    #[error("it is no usable XSD: {0}")]
    Xsd(String),
    /// It is no JSON Schema, or one that needs more than itself.
    #[error("it is no usable JSON Schema: {0}")]
    JsonSchema(String),
}

/// How a schema is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Form {
    /// A sample message in JSON, or a JSON Schema.
    Json,
    /// A sample message in XML.
    Xml,
    /// Sample lines in CSV, with names in the first.
    Csv,
    /// An XSD.
    Xsd,
    /// A JSON Schema.
    JsonSchema,
}

/// Reads what a schema is told as. The sample, as a mapping sees it, comes with it when it is one.
///
/// # Errors
/// [`SchemaError`].
pub fn read_schema(text: &str, form: Form) -> Result<(Schema, Option<Value>), SchemaError> {
    let kind = match form {
        Form::Xsd => return xsd::read(text).map(|schema| (schema, None)),
        Form::JsonSchema => return schema::read(text).map(|schema| (schema, None)),
        Form::Json if schema::is_schema(text) => return schema::read(text).map(|schema| (schema, None)),
        Form::Json => Kind::Json,
        Form::Xml => Kind::Xml,
        Form::Csv => Kind::Csv,
    };
    let sampled = sample::read(text, kind)?;
    Ok((sampled.schema, Some(sampled.value)))
}

/// Writes mappings: one question to a model that has no tools.
#[async_trait]
pub trait Mapper: Send + Sync {
    /// Answers a prompt.
    ///
    /// # Errors
    /// Why there is no answer, in words.
    async fn map(&self, prompt: &str) -> Result<String, String>;
}

/// What the tools for data mappers are made from.
#[derive(Clone, Default)]
pub struct DataMapping {
    /// Who writes mappings when the model asks for one instead of giving it.
    pub mapper: Option<Arc<dyn Mapper>>,
    /// Who checks their types.
    pub types: Option<Arc<dyn TypeChecker>>,
}

impl DataMapping {
    /// The tools, for a workspace.
    #[must_use]
    pub fn tools(&self, workspace: &Workspace, checker: &Checker) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(CreateDataMapper::new(workspace, checker, self.clone())),
            Arc::new(GenerateDataMapping::new(workspace, self.clone())),
        ]
    }
}
