//! The Messages mapper: any bytes give a stream in order, the same however they are cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_ai::Dialect;

fuzz_target!(|input: &[u8]| mica_fuzz::check_answer(Dialect::Messages, input));
