//! The one door to the project's chores.
fn main() {}
