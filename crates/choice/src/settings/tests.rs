use tabia_book::policy::Policy;

use super::*;

#[test]
fn the_preset_normal_has_the_defaults() {
    let mut normal = Settings::default();
    normal.set(OptionId::Preset, "normal").unwrap();
    assert_eq!(normal.options().policy, Policy::default());
}

#[test]
fn values_are_read_as_guis_write_them() {
    let mut settings = Settings::default();
    for (text, on) in [("FALSE", false), ("1", true), ("off", false), ("Yes", true)] {
        settings.set(OptionId::OwnBook, text).unwrap();
        assert_eq!(settings.options().own_book, on, "{text}");
    }
    for (given, expected) in [
        ("C:\\my  books\\a.ctg", "C:\\my  books\\a.ctg"),
        ("\"a b.ctg\"", "a b.ctg"),
        ("<empty>", ""),
        ("", ""),
    ] {
        settings.set(OptionId::Evaluations, given).unwrap();
        let expected = match expected {
            "" => EvaluationFile::None,
            path => EvaluationFile::Named(path.to_owned()),
        };
        assert_eq!(settings.options().evaluations, expected);
        settings.set(OptionId::File, given).unwrap();
        let expected = Paths(Vec::from_iter(expected.path().map(str::to_owned)));
        assert_eq!(settings.options().file, BookFiles::Listed(expected));
    }
}

#[test]
fn the_error_for_a_wrong_value_lists_the_valid_values_and_nothing_changes() {
    let mut settings = Settings::default();
    let error = settings.set(OptionId::Variety, "101").unwrap_err();
    assert_eq!(
        error.to_string(),
        "Book Variety takes a whole number from 0 to 100, not \"101\""
    );
    assert!(settings.set(OptionId::Info, "loud").is_err());
    assert!(settings.set(OptionId::Tournament, "").is_err());
    assert_eq!(settings, Settings::default());
}

#[test]
fn an_unchanged_value_is_no_change() {
    let mut settings = Settings::default();
    assert_eq!(settings.set(OptionId::File, STARTER), Ok(false));
    assert_eq!(settings.set(OptionId::Seed, "7"), Ok(true));
    assert_eq!(settings.set(OptionId::Seed, "7"), Ok(false));
}

#[test]
fn presets_set_and_single_changes_make_custom() {
    let mut settings = Settings::default();
    settings.set(OptionId::Preset, "Handicap").unwrap();
    assert_eq!(settings.options().policy.variety, 100);
    assert!(!settings.options().policy.tournament);
    settings.set(OptionId::Seed, "3").unwrap();
    assert_eq!(settings.options().preset, Preset::Handicap);
    settings.set(OptionId::Variety, "100").unwrap();
    assert_eq!(settings.options().preset, Preset::Handicap);
    settings.set(OptionId::Variety, "99").unwrap();
    assert_eq!(settings.options().preset, Preset::Custom);
    // The announced value removes the user's choice.
    settings.set(OptionId::Variety, "50").unwrap();
    assert_eq!(settings.options().policy.variety, 50);
    settings.set(OptionId::Preset, "Custom").unwrap();
    assert_eq!(settings.options().policy, Policy::default());
}

#[test]
fn settings_in_force_are_reported_where_they_are_not_the_default() {
    let with = |sets: &[(OptionId, &str)]| {
        let mut settings = Settings::default();
        for (id, text) in sets {
            settings.set(*id, text).unwrap();
        }
        settings.options().in_force()
    };
    use OptionId as Id;
    assert_eq!(with(&[]), None);
    assert_eq!(with(&[(Id::Variety, "50"), (Id::Seed, "3")]), None);
    let optimize = "Optimize: variety 15, learn influence 100, tournament true, \
                    annotations true, minimum games 5, minimum score 40, minimum share 50";
    // The value equal to the default is not the one in force.
    let in_force = with(&[(Id::Preset, "Optimize"), (Id::Variety, "50")]);
    assert_eq!(in_force.as_deref(), Some(optimize));
    let in_force = with(&[(Id::Preset, "Normal")]).unwrap();
    assert!(
        in_force.starts_with("Normal: variety 50, learn"),
        "{in_force}"
    );
    let in_force = with(&[(Id::Variety, "30"), (Id::MinimumGames, "2")]);
    assert_eq!(
        in_force.as_deref(),
        Some("Custom: variety 30, minimum games 2")
    );
    // A preset with one changed value.
    let in_force = with(&[(Id::Preset, "Optimize"), (Id::Variety, "30")]).unwrap();
    assert!(
        in_force.starts_with("Custom: variety 30, learn"),
        "{in_force}"
    );
}

/// All options as a GUI sends them: the announced defaults, except what the user chose.
fn complete_list(announced: &Settings, chosen: &[(OptionId, &str)]) -> Vec<(OptionId, String)> {
    let value = |id| {
        let chosen = chosen.iter().find(|(known, _)| *known == id);
        chosen.map_or_else(
            || announced.options().get(id).to_string(),
            |(_, text)| (*text).to_owned(),
        )
    };
    OptionId::ALL.iter().map(|id| (*id, value(*id))).collect()
}

