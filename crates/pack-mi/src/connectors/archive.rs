//! A connector read from its archive: what its descriptor, its components, its templates and its forms say.
//!
//! An archive is what somebody put into a project, so nothing of it is trusted: the number of entries, the size of each
//! and of all, and the depth of their contents are bounded, entries are read by name and never unpacked, and names that
//! lead out of the archive mean nothing.

mod forms;
mod schema;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};
use std::path::Path;

use synapse_lang::syntax::{Document, Element};
use zip::ZipArchive;

use super::definition::{Connection, Definition, GROUP, Init, Kind, Operation, Parameter, Source};
use super::snapshot;

/// Folders of components, operations of all, and parameters of one, at most: several times what the largest connector has.
const FOLDERS: usize = 200;
const OPERATIONS: usize = 2_000;
const PARAMETERS: usize = 500;

/// Entries that an archive may have. Large connectors carry libraries, and have some hundreds.
const MOST_ENTRIES: usize = 5_000;
/// The size that one description may have. The largest are some tens of kilobytes.
const LARGEST_ENTRY: u64 = 1 << 20;
/// The size that all descriptions together may have.
const LARGEST_SUM: u64 = 16 << 20;
/// The size that an archive may have.
const LARGEST_ARCHIVE: u64 = 512 << 20;

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be read.
    #[error("{name} cannot be read: {source}")]
    Io {
        /// The archive.
        name: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no archive.
    #[error("{name} is not a zip archive that can be read: {reason}")]
    NotAnArchive {
        /// The archive.
        name: String,
        /// Why.
        reason: String,
    },
    /// It is larger than any connector.
    #[error("{name} is larger than a connector can be: {what}")]
    TooLarge {
        /// The archive.
        name: String,
        /// What is too large.
        what: String,
    },
    /// It has no descriptor.
    #[error("{name} is no connector: it has no connector.xml with a component in it")]
    NoConnector {
        /// The archive.
        name: String,
    },
}

