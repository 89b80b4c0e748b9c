//! Which kinds of nodes the grammar of the tests makes that are read.

use std::collections::BTreeMap;

use runward_script::{
    AndOr, Argument, Arithmetic, Assigned, Assignment, Command, Condition, Expansion, Kind, List, Operation,
    Parameter, Part, Pipe, Pipeline, Redirection, Simple, Subscript, Timed, Token, Word, read,
};
use runward_testkit::{Calm, Dice, Grammar};

/// How often each kind of node was met.
#[derive(Default)]
pub(crate) struct Kinds(BTreeMap<String, usize>);

/// Every kind that there is. What is new in the tree has to be written here too: see the matches below, which are whole.
const ALL: &str = include_str!("kinds.txt");

impl Kinds {
    fn met(&mut self, kind: impl Into<String>) {
        *self.0.entry(kind.into()).or_default() += 1;
    }

    pub(crate) fn list(&mut self, list: &List) {
        for item in list {
            self.met(if item.background { "item &" } else { "item" });
            self.and_or(&item.and_or);
        }
    }

    fn and_or(&mut self, AndOr { first, rest }: &AndOr) {
        self.pipeline(first);
        for (connector, pipeline) in rest {
            self.met(format!("connector {connector:?}"));
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, Pipeline { timed, negated, first, rest }: &Pipeline) {
        match timed {
            None => {}
            Some(Timed::Usual) => self.met("time"),
            Some(Timed::Posix) => self.met("time -p"),
        }
        if *negated {
            self.met("!");
        }
        self.command(first);
        for (pipe, command) in rest {
            self.met(match pipe {
                Pipe::Output => "pipe |",
                Pipe::Both => "pipe |&",
            });
            self.command(command);
        }
    }

    fn command(&mut self, Command { line: _, kind, redirections }: &Command) {
        self.kind(kind);
        let compound = !matches!(kind, Kind::Simple(_));
        for Redirection { descriptor, operator, target } in redirections {
            self.met(format!("redirection {operator}"));
            if descriptor.is_some() {
                self.met("redirection with a descriptor");
            }
            if compound {
                self.met("redirection of a compound command");
            }
            self.word(target);
        }
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Simple(simple) => self.simple(simple),
            Kind::Group(list) => self.named("group", list),
            Kind::Subshell(list) => self.named("subshell", list),
            Kind::If(branches, otherwise) => {
                self.met(if branches.len() > 1 { "if with elif" } else { "if" });
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                if let Some(list) = otherwise {
                    self.named("else", list);
                }
            }
            Kind::While(goes_on, condition, body) => {
                self.met(format!("loop {goes_on:?}"));
                self.list(condition);
                self.list(body);
            }
            Kind::For(_, words, body) => {
                self.met(if words.is_some() { "for in" } else { "for" });
                words.iter().flatten().for_each(|word| self.word(word));
                self.list(body);
            }
            Kind::Count(expressions, body) => {
                self.met("for ((");
                for expression in expressions {
                    self.arithmetic(expression);
                }
                self.list(body);
            }
            Kind::Case(subject, arms) => {
                self.met("case");
                self.word(subject);
                for arm in arms {
                    self.met(format!("case {:?}", arm.end));
                    arm.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.list(&arm.body);
                }
            }
            Kind::Test(condition) => self.condition(condition),
            Kind::Arithmetic(expression) => {
                self.met("((");
                self.arithmetic(expression);
            }
            Kind::Function(_, body) => {
                self.met("function");
                self.command(body);
            }
            Kind::Coprocess(name, body) => {
                self.met(if name.is_some() { "coproc with a name" } else { "coproc" });
                self.command(body);
            }
        }
    }

    fn simple(&mut self, Simple { assignments, words }: &Simple) {
        self.met("simple");
        for assignment in assignments {
            self.assignment(assignment);
        }
        for word in words {
            match word {
                Argument::Word(word) => self.word(word),
                Argument::Assignment(assignment) => {
                    self.met("assignment as an argument");
                    self.assignment(assignment);
                }
            }
        }
    }

    fn named(&mut self, kind: &str, list: &List) {
        self.met(kind);
        self.list(list);
    }

    fn assignment(&mut self, Assignment { name: _, subscript, appends, value }: &Assignment) {
        if let Some(subscript) = subscript {
            self.met("assignment to an element");
            self.arithmetic(subscript);
        }
        if *appends {
            self.met("assignment +=");
        }
        match value {
            Assigned::Word(word) => {
                self.met("assignment");
                self.word(word);
            }
            Assigned::Array(words) => {
                self.met("array");
                for word in words {
                    self.word(word);
                }
            }
        }
    }

