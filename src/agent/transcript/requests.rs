//! The requests to Claude that were counted, so that none is counted twice.
//!
//! One answer of the model is several lines, one for each block of it, and older clients give the
//! early ones with less output than it has in the end. A session that goes on under another id
//! starts with a copy of the lines before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use crate::agent::transcript::Tokens;

/// How many requests one generation holds. Two are kept, in some four megabytes: the requests of a
/// user's last weeks. What is copied is younger than that.
const GENERATION: usize = 57_344;

/// The session that a request is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(pub u32);

/// What tells one request from others: a hash of its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RequestId(u64);

/// The requests that were counted last.
#[derive(Debug, Default)]
pub struct Requests {
    current: HashMap<RequestId, Counted>,
    previous: HashMap<RequestId, Counted>,
}

/// The most that the lines of one request have said. No request has as many tokens as fit.
#[derive(Debug, Clone, Copy)]
struct Counted {
    owner: Owner,
    input: u32,
    output: u32,
}

impl RequestId {
    pub(super) fn new(message_id: Option<&str>, request_id: Option<&str>) -> Option<Self> {
        if message_id.is_none() && request_id.is_none() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (message_id, request_id).hash(&mut hasher);
        Some(Self(hasher.finish()))
    }
}

impl Requests {
    /// Counts a line of a request; returns what `owner` has used beyond what was counted of it.
    ///
    /// A request is its first owner's. If the copy of a session is read before its original, that is
    /// the copy.
    pub(super) fn count(&mut self, id: RequestId, owner: Owner, tokens: Tokens) -> Tokens {
        if !self.current.contains_key(&id) {
            if self.current.len() >= GENERATION {
                self.previous = mem::take(&mut self.current);
            }
            let counted =
                self.previous.remove(&id).unwrap_or(Counted { owner, input: 0, output: 0 });
            self.current.insert(id, counted);
        }
        let Some(counted) = self.current.get_mut(&id).filter(|counted| counted.owner == owner)
        else {
            return Tokens::default();
        };
        Tokens {
            input: raise(&mut counted.input, tokens.input),
            output: raise(&mut counted.output, tokens.output),
        }
    }

    /// Forgets the requests of a session whose files will be read anew if it goes on.
    pub fn forget(&mut self, owner: Owner) {
        for generation in [&mut self.current, &mut self.previous] {
            generation.retain(|_, counted| counted.owner != owner);
        }
    }
}

/// Raises `counted` to `tokens` if it is below; returns by how much.
fn raise(counted: &mut u32, tokens: u64) -> u64 {
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    let before = mem::replace(counted, tokens.max(*counted));
    u64::from(*counted - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Owner = Owner(1);
    const TWO: Owner = Owner(2);

    fn id(number: usize) -> RequestId {
        RequestId::new(Some(&number.to_string()), None).unwrap()
    }

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens { input, output }
    }

    #[test]
    fn a_request_counts_with_the_most_that_its_lines_say() {
        let mut requests = Requests::default();
        for (line, counted) in [
            (tokens(5, 1), tokens(5, 1)),
            (tokens(5, 1), tokens(0, 0)),
            (tokens(5, 90), tokens(0, 89)),
            (tokens(4, 3), tokens(0, 0)),
            (tokens(u64::MAX, 90), tokens(u64::from(u32::MAX) - 5, 0)),
        ] {
            assert_eq!(requests.count(id(1), ONE, line), counted, "{line:?}");
        }
    }

    #[test]
    fn a_request_counts_for_one_session_until_that_is_forgotten() {
        let mut requests = Requests::default();
        assert_eq!(requests.count(id(1), ONE, tokens(5, 1)), tokens(5, 1));
        assert_eq!(requests.count(id(1), TWO, tokens(5, 9)), tokens(0, 0));
        assert_eq!(requests.count(id(2), TWO, tokens(3, 3)), tokens(3, 3));
        requests.forget(ONE);
        assert_eq!(requests.count(id(1), TWO, tokens(5, 9)), tokens(5, 9));
        assert_eq!(requests.count(id(2), TWO, tokens(3, 3)), tokens(0, 0));
    }

    #[test]
    fn ids_are_both_parts() {
        let ids = [
            RequestId::new(Some("a"), None),
            RequestId::new(None, Some("a")),
            RequestId::new(Some("a"), Some("b")),
            RequestId::new(Some("ab"), Some("")),
        ];
        for (at, one) in ids.iter().enumerate() {
            assert!(ids.iter().skip(at + 1).all(|other| one != other));
        }
        assert_eq!(RequestId::new(None, None), None);
    }

    #[test]
    fn the_oldest_are_forgotten_and_the_ones_that_come_again_are_not() {
        let mut requests = Requests::default();
        for number in 0..3 * GENERATION {
            requests.count(id(number), ONE, tokens(1, 1));
            assert_eq!(requests.count(id(0), ONE, tokens(1, 1)), tokens(0, 0));
        }
        assert!(requests.current.len() + requests.previous.len() <= 2 * GENERATION);
        assert_eq!(requests.count(id(3 * GENERATION - 1), ONE, tokens(1, 1)), tokens(0, 0));
        assert_eq!(requests.count(id(1), ONE, tokens(1, 1)), tokens(1, 1));
    }
}
