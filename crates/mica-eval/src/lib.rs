//! Runs agents against cases that say what must come of it, and compares what came of two suites.
//!
//! It must not know: any particular product. What is put to the test is handed in.
