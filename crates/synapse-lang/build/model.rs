//! Turns the language's data, readable TOML under `model/`, into one compact JSON text for the crate to embed.
//!
//! Reading TOML costs several times what reading JSON costs, and every `mica check` starts cold. Files are merged
//! in the order of their paths: lists are appended, so the same key may stand in many files. An element that is
//! `like` another takes over everything it does not say itself; its lists are put before the other's, and an
//! attribute or a child of the same name replaces the other's.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

type Table = Map<String, Value>;
