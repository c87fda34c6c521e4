//! Answers that cost much and are asked for again and again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;

/// Bytes of questions and answers that are kept at most.
const MOST_BYTES: usize = 2 << 20;

/// Answers by what was asked, all of the same contents of the books.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    generations: Vec<u64>,
    made: HashMap<String, Bytes>,
    bytes: usize,
}

impl Kept {
    /// The answer to a question, made only if it is not here.
    pub(super) fn or_make<E>(
        &self,
        generations: Vec<u64>,
        question: &str,
        make: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = lock();
            if kept.generations != generations {
                // Nobody asks the books as they were any more.
                *kept = Answers {
                    generations: generations.clone(),
                    ..Answers::default()
                };
            }
            if let Some(known) = kept.made.get(question) {
                return Ok(known.clone());
            }
        }
        let made = make()?;
        let mut kept = lock();
        let bytes = question.len() + made.len();
        if kept.generations == generations && bytes <= MOST_BYTES {
            if kept.bytes + bytes > MOST_BYTES {
                kept.made.clear();
                kept.bytes = 0;
            }
            if kept
                .made
                .insert(question.to_owned(), made.clone())
                .is_none()
            {
                kept.bytes += bytes;
            }
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_made_once_for_each_content() {
        let kept = Kept::default();
        let mut made = 0;
        for generation in [0, 0, 1, 1] {
            let answer = kept.or_make(vec![generation], "q", || {
                made += 1;
                Ok::<_, ()>(Bytes::from(generation.to_string()))
            });
            assert_eq!(answer.unwrap(), generation.to_string());
        }
        assert_eq!(made, 2);
        assert!(kept.or_make(vec![0], "bad", || Err("no")).is_err());
        // However many there are, and however large.
        for number in 0..3000 {
            let answer = Bytes::from(vec![0; number]);
            let _ = kept.or_make(vec![0], &number.to_string(), || Ok::<_, ()>(answer));
        }
        let kept = kept.0.lock().unwrap();
        let bytes = kept.made.iter().map(|(text, made)| text.len() + made.len());
        assert_eq!(bytes.sum::<usize>(), kept.bytes);
        assert!(kept.bytes <= MOST_BYTES);
    }
}
