//! What holds for every search.

use proptest::prelude::*;

use super::fixture::{Store, local};
use super::needle::Needle;
use super::*;

thread_local! {
    static STORE: Store = {
        let store = Store::new();
        store.message(1, "prompt", "fix \"the\" 登录 bug in a::b, NEAR(x) AND snake_case*");
        store
    };
}

/// Texts with the signs that mean something to the index, and with letters of many scripts.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9]{1,8}",
        "[\"'*^+:(){}.,;/_-]{1,3}",
        "AND|OR|NOT|NEAR|content",
        "[登录错误修复テストก-๙가-힣]{1,4}",
        "[éßİıΣσΑ-ω]{1,3}",
        "[а-яА-Яא-תا-غअ-हა-ჰ]{1,4}",
        "[\\x00-\\x20]",
        " ",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_can_be_searched_for(text in prop_oneof![texts(), ".*"]) {
        STORE.with(|store| {
            let query = SearchQuery { text, ..SearchQuery::default() };
            let page = search(&store.reader(), &query, &local());
            prop_assert!(page.is_ok(), "{:?}", page);
            Ok(())
        })?;
    }

    /// What the index is asked for is taken apart as what it has taken in.
    #[test]
    fn every_word_of_a_text_finds_it(text in texts(), which: prop::sample::Index) {
        let store = Store::new();
        store.message(1, "prompt", &text);
        let words: Vec<_> =
            text.split_whitespace().filter(|word| Needle::new(word).is_some()).collect();
        prop_assume!(!words.is_empty());
        let word = which.get(&words);
        let query = SearchQuery { text: (*word).to_owned(), ..SearchQuery::default() };
        let page = search(&store.reader(), &query, &local()).unwrap();
        prop_assert_eq!(page.items.len(), 1, "{:?} in {:?}", word, text);
        let snippet = &page.items[0].snippet;
        prop_assert!(!snippet.matched.is_empty(), "{:?} in {:?}: {:?}", word, text, snippet);
    }
}
