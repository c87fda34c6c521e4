use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::{Chess, Move, Position};

use super::Rejection::*;
use super::*;
use crate::{PositionRecord, Stats};

/// A move with these numbers of wins, draws and losses of its player.
fn candidate(index: usize, wins: u32, draws: u32, losses: u32) -> BookMove {
    let mv = Chess::default().legal_moves()[index];
    let after = PositionRecord {
        stats: Stats {
            games: wins + draws + losses,
            wins: losses,
            draws,
            losses: wins,
            ..Stats::default()
        },
        ..PositionRecord::default()
    };
    BookMove::stored(mv, Annotation(0), Some(after))
}

fn evaluated(candidate: BookMove, value: i32, loss: u32) -> BookMove {
    BookMove {
        evaluation: Some(crate::MoveEvaluation {
            value,
            loss,
            depth: 0,
        }),
        ..candidate
    }
}

#[test]
fn evaluations_change_nothing_unless_the_judgement_uses_them() {
    // The players of the first move are stronger.
    let rated = |mv, elo: u32| {
        with(mv, |child| {
            child.stats.other_rated = 10;
            child.stats.other_rating_sum = 10 * u64::from(elo);
        })
    };
    let plain = [
        rated(candidate(0, 50, 30, 20), 2500),
        rated(candidate(1, 10, 10, 10), 2400),
    ];
    let known = [
        evaluated(plain[0].clone(), -80, 110),
        evaluated(plain[1].clone(), 30, 0),
    ];
    let usual = Policy::default();
    assert_eq!(verdicts(&plain, &usual), verdicts(&known, &usual));
    for judgement in [Judgement::Evaluations, Judgement::Both] {
        let policy = Policy {
            judgement,
            maximum_loss: 50,
            ..usual
        };
        // Without evaluations the option changes nothing.
        assert_eq!(verdicts(&plain, &usual), verdicts(&plain, &policy));
        assert_eq!(
            reasons(&known, &policy),
            [
                Some(LosesTooMuch {
                    loss: 110,
                    limit: 50
                }),
                None
            ]
        );
    }
}

const LIMIT: u32 = 40;

fn limited(change: impl FnOnce(&mut Policy)) -> Policy {
    Policy {
        maximum_loss: LIMIT,
        ..policy(change)
    }
}

const fn loses(loss: u32) -> Option<Rejection> {
    Some(LosesTooMuch { loss, limit: LIMIT })
}

const UNKNOWN: Option<Rejection> = Some(ValueUnknown { limit: LIMIT });

#[test]
fn an_unknown_move_is_never_played_in_the_place_of_a_known_one() {
    let over = evaluated(candidate(0, 90, 0, 0), -60, 80);
    let sound = evaluated(candidate(1, 10, 0, 0), 20, 0);
    let unknown = candidate(2, 30, 0, 0);
    let doubtful = annotated(unknown.clone(), Annotation::DUBIOUS);
    let limit = limited(|_| ());
    // All moves with a value are over the limit: the engine thinks.
    let left = [over.clone(), unknown.clone()];
    assert_eq!(reasons(&left, &limit), [loses(80), UNKNOWN]);
    assert_eq!(probabilities(&left, &limit), [0.0, 0.0]);
    // Its annotation excluded it first, so it does not come back.
    let left = [over.clone(), doubtful];
    assert_eq!(reasons(&left, &limit), [loses(80), Some(Doubtful)]);
    // The same for its colour.
    let green = with(over.clone(), |after| after.recommendation = 0x80);
    let left = [green, sound.clone(), unknown.clone()];
    let not_main = Some(NotMain);
    assert_eq!(reasons(&left, &limit), [loses(80), not_main, not_main]);
    // A move with a good value is played alone.
    let left = [over.clone(), sound.clone(), unknown.clone()];
    assert_eq!(reasons(&left, &limit), [loses(80), None, UNKNOWN]);
    assert_eq!(probabilities(&left, &limit), [0.0, 1.0, 0.0]);
    // If the limit removes nothing, it changes nothing.
    let red = with(over, |after| after.recommendation = 0x40);
    let left = [red, sound, unknown];
    assert_eq!(verdicts(&left, &limit), verdicts(&left, &Policy::default()));
    assert!(probabilities(&left, &limit)[2] > 0.5);
}

