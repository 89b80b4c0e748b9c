//! What the compiler says, in one line.

use std::fmt::Display;

/// The most that is quoted of a message.
const MOST: usize = 800;

/// A message of the compiler, which draws the line that it is about, as `file:line:column: what`.
pub(super) fn told(error: &impl Display) -> String {
    let message = format!("{error:#}");
    let text = match (message.split_once("--> "), message.split_once("error: ")) {
        (Some((_, place)), Some((_, what))) => {
            format!("{}: {}", place.lines().next().unwrap_or_default().trim(), one_line(what))
        }
        _ => one_line(&message),
    };
    text.chars().take(MOST).collect()
}

fn one_line(text: &str) -> String {
    let is_drawing = |line: &&str| !line.is_empty() && !line.chars().all(|c| matches!(c, '|' | '^' | ' '));
    text.lines().map(str::trim).filter(is_drawing).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_is_left_out_and_the_place_comes_first() {
        let drawn = "\n--> /p/a.rego:3:1\n  |\n3 | allow := false\n  | ^\nerror: rule conflicts with\nrule at /p/a.rego:2:1";
        let told = told(&drawn);
        assert_eq!(told, "/p/a.rego:3:1: rule conflicts with rule at /p/a.rego:2:1");
    }

    #[test]
    fn other_messages_are_told_as_they_are() {
        assert_eq!(told(&"not a valid\nrule path"), "not a valid rule path");
    }
}
