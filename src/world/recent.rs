//! Values by names that come from outside, in bounded memory.

use hashlink::LruCache;

/// How long all names together may be, in bytes: some thousand paths.
const MAX_NAME_BYTES: usize = 128 * 1024;

/// The values last used, by name. When there are too many, or their names are too long, those go that
/// were not used for longest.
#[derive(Debug)]
pub(super) struct Recent<V> {
    values: LruCache<String, V>,
    capacity: usize,
    name_bytes: usize,
}

impl<V> Recent<V> {
    /// Room for `capacity` values.
    pub(super) fn new(capacity: usize) -> Self {
        Self { values: LruCache::new_unbounded(), capacity, name_bytes: 0 }
    }

    /// Sets the value of `name`.
    pub(super) fn put(&mut self, name: &str, value: V) {
        self.make_room_for(name);
        self.values.insert(name.to_owned(), value);
    }

    /// The value of `name`, which is not used by this.
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.values.peek(name)
    }

    /// The value of `name`, which is used by this.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.values.get_mut(name)
    }

    /// The value of `name`, to change it; it is not used by this.
    pub(super) fn peek_mut(&mut self, name: &str) -> Option<&mut V> {
        self.values.peek_mut(name)
    }

    /// The value of `name`, made first if there is none.
    pub(super) fn get_or_insert_with(&mut self, name: &str, make: impl FnOnce() -> V) -> &mut V {
        self.make_room_for(name);
        self.values.entry(name.to_owned()).or_insert_with(make)
    }

    /// Takes the value of `name` out.
    pub(super) fn remove(&mut self, name: &str) -> Option<V> {
        let removed = self.values.remove(name)?;
        self.name_bytes -= name.len();
        Some(removed)
    }

    /// All of them, last used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.values.iter().rev().map(|(name, value)| (name.as_str(), value))
    }

    fn make_room_for(&mut self, name: &str) {
        if self.values.contains_key(name) {
            return;
        }
        self.name_bytes += name.len();
        while self.values.len() >= self.capacity || self.name_bytes > MAX_NAME_BYTES {
            let Some((gone, _)) = self.values.remove_lru() else {
                return;
            };
            self.name_bytes -= gone.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<V>(recent: &Recent<V>) -> Vec<&str> {
        recent.iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_one_that_was_not_used_for_longest_goes() {
        let mut recent = Recent::new(2);
        recent.put("a", 1);
        recent.put("b", 2);
        recent.put("a", 3);
        *recent.get_or_insert_with("c", || 3) += 1;
        assert_eq!(names(&recent), ["c", "a"]);
        assert_eq!((recent.get("c"), recent.get("b")), (Some(&4), None));
        // To look at one or to change it is not to use it.
        assert_eq!(recent.get("a"), Some(&3));
        assert_eq!(recent.peek_mut("a"), Some(&mut 3));
        assert_eq!(names(&recent), ["c", "a"]);
        assert_eq!(recent.get_mut("a"), Some(&mut 3));
        assert_eq!(names(&recent), ["a", "c"]);
        assert_eq!(recent.remove("c"), Some(4));
        assert_eq!(names(&recent), ["a"]);
        assert_eq!(recent.name_bytes, 1);
    }

    #[test]
    fn long_names_count_for_more() {
        let mut recent = Recent::new(1000);
        for number in 0..100 {
            recent.put(&format!("{number}{}", "x".repeat(4000)), ());
        }
        assert_eq!(names(&recent).len(), MAX_NAME_BYTES / 4002);
        assert!(names(&recent)[0].starts_with("99x"));
    }
}
