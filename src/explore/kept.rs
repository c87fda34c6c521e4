//! Answers that cost much and are asked for again and again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;

/// Answers that are kept at most.
const MOST_KEPT: usize = 1024;

/// Answers by what was asked and which contents of the books answered.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<HashMap<(Vec<u64>, String), Bytes>>);

impl Kept {
    /// The answer to a question, made only if it is not here.
    pub(super) fn or_make<E>(
        &self,
        generations: Vec<u64>,
        question: &str,
        make: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let key = (generations, question.to_owned());
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(known.clone());
        }
        let made = make()?;
        let mut kept = lock();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, made.clone());
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
        for generation in [0, 0, 1, 1, 0] {
            let answer = kept.or_make(vec![generation], "q", || {
                made += 1;
                Ok::<_, ()>(Bytes::from(generation.to_string()))
            });
            assert_eq!(answer.unwrap(), generation.to_string());
        }
        assert_eq!(made, 2);
        assert!(kept.or_make(vec![0], "bad", || Err("no")).is_err());
        for number in 0..3000 {
            let _ = kept.or_make(vec![0], &number.to_string(), || Ok::<_, ()>(Bytes::new()));
        }
        assert!(kept.0.lock().unwrap().len() <= MOST_KEPT);
    }
}
