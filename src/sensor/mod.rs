//! Sensors: what we learn by looking, beside what the agents tell.

mod commands;
pub mod observer;
pub mod project;
pub mod transcripts;
pub mod views;
