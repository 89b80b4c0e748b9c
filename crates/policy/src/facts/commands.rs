//! Commands: what each of them runs and sets.

use runward_script::{
    Argument, Arithmetic, Assigned, Assignment, Command, Condition, Kind, List, Redirection, Simple,
    Word as TreeWord, is_identifier,
};

use super::Fact;
use super::draft;
use super::known::Difference;
use super::numbers::{FRONT, Numeric, are_numbers};
use super::settle::{Trap, read_handler, trap};
use super::walk::{Walked, Walker};
use super::word::Word;
use crate::builtin_rules::{Change, effects};
use crate::variables::is_never_a_number;

/// Builtins that are given assignments.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl Walker<'_> {
    pub(super) fn command(&mut self, Command { line, kind, redirections }: &Command) -> Walked {
        self.line = self.line.max(line.0);
        if let Kind::Simple(simple) = kind {
            return self.simple(simple, redirections);
        }
        if redirections.is_empty() {
            return self.compound(kind);
        }
        // A redirection may fail, and then nothing of it runs.
        self.perhaps(|this| {
            this.redirections(redirections)?;
            this.compound(kind)
        })
    }

    fn compound(&mut self, kind: &Kind) -> Walked {
        match kind {
            Kind::Simple(simple) => self.simple(simple, &[]),
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => self.apart(|this| this.list(list)),
            Kind::If(branches, otherwise) => self.branches(branches, otherwise.as_ref()),
            Kind::While(_, condition, body) => {
                self.forget_texts_of(&[condition, body])?;
                self.perhaps(|this| {
                    this.list(condition)?;
                    this.list(body)
                })
            }
            Kind::For(name, words, body) => self.for_each(name, words.as_deref(), body),
            Kind::Count(expressions, body) => self.for_count(expressions, body),
            Kind::Case(word, arms) => {
                self.word(word)?;
                self.perhaps(|this| {
                    for arm in arms {
                        this.perhaps(|this| {
                            arm.patterns.iter().try_for_each(|pattern| this.word(pattern))?;
                            this.list(&arm.body)
                        })?;
                    }
                    Ok(())
                })
            }
            Kind::Test(condition) => self.perhaps(|this| this.condition(condition)),
            Kind::Arithmetic(expression) => self.arithmetic(expression),
            Kind::Function(name, body) => self.function(name, body),
            Kind::Coprocess(name, command) => {
                let walked = self.apart(|this| this.command(command));
                let name = name.as_deref().unwrap_or("COPROC");
                self.arrays.insert(name.to_owned());
                for name in [name.to_owned(), format!("{name}_PID")] {
                    self.lose(&name);
                    self.facts.push(Fact::Assigned(name, None));
                }
                walked
            }
        }
    }

    fn for_each(&mut self, name: &str, words: Option<&[TreeWord]>, body: &List) -> Walked {
        for word in words.unwrap_or_default() {
            self.word(word)?;
        }
        let numbers = words.is_some_and(|words| words.iter().all(are_numbers));
        self.assigned(name, None)?;
        self.forget_texts_of(&[body])?;
        self.perhaps(|this| {
            if numbers {
                this.gain(name);
            } else {
                this.lose(name);
            }
            this.list(body)
        })
    }

    fn for_count(&mut self, [first, condition, step]: &[Arithmetic; 3], body: &List) -> Walked {
        self.arithmetic(first)?;
        self.forget_texts_of(&[body])?;
        self.perhaps(|this| {
            this.arithmetic(condition)?;
            this.list(body)?;
            this.arithmetic(step)
        })
    }

    fn function(&mut self, name: &str, body: &Command) -> Walked {
        self.facts.push(Fact::Function(name.to_owned()));
        self.apart(|this| {
            // It runs whenever it is called.
            this.forget_texts();
            let outside = std::mem::replace(&mut this.in_function, true);
            let walked = this.command(body);
            this.in_function = outside;
            walked
        })
    }

    /// What every branch gains is gained, what any of them loses is lost.
    fn branches(&mut self, branches: &[(List, List)], otherwise: Option<&List>) -> Walked {
        let mut ways = Vec::new();
        for (at, (condition, body)) in branches.iter().enumerate() {
            // Only the first condition certainly runs.
            if at == 0 {
                self.list(condition)?;
            } else {
                self.perhaps(|this| this.list(condition))?;
            }
            ways.push(self.way(body)?);
        }
        ways.push(otherwise.map_or(Ok(Difference::default()), |body| self.way(body))?);
        ways.iter().flat_map(|way| &way.lost).for_each(|name| self.known.lose(name));
        let Some((first, others)) = ways.split_first() else { return Ok(()) };
        let everywhere = |name: &&String| others.iter().all(|way| way.gained.contains(*name));
        first.gained.iter().filter(everywhere).for_each(|name| self.gain(name));
        Ok(())
    }

    /// What one way through the script does to variables.
    fn way(&mut self, list: &List) -> Result<Difference, String> {
        let mark = self.known.mark();
        self.list(list)?;
        let difference = self.known.since(mark);
        self.known.roll_back(mark);
        Ok(difference)
    }

    fn condition(&mut self, condition: &Condition) -> Walked {
        match condition {
            Condition::Word(word) => self.word(word),
            Condition::Unary(sign, word) => {
                let named = || draft::known(word).text().is_some_and(is_identifier);
                if matches!(sign.as_str(), "-v" | "-R") && !named() {
                    return Err(format!("what \"{sign}\" tests is not a plain name"));
                }
                self.word(word)
            }
            Condition::Binary(first, sign, second) => {
                self.word(first)?;
                self.word(second)?;
                if matches!(sign.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
                    self.counted(first);
                    self.counted(second);
                }
                Ok(())
            }
            Condition::Not(inner) | Condition::Group(inner) => self.condition(inner),
            Condition::And(first, second) | Condition::Or(first, second) => {
                self.condition(first)?;
                self.condition(second)
            }
        }
    }

    fn redirections(&mut self, redirections: &[Redirection]) -> Walked {
        self.perhaps(|this| redirections.iter().try_for_each(|redirection| this.word(&redirection.target)))
    }

    fn simple(&mut self, Simple { assignments, words }: &Simple, redirections: &[Redirection]) -> Walked {
        if words.is_empty() && redirections.is_empty() {
            return assignments.iter().try_for_each(|assignment| self.assignment(assignment).map(|_| ()));
        }
        let slot = self.facts.len();
        let mut known = Vec::with_capacity(words.len());
        let mut declared = Vec::new();
        for word in words {
            known.push(match word {
                Argument::Word(word) => {
                    self.word(word)?;
                    draft::known(word).with_number(self.is_number(word))
                }
                Argument::Assignment(assignment) => {
                    let value = self.perhaps_assigned(assignment)?;
                    declared.push((assignment, value));
                    draft::declared(assignment).with_text(self.stays_text(words, assignment))
                }
            });
        }
        self.redirections(redirections)?;
        for assignment in assignments {
            self.perhaps_assigned(assignment)?;
            if assignment.name == "IFS" && known.first().is_some_and(|word| word.raw == "read") {
                // How `read` splits what it reads is nobody else's business. An assignment is noted last.
                self.facts.pop();
            }
        }
        self.handler(&known)?;
        if !known.is_empty() {
            self.effects(&known, &declared);
            let gains = assignments.is_empty() && redirections.is_empty() && self.declares(&known);
            for (assignment, value) in declared {
                let whole = assignment.subscript.is_none() && !assignment.appends;
                if gains && whole && value == Numeric::Sure {
                    self.gain(&assignment.name);
                }
            }
            // Bash reads descriptor 0 where no other is named.
            let is_input = |one: &&Redirection| one.operator == "<<<";
            for text in redirections.iter().filter(is_input) {
                self.facts.push(Fact::Input(known.clone(), draft::known(&text.target)));
            }
            self.facts.insert(slot, Fact::Command(known));
        }
        Ok(())
    }

    /// What `trap` makes bash run whenever a signal comes, with variables that hold whatever they hold by then.
    fn handler(&mut self, words: &[Word]) -> Walked {
        let texts: Vec<Option<&str>> = words.iter().map(Word::text).collect();
        let shown = |at: usize| words.get(at).map(|word| word.raw.clone()).unwrap_or_default();
        let Some(found) = trap(&texts, shown) else { return Ok(()) };
        let Trap::Handler { text, at_exit, .. } = found? else { return Ok(()) };
        let list = read_handler(text)?;
        self.interrupted |= !at_exit;
        let (line, in_function) = (self.line, std::mem::take(&mut self.in_function));
        let may_fail = self.may_fail;
        let walked = self.apart(|this| {
            this.known.lose_all();
            this.list(&list)
        });
        (self.line, self.in_function, self.may_fail) = (line, in_function, may_fail);
        walked
    }

    /// Whether bash takes the value of this assignment as it is: it makes a variable of a function's own, and the script
    /// makes no array of that name, whose elements a value in parentheses would be.
    fn stays_text(
        &self,
        words: &[Argument],
        Assignment { name, subscript, appends, value }: &Assignment,
    ) -> bool {
        let local = matches!(words.first(), Some(Argument::Word(word)) if word.raw == "local");
        let plain = subscript.is_none() && !appends && matches!(value, Assigned::Word(_));
        let array = self.whole.is_none_or(|whole| whole.arrays.contains(name));
        local && plain && !array && self.in_function && !is_never_a_number(name)
    }

    /// An assignment that may not take place, or for one command only.
    fn perhaps_assigned(&mut self, assignment: &Assignment) -> Result<Numeric, String> {
        let mark = self.known.mark();
        let value = self.assignment(assignment);
        self.known.drop_gains(mark);
        value
    }

    fn assignment(&mut self, assignment: &Assignment) -> Result<Numeric, String> {
        let Assignment { name, subscript, appends, value } = assignment;
        if let Some(subscript) = subscript {
            self.arrays.insert(name.clone());
            self.may_fail = true;
            self.perhaps(|this| this.arithmetic(subscript))?;
        }
        let given = match value {
            Assigned::Word(word) if !appends => Some(draft::known(word)),
            _ => None,
        };
        let value = match value {
            Assigned::Word(word) => {
                self.word(word)?;
                self.numeric(word)
            }
            Assigned::Array(words) => {
                self.arrays.insert(name.clone());
                words.iter().try_for_each(|word| self.word(word))?;
                Numeric::Text
            }
        };
        self.may_fail |= self.is_read_only(name);
        self.assigned(name, given.as_ref().and_then(Word::text))?;
        match value {
            Numeric::Sure if subscript.is_none() && !appends => self.gain(name),
            Numeric::Text => self.lose(name),
            _ if *appends => self.lose(name),
            _ => {}
        }
        Ok(value)
    }

    /// Whether these words only declare: then each assignment among them takes place.
    fn declares(&self, words: &[Word]) -> bool {
        let Some((first, args)) = words.split_first() else { return false };
        let plain = first.text().is_some_and(|name| DECLARING.contains(&name) && name == first.raw);
        let local_outside = first.text() == Some("local") && !self.in_function;
        let option = |arg: &Word| matches!(arg.text(), Some("-r" | "-x"));
        let name = |arg: &Word| is_identifier(arg.prefix().split(['=', '+']).next().unwrap_or_default());
        plain && !local_outside && args.iter().all(|arg| option(arg) || name(arg))
    }

    /// What a command may do to variables.
    fn effects(&mut self, words: &[Word], declared: &[(&Assignment, Numeric)]) {
        let name = words.first().and_then(Word::text);
        if self.whole.is_some_and(|whole| name.is_none_or(|name| whole.functions.contains(name))) {
            self.may_fail = true;
            self.forget_texts();
        }
        // A word near the front may be the command of a wrapper; what it would set is noted wherever it stands.
        for (at, word) in words.iter().enumerate().take(FRONT) {
            let Ok(found) = effects(word, words.get(at + 1..).unwrap_or_default()) else { continue };
            for (name, change) in found.assigned {
                let numeric =
                    |(one, value): &(&Assignment, Numeric)| one.name == name && *value != Numeric::Text;
                if change == Change::Text && !(at == 0 && declared.iter().any(numeric)) {
                    self.lose(&name);
                }
            }
        }
    }
}
