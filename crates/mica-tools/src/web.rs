//! Tools on the web.

pub mod html;
