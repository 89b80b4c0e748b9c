//! Going through a tree to change it in place, in reading order.

use crate::tree::{
    Argument, Arithmetic, Assigned, Assignment, Command, Condition, Expansion, Item, Kind, List, Operation,
    Parameter, Part, Pipeline, Simple, Subscript, Token, Word,
};

/// Changes a tree. Each method is given a part before the parts inside it are gone through.
pub trait Change {
    /// A command of whatever kind.
    fn command(&mut self, _: &mut Command) {}
    /// An expression between double parentheses. Those in brackets stay as they are: bash reads more there than it expands.
    fn arithmetic(&mut self, _: &mut Arithmetic) {}
    /// A word whose value `[[ … ]]` evaluates.
    fn counted(&mut self, _: &mut Word) {}
}

/// Changes everything in a list.
pub fn change(list: &mut List, by: &mut impl Change) {
    for Item { and_or, .. } in list {
        change_pipeline(&mut and_or.first, by);
        for (_, pipeline) in &mut and_or.rest {
            change_pipeline(pipeline, by);
        }
    }
}

fn change_pipeline(Pipeline { first, rest, .. }: &mut Pipeline, by: &mut impl Change) {
    command(first, by);
    for (_, one) in rest {
        command(one, by);
    }
}

fn command(one: &mut Command, by: &mut impl Change) {
    by.command(one);
    for redirection in &mut one.redirections {
        word(&mut redirection.target, by);
    }
    match &mut one.kind {
        Kind::Simple(Simple { assignments, words }) => {
            for one in assignments {
                assignment(one, by);
            }
            for argument in words {
                match argument {
                    Argument::Word(one) => word(one, by),
                    Argument::Assignment(one) => assignment(one, by),
                }
            }
        }
        Kind::Group(list) | Kind::Subshell(list) => change(list, by),
        Kind::If(branches, otherwise) => {
            for (condition, body) in branches {
                change(condition, by);
                change(body, by);
            }
            if let Some(list) = otherwise {
                change(list, by);
            }
        }
        Kind::While(_, condition, body) => {
            change(condition, by);
            change(body, by);
        }
        Kind::For(_, words, body) => {
            words.iter_mut().flatten().for_each(|one| word(one, by));
            change(body, by);
        }
        Kind::Count(expressions, body) => {
            for one in expressions {
                arithmetic(one, by);
            }
            change(body, by);
        }
        Kind::Case(subject, arms) => {
            word(subject, by);
            for arm in arms {
                for one in &mut arm.patterns {
                    word(one, by);
                }
                change(&mut arm.body, by);
            }
        }
        Kind::Test(one) => condition(one, by),
        Kind::Arithmetic(one) => arithmetic(one, by),
        Kind::Function(_, body) | Kind::Coprocess(_, body) => command(body, by),
    }
}

fn assignment(one: &mut Assignment, by: &mut impl Change) {
    if let Some(one) = &mut one.subscript {
        subscript(one, by);
    }
    match &mut one.value {
        Assigned::Word(value) => word(value, by),
        Assigned::Array(words) => words.iter_mut().for_each(|one| word(one, by)),
    }
}

fn condition(one: &mut Condition, by: &mut impl Change) {
    match one {
        Condition::Word(one) | Condition::Unary(_, one) => word(one, by),
        Condition::Binary(first, sign, second) => {
            if matches!(sign.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
                by.counted(first);
                by.counted(second);
            }
            word(first, by);
            word(second, by);
        }
        Condition::Not(inner) | Condition::Group(inner) => condition(inner, by),
        Condition::And(first, second) | Condition::Or(first, second) => {
            condition(first, by);
            condition(second, by);
        }
    }
}

fn word(one: &mut Word, by: &mut impl Change) {
    for one in &mut one.parts {
        part(one, by);
    }
}

fn part(one: &mut Part, by: &mut impl Change) {
    match one {
        Part::Literal(_) | Part::Bare(_) | Part::Dollar => {}
        Part::Process(_, list) => change(list, by),
        Part::Expansion { expansion: one, .. } => expansion(one, by),
    }
}

fn expansion(one: &mut Expansion, by: &mut impl Change) {
    match one {
        Expansion::Output(list) => change(list, by),
        Expansion::Arithmetic(one) => arithmetic(one, by),
        Expansion::Keys(..) | Expansion::Names(..) => {}
        Expansion::Length(one) => parameter(one, by),
        Expansion::Parameter(one, operation) => {
            parameter(one, by);
            match operation {
                Some(Operation::Operand(_, parts)) => parts.iter_mut().for_each(|one| part(one, by)),
                Some(Operation::Slice(one)) => subscript(one, by),
                Some(Operation::Transform(_)) | None => {}
            }
        }
    }
}

fn parameter(one: &mut Parameter, by: &mut impl Change) {
    if let Some(Subscript::One(one)) = &mut one.subscript {
        subscript(one, by);
    }
}

fn arithmetic(one: &mut Arithmetic, by: &mut impl Change) {
    by.arithmetic(one);
    subscript(one, by);
}

fn subscript(one: &mut Arithmetic, by: &mut impl Change) {
    for (_, token) in &mut one.tokens {
        if let Token::Expansion(one) = token {
            expansion(one, by);
        }
    }
}