#[test]
fn weights_by_evaluation_and_by_both() {
    let by = |judgement| policy(|p| (p.judgement, p.minimum_share) = (judgement, 0));
    // 30 centipawns less is a quarter of the weight.
    let moves = [
        evaluated(candidate(0, 0, 0, 0), 30, 0),
        evaluated(candidate(1, 900, 0, 0), 0, 30),
        candidate(2, 0, 1, 0),
    ];
    let moves = moves.map(|mv| with(mv, |child| child.stats.games = child.stats.games.max(1)));
    let weights: Vec<f64> = verdicts(&moves, &by(Judgement::Evaluations))
        .iter()
        .map(|verdict| verdict.weight)
        .collect();
    assert_eq!(weights[0], 1000.0);
    assert!((weights[1] - 252.0).abs() < 2.0, "{weights:?}");
    // Without an evaluation it counts like the lowest of the others.
    assert!((weights[2] - weights[1]).abs() < 1.0, "{weights:?}");
    // A good score in few games must not favour a move without evaluation.
    let tempting = [moves[0].clone(), moves[1].clone(), candidate(2, 70, 10, 6)];
    let both = probabilities(&tempting, &by(Judgement::Both));
    assert!(both[2] < 0.2, "{both:?}");
    // 900 wins have more weight than the evaluations.
    let both = probabilities(&moves, &by(Judgement::Both));
    assert!(both[1] > 0.99, "{both:?}");
    // Three wins have less.
    let few = [
        moves[0].clone(),
        evaluated(candidate(1, 3, 0, 0), -100, 130),
    ];
    let both = probabilities(&few, &by(Judgement::Both));
    assert!(both[0] > 0.7, "{both:?}");
}

fn with(mut candidate: BookMove, change: impl FnOnce(&mut PositionRecord)) -> BookMove {
    change(candidate.after.as_mut().unwrap());
    candidate
}

fn annotated(candidate: BookMove, annotation: Annotation) -> BookMove {
    BookMove {
        annotation,
        ..candidate
    }
}

fn verdicts(moves: &[BookMove], policy: &Policy) -> Vec<Weighed> {
    let mut verdicts = Vec::new();
    weigh(moves, policy, |_| None, &mut verdicts);
    verdicts
}

fn reasons(moves: &[BookMove], policy: &Policy) -> Vec<Option<Rejection>> {
    verdicts(moves, policy)
        .iter()
        .map(|v| v.rejection)
        .collect()
}

fn policy(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = Policy::default();
    change(&mut policy);
    policy
}

/// [`reasons`] under the usual policy.
fn refused(moves: &[BookMove]) -> Vec<Option<Rejection>> {
    reasons(moves, &Policy::default())
}

/// [`probabilities`] under the usual policy.
fn usual(moves: &[BookMove]) -> Vec<f64> {
    probabilities(moves, &Policy::default())
}

fn probabilities(moves: &[BookMove], policy: &Policy) -> Vec<f64> {
    verdicts(moves, policy)
        .iter()
        .map(|v| v.probability)
        .collect()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-12
}

#[test]
fn plays_in_proportion_to_doubled_points() {
    // 2 * 10 + 9 + 1 = 30 and 2 * 4 + 1 + 1 = 10.
    let moves = [candidate(0, 10, 9, 3), candidate(1, 4, 1, 50)];
    let shares = usual(&moves);
    assert!(
        close(shares[0], 0.75) && close(shares[1], 0.25),
        "{shares:?}"
    );
}

#[test]
fn unfinished_games_count_half() {
    let unfinished = with(candidate(0, 0, 0, 0), |after| after.stats.games = 7);
    let drawn = candidate(1, 0, 7, 0);
    let shares = usual(&[unfinished, drawn]);
    assert!(close(shares[0], 0.5), "{shares:?}");
}

#[test]
fn variety_goes_smoothly_from_the_heaviest_to_all_alike() {
    let moves = [candidate(0, 10, 9, 3), candidate(1, 4, 1, 50)];
    let share = |variety| probabilities(&moves, &policy(|p| p.variety = variety))[0];
    assert!(close(share(0), 1.0));
    assert!(close(share(100), 0.5));
    let all: Vec<f64> = (0..=100).map(share).collect();
    assert!(all.windows(2).all(|pair| pair[0] >= pair[1]), "{all:?}");
}

