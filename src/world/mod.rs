//! What we know: sessions and projects, folded from events.
