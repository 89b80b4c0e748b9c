//! The forms in which a command can be typed.

use super::names;

/// The same command in other forms: its options in another order, joined, split, by their long names, and after its
/// words. The first form is the one that was given.
pub(crate) fn of_command(words: &[String]) -> Vec<String> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let is_option = |word: &&String| word.len() > 1 && word.starts_with('-');
    let (options, operands): (Vec<&String>, Vec<&String>) = rest.iter().partition(is_option);
    let operands: Vec<&str> = operands.into_iter().map(String::as_str).collect();
    let given: Vec<String> = options.into_iter().cloned().collect();
    let mut forms = vec![line(&[program], rest)];
    for options in [&given, &split(program, &given), &reversed(program, &given), &renamed(program, &given)] {
        forms.push(line(&[&[program.as_str()], operands.as_slice()].concat(), options));
        if operands.is_empty() {
            forms.push(line(&[program, "x"], options));
            forms.push(format!("{} x", line(&[program], options)));
        }
    }
    let mut known = std::collections::HashSet::new();
    forms.retain(|form| known.insert(form.clone()));
    forms
}

fn line(front: &[&str], back: &[String]) -> String {
    let words: Vec<&str> = front.iter().copied().chain(back.iter().map(String::as_str)).collect();
    words.join(" ")
}

/// `-rf` as `-r -f`.
fn split(program: &str, options: &[String]) -> Vec<String> {
    let letters = |option: &String| -> Vec<String> {
        cluster(program, option).map_or_else(
            || vec![option.clone()],
            |letters| letters.chars().map(|letter| format!("-{letter}")).collect(),
        )
    };
    options.iter().flat_map(letters).collect()
}

/// `-rf` as `-fr`, and the last option first.
fn reversed(program: &str, options: &[String]) -> Vec<String> {
    let turned = |option: &String| {
        cluster(program, option).map_or_else(
            || option.clone(),
            |letters| format!("-{}", letters.chars().rev().collect::<String>()),
        )
    };
    options.iter().rev().map(turned).collect()
}

/// `-rf` as `--recursive --force`, and `--force` as `-f`.
fn renamed(program: &str, options: &[String]) -> Vec<String> {
    let other = |option: String| {
        let letter = option.chars().nth(1).filter(|_| cluster(program, &option).is_some());
        match (letter, option.strip_prefix("--")) {
            (Some(letter), _) => {
                let long = names::of_letter(program, letter).next();
                long.map_or(option, |(name, _)| format!("--{name}"))
            }
            (None, Some(name)) => {
                let letter = names::letters(program, name).chars().next();
                letter.map_or(option, |letter| format!("-{letter}"))
            }
            (None, None) => option,
        }
    };
    split(program, options).into_iter().map(other).collect()
}

/// The letters of an option, where it is made of letters.
fn cluster<'a>(program: &str, option: &'a str) -> Option<&'a str> {
    let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let is_cluster = !names::has_words(program) && letters.chars().all(|c| c.is_ascii_alphabetic());
    is_cluster.then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<String> {
        of_command(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_joined_split_and_renamed() {
        let rm = forms("rm -rf");
        for form in [
            "rm -rf",
            "rm -rf x",
            "rm x -rf",
            "rm -r -f x",
            "rm -fr x",
            "rm x -r -f",
            "rm --recursive --force x",
        ] {
            assert!(rm.contains(&form.to_owned()), "{form} in {rm:?}");
        }
        assert_eq!(forms("git push --force"), ["git push --force", "git push -f"]);
        assert_eq!(forms("find -delete"), ["find -delete", "find x -delete", "find -delete x"]);
        assert_eq!(forms("dd"), ["dd", "dd x"]);
    }
}