#[test]
fn of_equally_heavy_moves_variety_0_takes_the_first_stored() {
    let moves = [candidate(5, 1, 0, 0), candidate(2, 1, 0, 0)];
    let policy = policy(|p| p.variety = 0);
    assert_eq!(probabilities(&moves, &policy), [1.0, 0.0]);
}

#[test]
fn red_is_never_played_and_green_alone() {
    let red = with(candidate(0, 90, 0, 0), |after| after.recommendation = 0x40);
    let green = with(candidate(1, 1, 0, 5), |after| after.recommendation = 0x80);
    let black = candidate(2, 50, 0, 0);
    let moves = [red, green, black];
    assert_eq!(refused(&moves), [Some(Forbidden), None, Some(NotMain)]);
    let off = policy(|p| p.tournament = false);
    assert_eq!(reasons(&moves, &off), [None, None, None]);
}

#[test]
fn a_red_move_is_not_played_even_when_it_is_the_only_one() {
    let red = with(candidate(0, 9, 0, 0), |after| after.recommendation = 0x40);
    assert_eq!(usual(&[red]), [0.0]);
}

#[test]
fn doubtful_moves_are_played_only_when_nothing_else_is_left() {
    let doubtful = annotated(candidate(0, 90, 0, 0), Annotation::DUBIOUS);
    let blunder = annotated(candidate(1, 90, 0, 0), Annotation::BLUNDER);
    let sound = candidate(2, 1, 0, 1);
    assert_eq!(
        refused(&[doubtful.clone(), blunder.clone(), sound]),
        [Some(Doubtful), Some(Doubtful), None]
    );
    let left = usual(&[doubtful, blunder]);
    assert!(left[0] > 0.9 && left[1] > 0.0, "{left:?}");
}

#[test]
fn a_doubtful_annotation_outweighs_a_green_position() {
    let doubtful = annotated(
        with(candidate(0, 90, 0, 0), |after| after.recommendation = 0x80),
        Annotation::DUBIOUS,
    );
    let sound = candidate(1, 5, 0, 5);
    assert_eq!(refused(&[doubtful, sound]), [Some(Doubtful), None]);
}

#[test]
fn an_only_move_stands_alone_and_good_moves_weigh_more() {
    let only = annotated(candidate(0, 0, 0, 3), Annotation::ONLY_MOVE);
    let other = candidate(1, 99, 0, 0);
    assert_eq!(
        refused(&[only, other.clone()]),
        [None, Some(NotTheOnlyMove)]
    );
    let good = annotated(candidate(2, 99, 0, 0), Annotation::GOOD);
    let brilliant = annotated(candidate(3, 99, 0, 0), Annotation(0xe3));
    let shares = usual(&[other, good, brilliant]);
    assert!(close(shares[1] / shares[0], 2.0) && close(shares[2] / shares[0], 4.0));
}

#[test]
fn minimums_drop_moves_and_say_why() {
    let moves = [
        candidate(0, 1, 0, 1),
        candidate(1, 10, 0, 90),
        candidate(2, 60, 0, 40),
        with(candidate(3, 0, 0, 0), |after| after.stats.games = 5),
    ];
    let policy = policy(|p| (p.minimum_games, p.minimum_score) = (5, 50));
    assert_eq!(
        reasons(&moves, &policy),
        [Some(FewGames), Some(LowScore), None, None]
    );
}

#[test]
fn small_shares_drop_out() {
    let moves = [candidate(0, 499, 0, 0), candidate(1, 0, 1, 0)];
    // Weights 999 and 2: the second has 2 per mille.
    assert_eq!(refused(&moves), [None, Some(SmallShare)]);
    let lenient = policy(|p| p.minimum_share = 1);
    assert_eq!(reasons(&moves, &lenient), [None, None]);
    let strict = policy(|p| p.minimum_share = 1000);
    assert_eq!(reasons(&moves[..1], &strict), [None]);
}

#[test]
fn the_learn_value_is_seen_from_the_mover() {
    // The byte is in the position after the move, where the opponent is to move: negative
    // favours the move.
    let liked = with(candidate(0, 10, 0, 10), |after| after.learn_value = -60);
    let neutral = candidate(1, 10, 0, 10);
    let shares = usual(&[liked.clone(), neutral.clone()]);
    assert!(
        close(shares[0] / shares[1], 16_f64.powf(60.0 / 125.0)),
        "{shares:?}"
    );
    let deaf = policy(|p| p.learn_influence = 0);
    assert!(close(
        probabilities(&[liked, neutral.clone()], &deaf)[0],
        0.5
    ));
    let never = with(candidate(2, 10, 0, 10), |after| after.learn_value = 127);
    let always = with(candidate(3, 10, 0, 10), |after| after.learn_value = -128);
    assert_eq!(
        refused(&[never, always, neutral]),
        [Some(LearnedNever), None, Some(NotLearnedAlways)]
    );
}

