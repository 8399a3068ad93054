//! Sensors: what we learn by looking, beside what the agents tell.

pub mod project;
pub mod transcripts;