/// Reads the archive of a connector.
///
/// # Errors
/// [`ArchiveError`] when it is none.
pub fn read(path: &Path) -> Result<Definition, ArchiveError> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let io = |source| ArchiveError::Io { name: name.clone(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    if size > LARGEST_ARCHIVE {
        return Err(ArchiveError::TooLarge { name, what: format!("{size} bytes") });
    }
    let mut definition = read_from(std::io::BufReader::new(file), &name)?;
    definition.source = Source::Archive(path.to_path_buf());
    Ok(definition)
}

/// Reads a connector from the bytes of its archive, which has that file name.
///
/// # Errors
/// [`ArchiveError`] when it is none.
pub fn read_from(reader: impl Read + Seek, name: &str) -> Result<Definition, ArchiveError> {
    let entries = Entries::read(reader, name)?;
    let no_connector = || ArchiveError::NoConnector { name: name.to_owned() };
    let descriptor = entries.text("connector.xml").ok_or_else(no_connector)?;
    let document = Document::parse(descriptor);
    let root = document.root().filter(|root| root.local() == "connector").ok_or_else(no_connector)?;
    let component = root.first("component").ok_or_else(no_connector)?;
    let prefix = component.value("name").unwrap_or_default().trim().to_owned();
    if prefix.is_empty() {
        return Err(no_connector());
    }
    let folders = component.elements().filter(|one| one.local() == "dependency");
    // Each once: every folder is read as often as it is named.
    let mut named: Vec<String> = Vec::new();
    for folder in folders.filter_map(|one| one.value("component").map(|name| name.trim().to_owned())) {
        if named.len() < FOLDERS && !named.contains(&folder) {
            named.push(folder);
        }
    }
    let folders = named;
    let mut operations: Vec<Operation> = Vec::new();
    for folder in &folders {
        let room = OPERATIONS.saturating_sub(operations.len());
        operations.extend(component_of(&entries, folder, room));
    }
    // A component that is named and not there may have had any operation, and what is left out may be any.
    let complete = folders.len() < FOLDERS
        && operations.len() < OPERATIONS
        && folders.iter().all(|folder| entries.text(&format!("{folder}/component.xml")).is_some());
    let forms = forms::all(&entries);
    for operation in &mut operations {
        if let Some(form) = forms.operations.get(&operation.name) {
            form.complete(operation);
        }
        operation.output = entries
            .text(&format!("outputschema/{}.json", operation.name))
            .map(schema::paths)
            .unwrap_or_default();
    }
    let init = operations.iter().find(|one| one.name == "init");
    let known = init.and_then(|init| init.parameters.clone()).unwrap_or_default();
    let connections: Vec<Connection> =
        forms.connections.into_iter().map(|one| with_template(one, &known)).collect();
    let style = match init {
        _ if !connections.is_empty() => Init::LocalEntry,
        Some(init) if !init.hidden => Init::Inline,
        _ => Init::Nothing,
    };
    let (artifact, version) = coordinates(name, &prefix);
    let title = text_of(root, "displayName").unwrap_or_else(|| prefix.clone());
    let kind = if forms.is_inbound { Kind::Inbound } else { Kind::Connector };
    let group =
        snapshot::all().iter().find(|one| one.artifact == artifact).map_or(GROUP, |one| one.group.as_str());
    Ok(Definition {
        title,
        kind,
        group: group.to_owned(),
        artifact,
        version,
        summary: text_of(component, "description").unwrap_or_default(),
        since: None,
        init: style,
        connections,
        operations,
        complete,
        has_coordinates: true,
        implementation: forms.implementation,
        parameters: forms.inbound,
        aliases: Vec::new(),
        source: Source::Archive(name.into()),
        name: prefix,
    })
}

/// The texts of an archive, by their path in it.
pub(super) struct Entries(BTreeMap<String, String>);

impl Entries {
    fn read(reader: impl Read + Seek, name: &str) -> Result<Self, ArchiveError> {
        let broken = |error: zip::result::ZipError| ArchiveError::NotAnArchive {
            name: name.to_owned(),
            reason: error.to_string(),
        };
        let too_large = |what: String| ArchiveError::TooLarge { name: name.to_owned(), what };
        let mut archive = ZipArchive::new(reader).map_err(broken)?;
        if archive.len() > MOST_ENTRIES {
            return Err(too_large(format!("{} entries", archive.len())));
        }
        let mut texts = BTreeMap::new();
        let mut sum = 0_u64;
        for index in 0..archive.len() {
            let entry = archive.by_index(index).map_err(broken)?;
            let path = entry.name().map_err(broken)?.replace('\\', "/");
            let path = path.trim_start_matches("./");
            let is_text = path.ends_with(".xml") || path.ends_with(".json");
            let leads_out = path.starts_with('/') || path.split('/').any(|step| step == "..");
            if entry.is_dir() || !is_text || leads_out {
                continue;
            }
            let path = path.to_owned();
            // What the archive says of the size is not believed: only so much is taken.
            let mut bytes = Vec::new();
            let read = entry.take(LARGEST_ENTRY + 1).read_to_end(&mut bytes);
            read.map_err(|error| broken(error.into()))?;
            sum += bytes.len() as u64;
            if bytes.len() as u64 > LARGEST_ENTRY {
                return Err(too_large(format!("{path} has more than {LARGEST_ENTRY} bytes")));
            }
            if sum > LARGEST_SUM {
                return Err(too_large(format!("its descriptions have more than {LARGEST_SUM} bytes")));
            }
            texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(Self(texts))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The texts in a folder, by path.
    pub(super) fn under<'a>(&'a self, folder: &'static str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(path, _)| path.starts_with(folder)).map(|(_, text)| text.as_str())
    }
}

/// The operations of a component's folder.
fn component_of(entries: &Entries, folder: &str, room: usize) -> Vec<Operation> {
    let Some(text) = entries.text(&format!("{folder}/component.xml")) else { return Vec::new() };
    let document = Document::parse(text);
    let Some(list) = document.root().and_then(|root| root.first("subComponents")) else { return Vec::new() };
    let components = list.elements().filter(|one| one.local() == "component").take(room);
    let mut templates: HashMap<String, Option<Vec<Parameter>>> = HashMap::new();
    let operation = |one: Element<'_>| {
        let name = one.value("name")?.trim().to_owned();
        let file = text_of(one, "file").unwrap_or_else(|| format!("{name}.xml"));
        let path = format!("{folder}/{file}");
        let template =
            templates.entry(path).or_insert_with_key(|path| entries.text(path).map(template_parameters));
        Some(Operation {
            description: text_of(one, "description").unwrap_or_default(),
            hidden: text_of(one, "hidden").as_deref() == Some("true"),
            connections: Vec::new(),
            parameters: template.clone(),
            output: Vec::new(),
            name,
        })
    };
    components.filter_map(operation).filter(|one| !one.name.is_empty()).collect()
}

/// What a template reads.
fn template_parameters(text: &str) -> Vec<Parameter> {
    let document = Document::parse(text);
    let Some(root) = document.root().filter(|root| root.local() == "template") else { return Vec::new() };
    let parameters = root.elements().filter(|one| one.local() == "parameter");
    let parameter = |one: Element<'_>| {
        let text =
            |name: &str| one.value(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Parameter {
            name: text("name")?,
            required: text("isMandatory").as_deref() == Some("true"),
            description: text("description").unwrap_or_default(),
            default: text("defaultValue"),
            ..Parameter::default()
        })
    };
    parameters.filter_map(parameter).take(PARAMETERS).collect()
}

/// A connection with the descriptions that only the template of `init` has.
fn with_template(mut connection: Connection, known: &[Parameter]) -> Connection {
    for parameter in connection.parameters.iter_mut().flatten() {
        let same = known.iter().find(|one| one.name == parameter.name);
        if let Some(same) = same.filter(|_| parameter.description.is_empty()) {
            parameter.description.clone_from(&same.description);
        }
    }
    connection
}

/// The artifact id and the version that the name of an archive says: `mi-connector-http-0.1.9.zip`.
fn coordinates(name: &str, prefix: &str) -> (String, Option<String>) {
    let stem = name.rsplit('/').next().unwrap_or(name);
    let stem = stem.strip_suffix(".zip").or_else(|| stem.strip_suffix(".ZIP")).unwrap_or(stem);
    let cut = stem.match_indices('-').find(|(at, _)| {
        stem.get(at + 1..).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    });
    match cut {
        Some((at, _)) => (stem.get(..at).unwrap_or(stem).to_owned(), stem.get(at + 1..).map(str::to_owned)),
        None if stem.is_empty() => (format!("mi-connector-{prefix}"), None),
        None => (stem.to_owned(), None),
    }
}

fn text_of(element: Element<'_>, name: &str) -> Option<String> {
    let text = element.first(name)?.text().split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
pub(super) mod tests;