#[test]
fn stronger_players_count_more_up_to_the_double() {
    let rated = |index, elo: u32, games: u32| {
        with(candidate(index, 10, 0, 10), |after| {
            after.stats.other_rated = games;
            after.stats.other_rating_sum = u64::from(elo * games);
        })
    };
    let shares = usual(&[rated(0, 2700, 20), rated(1, 2300, 20)]);
    // 200 above and below the mean of 2500, 20 games of weight 20 / 30.
    assert!(
        close(shares[0] / shares[1], (2.0_f64 * 2.0 / 3.0).exp2()),
        "{shares:?}"
    );
    let extreme = usual(&[rated(0, 3500, 900), rated(1, 500, 900)]);
    assert!(close(extreme[0] / extreme[1], 4.0), "{extreme:?}");
}

#[test]
fn transpositions_count_unless_switched_off() {
    let grey = BookMove {
        transposition: true,
        ..candidate(0, 5, 0, 0)
    };
    assert_eq!(refused(std::slice::from_ref(&grey)), [None]);
    let off = policy(|p| p.transpositions = false);
    assert_eq!(reasons(&[grey], &off), [Some(Transposition)]);
}

/// A move of a Polyglot book.
fn weighted(index: usize, weight: u32) -> BookMove {
    BookMove {
        after: None,
        preference: Preference::Weight(weight),
        ..candidate(index, 0, 0, 0)
    }
}

#[test]
fn stored_weights_are_played_in_proportion_and_zero_never() {
    let moves = [
        weighted(0, 60),
        weighted(1, 0),
        weighted(2, 30),
        weighted(3, 10),
    ];
    let verdicts = verdicts(&moves, &Policy::default());
    let chances: Vec<f64> = verdicts.iter().map(|v| v.probability).collect();
    for (chance, expected) in chances.iter().zip([0.6, 0.0, 0.3, 0.1]) {
        assert!(close(*chance, expected), "{chances:?}");
    }
    assert_eq!(verdicts[1].rejection, Some(WeightZero));
    let share = policy(|p| p.minimum_share = 150);
    assert_eq!(reasons(&moves, &share)[3], Some(SmallShare));
    let strict = policy(|p| (p.minimum_games, p.minimum_score) = (10, 90));
    assert_eq!(
        reasons(&moves, &strict)[0],
        None,
        "the format counts no games"
    );
}

#[test]
fn priorities_bend_the_statistics() {
    let with_priority = |index, priority| BookMove {
        preference: Preference::Priority(priority),
        ..candidate(index, 2, 1, 0)
    };
    let moves = [
        with_priority(0, 5),
        with_priority(1, 9),
        with_priority(2, 0),
    ];
    let verdicts = verdicts(&moves, &Policy::default());
    let plain = candidate(0, 2, 1, 0);
    let same = self::verdicts(&[plain], &Policy::default());
    assert!(close(verdicts[0].weight, same[0].weight), "5 is usual");
    assert!(close(verdicts[1].weight / verdicts[0].weight, 1.8));
    assert_eq!(verdicts[2].rejection, Some(WeightZero));
    let games = policy(|p| p.minimum_games = 10);
    assert_eq!(reasons(&moves, &games)[0], Some(FewGames));
}

#[test]
fn a_move_without_a_position_is_not_played() {
    let hidden = BookMove {
        after: None,
        ..candidate(0, 0, 0, 0)
    };
    assert_eq!(refused(&[hidden]), [Some(NoPosition)]);
}

#[test]
fn what_the_game_bars_is_not_played() {
    let moves = [candidate(0, 5, 0, 0), candidate(1, 5, 0, 0)];
    let first: Move = moves[0].mv;
    let mut out = Vec::new();
    weigh(
        &moves,
        &Policy::default(),
        |candidate| (candidate.mv == first).then_some(Rejection::Repetition),
        &mut out,
    );
    assert_eq!(out[0].rejection, Some(Repetition));
    assert!(close(out[1].probability, 1.0));
}

