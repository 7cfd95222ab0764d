//! An extension to begin from.

const STARTER: &str = include_str!("starter.ts");

/// The source, for an extension of this name.
pub fn text(name: &str) -> String {
    STARTER.replace("NAME", name)
}
