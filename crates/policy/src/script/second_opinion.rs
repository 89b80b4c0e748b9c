//! The second reader: a complete bash grammar, asked to confirm what the first one found.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, Pipeline,
    SimpleCommand,
};
use brush_parser::{Parser, ParserOptions};

/// Whether the grammar finds exactly these commands, each with exactly these words.
pub(super) fn agrees(script: &str, commands: &[Vec<String>]) -> Result<(), String> {
    let found = std::panic::catch_unwind(|| commands_of(script))
        .map_err(|_| "it is outside the grammar".to_owned())??;
    let ours = commands.iter().map(|words| words.iter().map(|word| squeezed(word)).collect::<Vec<_>>());
    if ours.eq(found) { Ok(()) } else { Err("two readings of it differ; write it more plainly".into()) }
}

fn commands_of(script: &str) -> Result<Vec<Vec<String>>, String> {
    // Bash leaves extended patterns off unless a script switches them on, which is refused.
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let program =
        Parser::new(script.as_bytes(), &options).parse_program().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    program.complete_commands.iter().for_each(|list| walk_list(list, &mut found));
    Ok(found)
}

/// Blanks and continuations inside a word are kept differently by the two readers and separate nothing.
fn squeezed(word: &str) -> String {
    word.replace("\\\n", "").chars().filter(|c| !c.is_whitespace()).collect()
}

type Found = Vec<Vec<String>>;

fn walk_list(list: &CompoundList, found: &mut Found) {
    list.0.iter().for_each(|item| walk_and_or(&item.0, found));
}

fn walk_and_or(list: &AndOrList, found: &mut Found) {
    walk_pipeline(&list.first, found);
    for AndOr::And(pipeline) | AndOr::Or(pipeline) in &list.additional {
        walk_pipeline(pipeline, found);
    }
}

fn walk_pipeline(pipeline: &Pipeline, found: &mut Found) {
    pipeline.seq.iter().for_each(|command| walk_command(command, found));
}

fn walk_command(command: &Command, found: &mut Found) {
    match command {
        Command::Simple(simple) => walk_simple(simple, found),
        Command::Compound(compound, _) => walk_compound(compound, found),
        Command::Function(function) => walk_compound(&function.body.0, found),
        Command::ExtendedTest(..) => {}
    }
}

fn walk_compound(compound: &CompoundCommand, found: &mut Found) {
    match compound {
        CompoundCommand::Arithmetic(_) => {}
        CompoundCommand::ArithmeticForClause(clause) => walk_list(&clause.body.list, found),
        CompoundCommand::BraceGroup(group) => walk_list(&group.list, found),
        CompoundCommand::Subshell(subshell) => walk_list(&subshell.list, found),
        CompoundCommand::ForClause(clause) => walk_list(&clause.body.list, found),
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|list| walk_list(list, found));
        }
        CompoundCommand::IfClause(clause) => {
            walk_list(&clause.condition, found);
            walk_list(&clause.then, found);
            for branch in clause.elses.iter().flatten() {
                branch.condition.iter().for_each(|list| walk_list(list, found));
                walk_list(&branch.body, found);
            }
        }
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
            walk_list(&clause.0, found);
            walk_list(&clause.1.list, found);
        }
        CompoundCommand::Coprocess(coprocess) => walk_command(&coprocess.body, found),
    }
}

fn walk_simple(simple: &SimpleCommand, found: &mut Found) {
    let Some(name) = &simple.word_or_name else { return };
    let mut words = vec![squeezed(&name.value)];
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.push(squeezed(&word.value));
            }
            // Stand-ins have taken the place of every substitution; one that is left shows up as a difference.
            CommandPrefixOrSuffixItem::ProcessSubstitution(..) => words.push("<()".into()),
            CommandPrefixOrSuffixItem::IoRedirect(_) => {}
        }
    }
    found.push(words);
}
