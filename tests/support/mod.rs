//! What the tests share: a HOME of their own, the programs that run in it, and the agents.

pub mod daemon;
pub mod home;
pub mod http;
pub mod npm;
pub mod process;
