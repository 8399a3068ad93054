//! Pure editors: the text of a user's file in, the text with our entries out.
//!
//! Every byte that is not ours is kept. No I/O happens here.

pub mod hooks;
pub mod json;
mod layout;
mod meaning;
mod ownership;
mod splice;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;
