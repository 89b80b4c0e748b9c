//! Commands.

use super::{Dialect, Writer, Written};
use crate::tree::{
    AndOr, Argument, Arm, ArmEnd, Assigned, Assignment, Command, Condition, Connector, Kind, List, Loop,
    Part, Pipe, Pipeline, Redirection, Simple, Timed, Word,
};

impl Writer {
    pub(super) fn and_or(&mut self, and_or: &AndOr) -> Written {
        self.pipeline(&and_or.first)?;
        for (connector, pipeline) in &and_or.rest {
            self.push(match connector {
                Connector::And => " && ",
                Connector::Or => " || ",
            });
            self.pipeline(pipeline)?;
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Written {
        // Nothing but a command may follow `!` and `time` on their line.
        self.go_to_line(pipeline.first.line.0);
        match pipeline.timed {
            None => {}
            Some(Timed::Usual) => self.keyword("time ")?,
            Some(Timed::Posix) => self.keyword("time -p ")?,
        }
        if pipeline.negated {
            self.push("! ");
        }
        self.command(&pipeline.first)?;
        for (pipe, command) in &pipeline.rest {
            match pipe {
                Pipe::Output => self.push(" | "),
                Pipe::Both => self.keyword(" |& ")?,
            }
            self.command(command)?;
        }
        Ok(())
    }

    /// A word that only bash knows.
    fn keyword(&mut self, keyword: &'static str) -> Written {
        self.only_bash(keyword.trim())?;
        self.push(keyword);
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Written {
        self.go_to_line(command.line.0);
        self.kind(&command.kind)?;
        command.redirections.iter().try_for_each(|redirection| self.redirection(redirection))
    }

    fn kind(&mut self, kind: &Kind) -> Written {
        match kind {
            Kind::Simple(simple) => self.simple(simple),
            Kind::Group(list) => self.between("{ ", list, " }"),
            Kind::Subshell(list) => {
                self.push("( ");
                self.enclosed(list)?;
                self.push(" )");
                Ok(())
            }
            Kind::If(branches, otherwise) => self.branches(branches, otherwise.as_ref()),
            Kind::While(goes_on, condition, body) => {
                self.push(if *goes_on == Loop::While { "while " } else { "until " });
                self.list(condition)?;
                self.body(body)
            }
            Kind::For(name, words, body) => self.for_each(name, words.as_deref(), body),
            Kind::Count([first, condition, step], body) => {
                self.keyword("for ((")?;
                for (expression, end) in [(first, ";"), (condition, ";"), (step, "))")] {
                    self.arithmetic(expression)?;
                    self.push(end);
                }
                self.push(";");
                self.body(body)
            }
            Kind::Case(subject, arms) => self.case(subject, arms),
            Kind::Test(condition) => {
                self.keyword("[[ ")?;
                self.condition(condition)?;
                self.push(" ]]");
                Ok(())
            }
            Kind::Arithmetic(expression) => {
                self.keyword("((")?;
                self.arithmetic(expression)?;
                self.push("))");
                Ok(())
            }
            Kind::Function(name, body) => {
                self.push(name);
                self.push("() ");
                self.command(body)
            }
            Kind::Coprocess(name, body) => {
                self.keyword("coproc ")?;
                if let Some(name) = name {
                    self.push(name);
                    self.push(" ");
                }
                self.command(body)
            }
        }
    }

    fn between(&mut self, open: &str, list: &List, close: &str) -> Written {
        self.push(open);
        self.list(list)?;
        self.push(close);
        Ok(())
    }

    fn body(&mut self, body: &List) -> Written {
        self.between(" do ", body, " done")
    }

    fn branches(&mut self, branches: &[(List, List)], otherwise: Option<&List>) -> Written {
        for (at, (condition, then)) in branches.iter().enumerate() {
            self.between(if at == 0 { "if " } else { " elif " }, condition, " then ")?;
            self.list(then)?;
        }
        if let Some(otherwise) = otherwise {
            self.between(" else ", otherwise, "")?;
        }
        self.push(" fi");
        Ok(())
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &List) -> Written {
        self.push("for ");
        self.push(name);
        if let Some(words) = words {
            self.push(" in");
            self.spaced(words)?;
        }
        self.push(";");
        self.body(body)
    }

    fn spaced(&mut self, words: &[Word]) -> Written {
        words.iter().try_for_each(|word| {
            self.push(" ");
            self.word(word)
        })
    }

    fn case(&mut self, subject: &Word, arms: &[Arm]) -> Written {
        self.push("case ");
        self.word(subject)?;
        self.push(" in");
        for arm in arms {
            for (at, pattern) in arm.patterns.iter().enumerate() {
                self.push(if at == 0 { " (" } else { " | " });
                self.word(pattern)?;
            }
            self.between(") ", &arm.body, "")?;
            match arm.end {
                // A newline may have been written for a here-document; two semicolons end the branch all the same.
                ArmEnd::Break => self.push(" ;;"),
                ArmEnd::FallThrough => self.keyword(" ;&")?,
                ArmEnd::TestNext => self.keyword(" ;;&")?,
            }
        }
        self.push(" esac");
        Ok(())
    }

    fn condition(&mut self, condition: &Condition) -> Written {
        match condition {
            Condition::Word(word) => self.word(word),
            Condition::Unary(operator, word) => {
                self.push(operator);
                self.push(" ");
                self.word(word)
            }
            Condition::Binary(first, operator, second) => {
                self.word(first)?;
                self.push(&format!(" {operator} "));
                if operator == "=~" { self.pattern(second) } else { self.word(second) }
            }
            Condition::Not(inner) => {
                self.push("! ");
                self.condition(inner)
            }
            Condition::Group(inner) => {
                self.push("( ");
                self.condition(inner)?;
                self.push(" )");
                Ok(())
            }
            Condition::And(first, second) | Condition::Or(first, second) => {
                self.condition(first)?;
                self.push(if matches!(condition, Condition::And(..)) { " && " } else { " || " });
                self.condition(second)
            }
        }
    }

    fn simple(&mut self, simple: &Simple) -> Written {
        if hands_on_a_script(simple) {
            // What it is given is text of bash's.
            self.only_bash("trap")?;
        }
        let mut between = "";
        for assignment in &simple.assignments {
            self.push(between);
            self.assignment(assignment)?;
            between = " ";
        }
        for (at, word) in simple.words.iter().enumerate() {
            self.push(between);
            match word {
                Argument::Assignment(assignment) => self.assignment(assignment)?,
                // Bash knows these builtins by their bare names alone.
                Argument::Word(word) if at == 0 && simple.words.first().is_some_and(Argument::declares) => {
                    self.bare_name(word);
                }
                Argument::Word(word) => self.word(word)?,
            }
            between = " ";
        }
        Ok(())
    }

    fn assignment(&mut self, assignment: &Assignment) -> Written {
        self.push(&assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.only_bash("an array")?;
            self.push("[");
            self.arithmetic(subscript)?;
            self.push("]");
        }
        if assignment.appends {
            self.only_bash("+=")?;
        }
        self.push(if assignment.appends { "+=" } else { "=" });
        match &assignment.value {
            Assigned::Word(word) => self.word(word),
            Assigned::Array(words) => {
                self.only_bash("an array")?;
                self.push("(");
                self.spaced(words)?;
                self.push(" )");
                Ok(())
            }
        }
    }

    fn redirection(&mut self, redirection: &Redirection) -> Written {
        let Redirection { descriptor, operator, target } = redirection;
        self.push(" ");
        if let Some(descriptor) = descriptor {
            self.push(&descriptor.to_string());
        }
        match *operator {
            "<<<" if self.dialect == Dialect::Posix => return self.document(target),
            "&>" | "&>>" => self.only_bash("&>")?,
            // A descriptor, or a name that stays as it is: see the reader.
            "<&" | ">&" => {
                self.push(operator);
                self.bare_name(target);
                return Ok(());
            }
            _ => {}
        }
        self.push(operator);
        self.push(" ");
        self.word(target)
    }
}

/// Whether a shell is given a text in here that it reads when a signal comes.
fn hands_on_a_script(Simple { words, .. }: &Simple) -> bool {
    let is_trap = |word: &Argument| {
        matches!(word, Argument::Word(Word { parts, .. })
            if matches!(parts.as_slice(), [Part::Literal(text) | Part::Bare(text)] if text == "trap"))
    };
    words.len() > 2 && words.iter().take(3).any(is_trap)
}