/// Two moves of equal weight of which the first is rejected for each of these reasons.
/// The second is never rejected, and gives the reasons that come from a comparison.
fn rejected_for(some: &[Rejection]) -> ([BookMove; 2], Policy) {
    let mut first = candidate(0, 50, 0, 50);
    let mut better = evaluated(candidate(1, 50, 0, 50), 0, 0);
    let mut policy = policy(|p| (p.minimum_share, p.maximum_loss) = (200, LIMIT));
    for reason in some {
        let after = first.after.as_mut().unwrap();
        match reason {
            Transposition => (first.transposition, policy.transpositions) = (true, false),
            Forbidden => after.recommendation |= 0x40,
            FewGames => {
                policy.minimum_games = 100;
                after.stats.games -= 1;
                after.stats.losses -= 1;
            }
            LowScore => {
                policy.minimum_score = 45;
                (after.stats.wins, after.stats.losses) = (60, after.stats.losses - 10);
            }
            LearnedNever => after.learn_value = 125,
            NotTheOnlyMove => better.annotation = Annotation::ONLY_MOVE,
            Doubtful => first.annotation = Annotation::DUBIOUS,
            NotMain => better.after.as_mut().unwrap().recommendation = 0x80,
            NotLearnedAlways => better.after.as_mut().unwrap().learn_value = -125,
            SmallShare => {
                let stats = &mut better.after.as_mut().unwrap().stats;
                (stats.wins, stats.losses, stats.games) = (50, 1050, 1100);
            }
            LosesTooMuch { loss, .. } => first = evaluated(first, -60, *loss),
            Repetition => {}
            _ => unreachable!("{reason:?}"),
        }
    }
    ([first, better], policy)
}

#[test]
fn of_several_reasons_the_first_of_the_list_is_given() {
    let reasons = [
        Transposition,
        Forbidden,
        FewGames,
        LowScore,
        LearnedNever,
        Repetition,
        NotTheOnlyMove,
        Doubtful,
        NotMain,
        NotLearnedAlways,
        SmallShare,
        LosesTooMuch {
            loss: 60,
            limit: LIMIT,
        },
    ];
    for (at, first) in reasons.iter().enumerate() {
        for later in &reasons[at..] {
            let some = [*first, *later];
            let some = &some[..if first == later { 1 } else { 2 }];
            let (moves, policy) = rejected_for(some);
            let barred = |entry: &BookMove| {
                (some.contains(&Repetition) && entry.mv == moves[0].mv).then_some(Repetition)
            };
            let mut verdicts = Vec::new();
            weigh(&moves, &policy, barred, &mut verdicts);
            let given = [verdicts[0].rejection, verdicts[1].rejection];
            assert_eq!(given, [Some(*first), None], "{some:?}");
            // A rejected move stays rejected, asked for or not.
            narrow(&moves, &policy, &[moves[1].mv], &mut verdicts);
            assert_eq!(verdicts[0].rejection, given[0], "{some:?}");
        }
    }
}

#[test]
fn a_reason_is_told_with_its_figures() {
    for (reason, text) in [
        (Doubtful, "doubtful annotation"),
        (PastDepth, "past Book Depth"),
        (
            LosesTooMuch {
                loss: 60,
                limit: 40,
            },
            "loses 60 cp, limit 40",
        ),
        (ValueUnknown { limit: 40 }, "value unknown, limit 40 cp"),
        (
            Rejection::Exit {
                value: -90,
                limit: -80,
            },
            "position worth -90 cp, exit at -80",
        ),
    ] {
        assert_eq!(reason.to_string(), text);
    }
}

/// Pearson's chi-square of the drawn moves against the announced shares.
fn chi_square(drawn: &[u32], announced: &[f64]) -> f64 {
    let total = f64::from(drawn.iter().sum::<u32>());
    drawn
        .iter()
        .zip(announced)
        .filter(|(_, share)| **share > 0.0)
        .map(|(count, share)| {
            let expected = total * share;
            (f64::from(*count) - expected).powi(2) / expected
        })
        .sum()
}

