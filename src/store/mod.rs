//! The log of events: append-only, on disk.
