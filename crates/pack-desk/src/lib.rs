//! The domain of a support desk with a light CRM, on SQLite.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.
