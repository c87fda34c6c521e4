#![allow(clippy::print_stdout)]
use std::time::Instant;
use tabia_book::ctg::{Contents, CtgBook, OpenOptions};
use tabia_book::progress::Watch;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let book = CtgBook::open(&path, &OpenOptions { mmap: false }).unwrap();
    for (records, transpositions) in [(false, false), (true, true)] {
        let start = Instant::now();
        let (graph, _) = book
            .graph(
                Contents {
                    records,
                    transpositions,
                },
                &mut Watch::default(),
            )
            .unwrap();
        let leaps: usize = graph
            .entries()
            .map(|n| graph.transpositions(n).count())
            .sum();
        println!(
            "{records} {transpositions}: {} entries, {leaps} leaps, {:?}",
            graph.len(),
            start.elapsed()
        );
    }
}
