//! Sensors: what we learn by looking, beside what the agents tell.

pub mod index;
pub mod observer;
pub mod peers;
pub mod project;
pub mod transcripts;
pub mod views;
