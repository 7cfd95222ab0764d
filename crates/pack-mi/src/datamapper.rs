//! Data mappers: schemas from samples, the TypeScript that maps them, and a trial on the sample.
