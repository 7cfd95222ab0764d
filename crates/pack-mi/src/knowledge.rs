//! Reference knowledge: documents made of named parts, loaded and searched on demand.