#[test]
fn what_is_played_is_what_is_announced() {
    let moves: Vec<BookMove> = (0..8)
        .map(|i| candidate(i, [200, 90, 60, 31, 17, 8, 3, 0][i], 20, 50))
        .collect();
    for variety in [1, 20, 50, 80, 100] {
        let policy = policy(|p| (p.variety, p.minimum_share) = (variety, 20));
        let announced = verdicts(&moves, &policy);
        let shares: Vec<f64> = announced.iter().map(|v| v.probability).collect();
        for seed in 1..=5 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut drawn = vec![0_u32; moves.len()];
            for _ in 0..20_000 {
                drawn[pick(&announced, &mut rng).unwrap()] += 1;
            }
            for (count, verdict) in drawn.iter().zip(&announced) {
                assert!(verdict.rejection.is_none() || *count == 0);
            }
            // Seven degrees of freedom: 29.9 is exceeded once in 10,000 runs.
            let chi = chi_square(&drawn, &shares);
            assert!(chi < 29.9, "variety {variety}, seed {seed}: {chi}");
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_moves() {
    let moves: Vec<BookMove> = (0..6).map(|i| candidate(i, 10, 5, 10)).collect();
    let announced = verdicts(&moves, &Policy::default());
    let game = |seed| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..40)
            .map(|_| pick(&announced, &mut rng).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(game(7), game(7));
    assert_ne!(game(7), game(8));
}

#[test]
fn nothing_left_means_no_move() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    assert_eq!(pick(&[], &mut rng), None);
    assert_eq!(pick(&[Weighed::default()], &mut rng), None);
    assert_eq!(best(&[Weighed::default()]), None);
}

prop_compose! {
    fn any_move()(
        index in 0_usize..20,
        results in (0_u32..5_000_000, 0_u32..5_000_000, 0_u32..5_000_000),
        games in 0_u32..16_777_216,
        rating in (0_u32..16_777_216, any::<u32>()),
        recommendation in any::<u8>(),
        learn_value in any::<i8>(),
        annotation in any::<u8>(),
        transposition in any::<bool>(),
        present in prop::bool::weighted(0.9),
        preference in prop_oneof![
            3 => Just(Preference::Statistics),
            1 => any::<u32>().prop_map(Preference::Weight),
            1 => (0_u8..10).prop_map(Preference::Priority),
            1 => Just(Preference::Weight(0)),
        ],
        evaluation in prop::option::of((-1000_i32..1000, 0_u32..200)),
    ) -> BookMove {
        let mut entry = with(candidate(index, results.0, results.1, results.2), |after| {
            after.stats.games = games;
            after.stats.other_rated = rating.0;
            after.stats.other_rating_sum = rating.1.into();
            after.recommendation = recommendation;
            after.learn_value = learn_value;
        });
        entry.annotation = Annotation(annotation);
        entry.transposition = transposition;
        entry.preference = preference;
        entry.evaluation = evaluation.map(|(value, loss)| crate::MoveEvaluation {
            value,
            loss,
            depth: 0,
        });
        if !present { entry.after = None; }
        entry
    }
}

proptest! {
    /// The reply that is announced as ponder move is the most probable one, of equal ones
    /// the first.
    #[test]
    fn the_best_move_is_the_most_probable(
        probabilities in prop::collection::vec(0_u8..4, 0..8),
    ) {
        let verdicts: Vec<Weighed> = probabilities
            .iter()
            .map(|share| Weighed { probability: f64::from(*share), ..Weighed::default() })
            .collect();
        let most = probabilities.iter().copied().max().filter(|most| *most > 0);
        let first = most.and_then(|most| probabilities.iter().position(|share| *share == most));
        prop_assert_eq!(best(&verdicts), first);
    }

    /// The moves that the GUI asks for share the probability as if the others were not in
    /// the book; nothing makes up for a rejected one.
    #[test]
    fn searchmoves_share_the_probability_among_themselves(
        moves in prop::collection::vec(any_move(), 0..12),
        variety in 0_u32..=100,
        asked in prop::collection::vec(0_usize..20, 0..6),
        maximum_loss in 0_u32..200,
    ) {
        let legal = Chess::default().legal_moves();
        let asked: Vec<Move> = asked.into_iter().map(|index| legal[index]).collect();
        let policy = Policy { variety, maximum_loss, ..Policy::default() };
        let before = verdicts(&moves, &policy);
        let mut after = before.clone();
        narrow(&moves, &policy, &asked, &mut after);
        let mut sum = 0.0;
        let mut known: Option<f64> = None;
        for ((entry, before), after) in moves.iter().zip(&before).zip(&after) {
            let rejection = before.rejection
                .or_else(|| (!asked.contains(&entry.mv)).then_some(NotAsked));
            prop_assert_eq!(after.rejection, rejection);
            if rejection.is_some() {
                prop_assert_eq!((after.weight, after.probability), (0.0, 0.0));
                continue;
            }
            prop_assert_eq!(after.weight, before.weight);
            sum += after.probability;
            // The proportions stay.
            if variety > 0 && before.probability > 1e-9 {
                let factor = after.probability / before.probability;
                prop_assert!(factor > 1.0 - 1e-9);
                prop_assert!(known.is_none_or(|known| (factor / known - 1.0).abs() < 1e-6));
                known = Some(factor);
            }
        }
        prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9, "{}", sum);
        prop_assert_eq!(sum > 0.0, after.iter().any(|verdict| verdict.rejection.is_none()));
    }

    /// The limit never moves probability to a move without an evaluation, and no move
    /// over it is played.
    #[test]
    fn a_limit_makes_no_unknown_move_likelier(
        moves in prop::collection::vec(any_move(), 0..12),
        variety in 0_u32..=100,
        minimum_share in 0_u32..=200,
        maximum_loss in 1_u32..200,
        judgement in prop_oneof![
            Just(Judgement::Results), Just(Judgement::Evaluations), Just(Judgement::Both),
        ],
        tournament in any::<bool>(),
        annotations in any::<bool>(),
    ) {
        let free = Policy {
            variety, minimum_share, judgement, tournament, annotations, ..Policy::default()
        };
        let limited = Policy { maximum_loss, ..free };
        let (free, limited) = (verdicts(&moves, &free), verdicts(&moves, &limited));
        for ((entry, free), limited) in moves.iter().zip(&free).zip(&limited) {
            match entry.evaluation {
                None => prop_assert!(limited.probability <= free.probability),
                Some(evaluation) if evaluation.loss > maximum_loss => {
                    prop_assert_eq!(limited.probability, 0.0);
                }
                Some(_) => {}
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one_or_nothing_is_left(
        moves in prop::collection::vec(any_move(), 0..40),
        variety in 0_u32..=100,
        minimum_share in 0_u32..=1000,
        learn_influence in 0_u32..=100,
        tournament in any::<bool>(),
        annotations in any::<bool>(),
        maximum_loss in prop_oneof![Just(0_u32), 1_u32..200],
    ) {
        let policy = Policy {
            variety, minimum_share, learn_influence, tournament, annotations, maximum_loss,
            ..Policy::default()
        };
        let verdicts = verdicts(&moves, &policy);
        prop_assert_eq!(verdicts.len(), moves.len());
        let sum: f64 = verdicts.iter().map(|v| v.probability).sum();
        if verdicts.iter().any(|v| v.rejection.is_none()) {
            prop_assert!((sum - 1.0).abs() < 1e-9, "sum {}", sum);
        } else {
            prop_assert_eq!(sum, 0.0);
        }
        for verdict in &verdicts {
            prop_assert!(verdict.probability.is_finite() && verdict.weight.is_finite());
            prop_assert!(verdict.rejection.is_none() || verdict.probability == 0.0);
        }
    }
}

#[test]
fn a_learn_value_gives_the_share_that_evaluations_give() {
    for (loss, expected) in [
        (0, 0),
        (-5, 0),
        (10, -21),
        (30, -62),
        (60, -124),
        (300, -124),
    ] {
        assert_eq!(learn_value(-loss, 0), expected, "{loss}");
    }
    let plain = candidate(0, 90, 0, 0);
    let mut learnt = plain.clone();
    learnt.after.as_mut().unwrap().learn_value = -learn_value(-30, 0);
    let shares = |a: BookMove, b: BookMove, judgement| {
        let policy = Policy {
            judgement,
            ..Policy::default()
        };
        let mut verdicts = Vec::new();
        weigh(&[a, b], &policy, |_| None, &mut verdicts);
        verdicts[1].probability
    };
    let both = [
        evaluated(plain.clone(), 0, 0),
        evaluated(plain.clone(), -30, 30),
    ];
    let [best, worse] = both;
    let by_values = shares(best, worse, Judgement::Both);
    let by_learn_value = shares(plain, learnt, Judgement::Results);
    assert!(
        (by_values - by_learn_value).abs() < 0.005,
        "{by_values} {by_learn_value}"
    );
}