    fn word(&mut self, word: &Word) {
        word.parts.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Literal(text) => {
                self.met("literal");
                if !text.is_ascii() {
                    self.met("literal beyond ASCII");
                }
            }
            Part::Bare(text) => {
                self.met("bare");
                for sign in ['*', '?', '[', '{', '~'].into_iter().filter(|sign| text.contains(*sign)) {
                    self.met(format!("bare {sign}"));
                }
            }
            Part::Dollar => self.met("dollar"),
            Part::Expansion { expansion, quoted } => {
                self.met(if *quoted { "expansion in quotes" } else { "expansion" });
                self.expansion(expansion);
            }
            Part::Process(direction, list) => self.named(&format!("process {direction:?}"), list),
        }
    }

    fn expansion(&mut self, expansion: &Expansion) {
        match expansion {
            Expansion::Parameter(parameter, operation) => {
                self.met("parameter");
                self.parameter(parameter);
                match operation {
                    None => {}
                    Some(Operation::Operand(sign, parts)) => {
                        self.met(format!("operation {sign}"));
                        for part in parts {
                            self.part(part);
                        }
                    }
                    Some(Operation::Slice(expression)) => {
                        self.met("slice");
                        self.arithmetic(expression);
                    }
                    Some(Operation::Transform(letter)) => self.met(format!("transform {letter}")),
                }
            }
            Expansion::Length(parameter) => {
                self.met("length");
                self.parameter(parameter);
            }
            Expansion::Keys(_, sign) => self.met(format!("keys {sign}")),
            Expansion::Names(_, sign) => self.met(format!("names {sign}")),
            Expansion::Output(list) => self.named("output", list),
            Expansion::Arithmetic(expression) => {
                self.met("$((");
                self.arithmetic(expression);
            }
        }
    }

    fn parameter(&mut self, Parameter { name, subscript }: &Parameter) {
        if !runward_script::is_identifier(name) {
            self.met("special parameter");
        }
        match subscript {
            None => {}
            Some(Subscript::All(sign)) => self.met(format!("subscript {sign}")),
            Some(Subscript::One(expression)) => {
                self.met("subscript");
                self.arithmetic(expression);
            }
        }
    }

    fn arithmetic(&mut self, Arithmetic { tokens }: &Arithmetic) {
        for (_, token) in tokens {
            match token {
                Token::Number(_) => self.met("token number"),
                Token::Name(_) => self.met("token name"),
                Token::Expansion(expansion) => {
                    self.met("token expansion");
                    self.expansion(expansion);
                }
                Token::Operator(sign) => self.met(format!("token {sign}")),
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Word(word) => {
                self.met("test");
                self.word(word);
            }
            Condition::Unary(sign, word) => {
                self.met(format!("test {sign}"));
                self.word(word);
            }
            Condition::Binary(first, sign, second) => {
                self.met(format!("test {sign}"));
                self.word(first);
                self.word(second);
            }
            Condition::Not(inner) => {
                self.met("test !");
                self.condition(inner);
            }
            Condition::Group(inner) => {
                self.met("test (");
                self.condition(inner);
            }
            Condition::And(first, second) | Condition::Or(first, second) => {
                self.met(if matches!(condition, Condition::And(..)) { "test &&" } else { "test ||" });
                self.condition(first);
                self.condition(second);
            }
        }
    }
}

#[test]
fn every_kind_of_node_is_made_by_the_grammar_and_read() {
    let mut dice = Dice::new(1);
    let mut kinds = Kinds::default();
    let mut count = 0;
    for _ in 0..60_000 {
        let Ok(script) = read(&Grammar::bash().script(&mut dice, Calm::No)) else { continue };
        kinds.list(&script.list);
        count += 1;
    }
    assert!(count > 15_000, "only {count} scripts were read");
    let rare: Vec<&str> =
        ALL.lines().filter(|kind| kinds.0.get(*kind).is_none_or(|times| *times < 3)).collect();
    assert_eq!(rare, Vec::<&str>::new(), "never or hardly ever made");
    let new: Vec<_> = kinds.0.keys().filter(|kind| !ALL.lines().any(|known| known == *kind)).collect();
    assert_eq!(new, Vec::<&String>::new(), "write them into kinds.txt");
}