/// Options sorted, reversed, as declared, only the chosen ones, and all of it twice.
fn in_every_order(announced: &Settings, chosen: &[(OptionId, &str)]) -> Vec<Settings> {
    let declared = complete_list(announced, chosen);
    let mut sorted = declared.clone();
    sorted.sort_by_key(|(id, _)| id.spec().name);
    let reversed: Vec<_> = sorted.iter().rev().cloned().collect();
    let mut only: Vec<_> = chosen
        .iter()
        .map(|(id, text)| (*id, (*text).to_owned()))
        .collect();
    let forward = only.clone();
    only.reverse();
    let twice = [sorted.clone(), reversed.clone()].concat();
    [declared, sorted, reversed, twice, forward, only]
        .into_iter()
        .map(|list| {
            let mut settings = announced.announced();
            for (id, text) in list {
                settings.set(id, &text).unwrap();
            }
            settings
        })
        .collect()
}

#[test]
fn a_preset_holds_whatever_the_order_of_the_options() {
    let plain = Settings::default();
    let mut configured = Settings::default();
    configured.choose(OptionId::Preset, "Handicap").unwrap();
    configured.choose(OptionId::MinimumGames, "7").unwrap();
    for announced in [plain, configured.announced()] {
        for (chosen, preset, variety, games) in [
            (&[(OptionId::Preset, "Optimize")][..], "Optimize", 15, 5),
            (&[(OptionId::Preset, "Normal")], "Normal", 50, 1),
            (
                &[(OptionId::Preset, "Optimize"), (OptionId::Variety, "30")],
                "Custom",
                30,
                5,
            ),
            (
                &[
                    (OptionId::Preset, "Optimize"),
                    (OptionId::MinimumGames, "9"),
                ],
                "Custom",
                15,
                9,
            ),
        ] {
            for settings in in_every_order(&announced, chosen) {
                assert_eq!(settings.options().preset.word(), preset, "{chosen:?}");
                assert_eq!(settings.options().policy.variety, variety, "{chosen:?}");
                assert_eq!(settings.options().policy.minimum_games, games, "{chosen:?}");
            }
        }
        // Options without changes choose nothing.
        for settings in in_every_order(&announced, &[]) {
            assert_eq!(settings, announced.announced());
        }
    }
}

#[test]
fn what_is_written_by_hand_counts_even_where_it_is_the_default() {
    for order in [[0, 1], [1, 0]] {
        let mut settings = Settings::default();
        for index in order {
            let (id, text) = [(OptionId::Preset, "Optimize"), (OptionId::Variety, "50")][index];
            settings.choose(id, text).unwrap();
        }
        assert_eq!(settings.options().policy.variety, 50);
        assert_eq!(settings.options().policy.minimum_games, 5);
        assert_eq!(settings.options().preset, Preset::Custom);
    }
}

#[test]
fn every_option_has_a_key_in_the_configuration() {
    for id in OptionId::ALL {
        let Spec { name, key, .. } = id.spec();
        // As users find it from the name.
        let of_name = name.to_lowercase().replace([' ', '-'], "_");
        assert_eq!(
            key,
            match *id {
                OptionId::OwnBook => "own_book",
                _ => of_name.strip_prefix("book_").unwrap_or(&of_name),
            }
        );
        assert_eq!(OptionId::by_key(key), Some(*id));
        assert_eq!(OptionId::by_key(&of_name), Some(*id));
        assert_eq!(OptionId::by_name(&name.to_ascii_uppercase()), Some(*id));
    }
    assert_eq!(OptionId::by_key("file"), Some(OptionId::File));
    assert_eq!(
        OptionId::by_key("minimum_games"),
        Some(OptionId::MinimumGames)
    );
    assert_eq!(
        OptionId::by_key("engine_stand_in"),
        Some(OptionId::EngineStandIn)
    );
    assert_eq!(OptionId::by_key("varity"), None);
}

#[test]
fn without_options_the_rules_are_the_default() {
    assert_eq!(Options::default().rules(), Rules::default());
}

#[test]
fn what_an_option_prints_it_reads() {
    let presets = [Preset::Optimize, Preset::Normal, Preset::Handicap];
    let presets = presets.into_iter().flat_map(Setting::of_preset);
    let values = OptionId::ALL.iter().flat_map(|id| id.sample_values());
    for setting in values.chain(presets) {
        let (id, text) = (setting.id(), setting.to_string());
        assert_eq!(Setting::read(id, &text), Ok(setting), "{id:?} {text}");
    }
}

#[test]
fn an_option_that_decides_is_in_the_rules_and_no_other() {
    let usual = Options::default();
    for id in OptionId::ALL.iter().filter(|id| **id != OptionId::Preset) {
        let acts = |setting: Setting| usual.with(&[setting]).rules() != usual.rules();
        let acts = id.sample_values().into_iter().any(acts);
        assert_eq!(acts, id.topic().is_some(), "{id:?}");
    }
}

#[test]
fn the_last_value_of_an_option_counts_and_presets_only_set_the_others() {
    let usual = Options::default();
    let handicap = Setting::Preset(Preset::Handicap);
    let with = usual.with(&[Setting::Variety(1), handicap.clone(), Setting::Variety(30)]);
    assert_eq!((with.policy.variety, with.preset), (30, Preset::Custom));
    assert_eq!(with.policy.minimum_share, 0);
    let with = usual.with(&[Setting::Variety(1), handicap, Setting::Variety(100)]);
    assert_eq!((with.policy.variety, with.preset), (100, Preset::Handicap));
}
