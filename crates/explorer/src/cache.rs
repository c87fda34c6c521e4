//! A cache of expensive answers.

use std::collections::HashMap;
use std::sync::Mutex;

use hyper::body::Bytes;

use tabia_io::parallel::lock;

/// Greatest number of bytes of addresses and answers in the cache.
const MOST_BYTES: usize = 2 << 20;

/// Answers by address, all for the same contents of the books.
#[derive(Default)]
pub(super) struct AnswerCache(Mutex<Answers>);

/// The newer and the older half of the cache: a used answer moves to the newer half; when
/// that is full it becomes the older half, and the rest is dropped.
#[derive(Default)]
struct Answers {
    generations: Vec<u64>,
    new: HashMap<String, Bytes>,
    old: HashMap<String, Bytes>,
    /// Number of bytes in the newer half.
    bytes: usize,
}

impl Answers {
    fn get(&mut self, address: &str) -> Option<Bytes> {
        if let Some(known) = self.new.get(address) {
            return Some(known.clone());
        }
        let (address, known) = self.old.remove_entry(address)?;
        self.add(address, known.clone());
        Some(known)
    }

    fn add(&mut self, address: String, made: Bytes) {
        let bytes = address.len() + made.len();
        if bytes > MOST_BYTES / 2 {
            return;
        }
        if self.bytes + bytes > MOST_BYTES / 2 {
            self.old = std::mem::take(&mut self.new);
            self.bytes = 0;
        }
        if self.new.insert(address, made).is_none() {
            self.bytes += bytes;
        }
    }
}

impl AnswerCache {
    /// The answer to an address, computed only if it is not cached.
    pub(super) fn get_or_make<E>(
        &self,
        generations: Vec<u64>,
        address: &str,
        make: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        {
            let mut cache = lock(&self.0);
            if cache.generations != generations {
                // Answers for older contents are not needed any more.
                *cache = Answers {
                    generations: generations.clone(),
                    ..Answers::default()
                };
            }
            if let Some(known) = cache.get(address) {
                return Ok(known);
            }
        }
        let made = make()?;
        let mut cache = lock(&self.0);
        if cache.generations == generations {
            cache.add(address.to_owned(), made.clone());
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_made_once_for_each_content() {
        let cache = AnswerCache::default();
        let mut made = 0;
        for generation in [0, 0, 1, 1] {
            let answer = cache.get_or_make(vec![generation], "q", || {
                made += 1;
                Ok::<_, ()>(Bytes::from(generation.to_string()))
            });
            assert_eq!(answer.unwrap(), generation.to_string());
        }
        assert_eq!(made, 2);
        assert!(cache.get_or_make(vec![0], "bad", || Err("no")).is_err());
        // Many answers, some of them large.
        for number in 0..3000 {
            let answer = Bytes::from(vec![0; number]);
            let _ = cache.get_or_make(vec![0], &number.to_string(), || Ok::<_, ()>(answer));
        }
        let all = cache.0.lock().unwrap();
        let bytes = |of: &HashMap<String, Bytes>| -> usize {
            of.iter().map(|(text, made)| text.len() + made.len()).sum()
        };
        assert_eq!(bytes(&all.new), all.bytes);
        assert!(bytes(&all.new) + bytes(&all.old) <= MOST_BYTES);
    }

    #[test]
    fn answers_that_are_requested_again_stay_longer() {
        let cache = AnswerCache::default();
        let ask = |address: &str| {
            let mut is_new = false;
            let _ = cache.get_or_make(vec![0], address, || {
                is_new = true;
                Ok::<_, ()>(Bytes::from(vec![0; 1000]))
            });
            is_new
        };
        assert!(ask("often") && ask("once"));
        for number in 0..10_000 {
            ask(&number.to_string());
            if number % 100 == 0 {
                assert!(!ask("often"), "{number}");
            }
        }
        assert!(ask("once"));
    }
}
