//! New projects: the files that one begins with.
