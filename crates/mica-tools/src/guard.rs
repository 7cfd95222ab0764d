//! What of the files that can be reached is still not handed out, or not changed.
//!
//! Promise: a file whose name says that it holds secrets is opened by no tool, however the name is spelled and whatever
//! link leads to it. Of a list of variables the names are told. What decides what tools and agents do later (`.git`,
//! `.mica`) is read and not written, but for what counts only once the user trusts it (`.mica/extensions`), as long
//! as nobody does. The names are in one table, that of `mica-policy`.

use std::path::Path;

use mica_policy::Places;

use crate::error::FileError;
use crate::resolve::{Found, Place};

/// How a file is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Not at all.
    Free,
    /// It may be read.
    ReadOnly,
    /// It is a list of variables: their names may be told.
    Variables,
    /// It holds secrets, or is no file of a project at all.
    Secret,
}

/// How a place is protected.
pub(crate) fn guard(place: &Place) -> Result<Guard, FileError> {
    let places = names()?;
    let path = place.path();
    let path = path.to_string_lossy();
    let below = |path: &Path| places.kernel.iter().any(|kernel| path.starts_with(kernel));
    if below(Path::new(&*path)) && !below(&place.base) {
        return Ok(Guard::Secret);
    }
    if places.is_in_secret_folder(&path) {
        return Ok(Guard::Secret);
    }
    let name = place.relative.file_name().unwrap_or_default().to_string_lossy();
    // A folder that is called like a secret file, such as `credentials`, is a folder.
    if place.alias || (place.found != Found::Folder && places.is_secret_name(&name)) {
        return Ok(if places.lists_variables(&name) { Guard::Variables } else { Guard::Secret });
    }
    let relative = place.relative.to_string_lossy();
    if places.is_guarded(&relative) && !places.is_taught(&relative) {
        return Ok(Guard::ReadOnly);
    }
    Ok(Guard::Free)
}

/// Whether a place decides what agents do later, and may be written because it counts only once the user trusts it.
pub(crate) fn is_taught(place: &Place) -> Result<bool, FileError> {
    let (places, relative) = (names()?, place.relative.to_string_lossy());
    Ok(places.is_guarded(&relative) && places.is_taught(&relative))
}

/// Whether the words of a path name a secret, wherever links then lead. What is a folder is not named like a file: else all
/// files below it would be secrets, too.
pub(crate) fn names_secret(given: &str, found: Found) -> Result<bool, FileError> {
    let places = names()?;
    let given = given.trim_end_matches('/');
    Ok(if found == Found::Folder { places.is_in_secret_folder(given) } else { places.is_secret(given) })
}

/// The table.
pub(crate) fn names() -> Result<std::sync::Arc<Places>, FileError> {
    Places::builtin().map_err(|error| FileError::Table { reason: error.to_string() })
}

impl Place {
    /// Refuses what may not be read.
    pub(crate) fn may_read(&self) -> Result<(), FileError> {
        match guard(self)? {
            Guard::Free | Guard::ReadOnly => Ok(()),
            Guard::Variables => Err(FileError::Secret { path: self.shown(), variables: true }),
            Guard::Secret => Err(FileError::Secret { path: self.shown(), variables: false }),
        }
    }

    /// Refuses what may not be written.
    pub(crate) fn may_write(&self) -> Result<(), FileError> {
        match guard(self)? {
            Guard::Free => Ok(()),
            Guard::ReadOnly => Err(FileError::Guarded { path: self.shown() }),
            Guard::Variables => Err(FileError::Secret { path: self.shown(), variables: true }),
            Guard::Secret => Err(FileError::Secret { path: self.shown(), variables: false }),
        }
    }
}

#[cfg(test)]
mod tests;
