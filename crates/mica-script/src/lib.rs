//! Runs TypeScript with limits and no ambient authority.
//!
//! It must not know: agents, tools, products. A script sees the values it is given, and nothing of the machine.
