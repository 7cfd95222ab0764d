//! The document itself: well-formed, in the namespace, of a known kind.

mod folder;
mod namespace;
mod well_formed;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[&well_formed::WellFormed, &namespace::Root, &folder::Folder];
