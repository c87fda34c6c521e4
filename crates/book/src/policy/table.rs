//! The table of the options that decide between the moves of a position.

/// Calls a macro with the options of [`Policy`](crate::policy::Policy):
/// `policy_options! { name! { anything } }` becomes `name! { anything, then two groups of
/// rows }`. What is made from the rows has all options or does not compile.
///
/// A row is
///
/// ```text
/// /// Documentation of the field.
/// Identifier field: type = default, range, "UCI name", Topic, [presets], "help";
/// ```
///
/// The range of a type without one is `..`. The presets are the values that `Optimize`,
/// `Normal` and `Handicap` set, if they set the option. The order is that of the UCI
/// declarations; the adapter declares other options between the groups.
#[macro_export]
macro_rules! policy_options {
    ($then:ident! { $($given:tt)* }) => {
        $then! {
            $($given)*
            weight {
                /// 0 to 100: 0 the heaviest move only, 50 by weight, 100 all alike.
                Variety variety: u32 = 50, 0..=100, "Book Variety", Draw, [15, 50, 100],
                    "0 the heaviest move, 50 by weight, 100 every move alike";
                /// Games that the position after the move must have.
                MinimumGames minimum_games: u32 = 1, 0..=1_000_000,
                    "Book Minimum Games", Minimums, [5, 1, 0],
                    "games that the position after the move must have";
                /// 0 to 100 per cent: the score that the move must have for its player.
                MinimumScore minimum_score: u32 = 0, 0..=100,
                    "Book Minimum Score", Minimums, [40, 0, 0],
                    "per cent that the move must have scored";
                /// 0 to 1000 per mille of the position's weight: moves below it are removed.
                MinimumShare minimum_share: u32 = 5, 0..=1000,
                    "Book Minimum Share", Minimums, [50, 5, 0],
                    "per mille of the position's weight below which a move is dropped";
                /// Whether green and red marks count: red moves are never played, and if
                /// there are green moves only these.
                Tournament tournament: bool = true, .., "Book Tournament", Marks, [true, true, false],
                    "red moves never, and where there are green ones only those";
                /// Whether annotations count: doubtful moves are played only if no others are
                /// left; an only move alone.
                Annotations annotations: bool = true, .., "Book Annotations", Marks, [true, true, false],
                    "?, ?? and ?! only when nothing else is left; !, !! weigh more";
                /// 0 to 100: how strongly learn values change the weights.
                LearnInfluence learn_influence: u32 = 50, 0..=100,
                    "Book Learn Influence", Learning, [100, 50, 0],
                    "how far the learn values bend the weights";
            }
            evaluation {
                /// What makes the weight if evaluations are available.
                Judgement judgement: $crate::policy::Judgement = $crate::policy::Judgement::Results, ..,
                    "Book Judgement", Evaluations,
                    "what the weight is made of, where evaluations are known";
                /// Highest loss in centipawns against the best move, if evaluations are
                /// available; 0 is no limit. If it removes a move, moves without an
                /// evaluation are not played either.
                MaximumLoss maximum_loss: u32 = 0, 0..=2000,
                    "Book Maximum Loss", Evaluations,
                    "centipawns by which a move may be worse than the best; 0 no limit";
                /// Whether to play moves that are not stored but lead into the book.
                Transpositions transpositions: bool = true, .., "Book Transpositions", Positions,
                    "moves that lead into the book without being stored count too";
            }
        }
    };
}

/// Makes [`Policy`](super::Policy) from the table.
macro_rules! policy {
    ($($group:ident { $(
        $(#[$doc:meta])*
        $id:ident $field:ident: $type:ty = $default:expr, $range:expr, $name:literal,
        $topic:ident, $([$($preset:expr),*],)? $help:literal;
    )* })*) => {
        /// How to choose among book moves: the settings of the user.
        ///
        /// The field docs give the ranges; values outside are clamped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct Policy {
            $($(
                $(#[$doc])*
                pub $field: $type,
            )*)*
        }

        impl Default for Policy {
            fn default() -> Policy {
                Policy { $($($field: $default,)*)* }
            }
        }

        tabia_io::setters!(Policy { $($($field: $type,)*)* });

        impl Policy {
            /// The options and their values, in the order of the fields.
            #[must_use]
            pub fn options(&self) -> Vec<PolicyOption> {
                use $crate::options::OptionValue;
                vec![$($(PolicyOption {
                    key: stringify!($field),
                    name: $name,
                    kind: self.$field.kind(&$range),
                    topic: Topic::$topic,
                    help: $help,
                },)*)*]
            }
        }
    };
}
