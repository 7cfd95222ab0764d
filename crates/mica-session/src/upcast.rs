//! Files of older versions: brought up to date step by step, one step for each major version.
//!
//! A step sees every line as JSON and changes what its version spelled differently. What it does not know it leaves
//! alone, so entries of extensions and kinds that nobody remembers come through.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::entry::{Header, Version};
use crate::error::SessionError;
use crate::line::HEADER;

/// Brings one line, the header included, from a major version to the next.
pub(crate) struct Upcaster {
    /// The major version that it reads.
    pub(crate) from: u32,
    pub(crate) line: fn(&mut Map<String, Value>),
}

/// The steps that there are. Version 1 is the first.
pub(crate) const STEPS: &[Upcaster] = &[];

/// What a first line turned out to be.
pub(crate) enum First {
    /// A header of this version.
    Current(Header),
    /// A header of an older version that can be brought up to date.
    Older(Version),
}

/// Reads the first line of a file.
pub(crate) fn first_line(path: &Path, line: &[u8], steps: &[Upcaster]) -> Result<First, SessionError> {
    #[derive(Deserialize)]
    struct Probe {
        version: Version,
    }
    #[derive(Deserialize)]
    struct HeaderLine {
        kind: String,
        #[serde(flatten)]
        header: Header,
    }
    let refuse = |reason: String| SessionError::NotASession { path: path.to_owned(), reason };
    if line.is_empty() {
        return Err(refuse("its first line is empty".to_owned()));
    }
    let probe: Probe = serde_json::from_slice(line).map_err(|error| refuse(error.to_string()))?;
    let found = probe.version;
    if found.major > Version::CURRENT.major {
        return Err(SessionError::Version { path: path.to_owned(), found });
    }
    if found.major < Version::CURRENT.major {
        let reachable =
            (found.major..Version::CURRENT.major).all(|major| steps.iter().any(|step| step.from == major));
        return if reachable {
            Ok(First::Older(found))
        } else {
            Err(SessionError::Version { path: path.to_owned(), found })
        };
    }
    let line: HeaderLine = serde_json::from_slice(line).map_err(|error| refuse(error.to_string()))?;
    if line.kind != HEADER {
        return Err(refuse(format!("its first line is of kind {:?}, not {HEADER:?}", line.kind)));
    }
    Ok(First::Current(line.header))
}

/// Brings a whole file up to date. Lines that are no JSON objects stay as they are; a torn tail stays torn.
pub(crate) fn upcast(bytes: &[u8], from: Version, steps: &[Upcaster]) -> Result<Vec<u8>, SessionError> {
    let mut lines = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Ok(mut object) = serde_json::from_slice::<Map<String, Value>>(line) else {
            lines.extend_from_slice(line);
            continue;
        };
        for major in from.major..Version::CURRENT.major {
            steps.iter().filter(|step| step.from == major).for_each(|step| (step.line)(&mut object));
        }
        if number == 0 {
            object.insert("version".to_owned(), Version::CURRENT.to_string().into());
        }
        serde_json::to_writer(&mut lines, &object).map_err(|source| SessionError::Unwritable { source })?;
        lines.extend(line.last().filter(|byte| **byte == b'\n'));
    }
    Ok(lines)
}
