//! What a script says, as a tree. Nothing in it depends on how the text was quoted, spaced or commented.

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What it runs, in order.
    pub list: List,
}

/// Commands one after the other.
pub type List = Vec<Item>;

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it runs.
    pub and_or: AndOr,
    /// Whether it ends in `&`: bash runs it in a process of its own and does not wait.
    pub background: bool,
}

/// Pipelines of which each but the first depends on how the one before it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr {
    /// The one that always runs.
    pub first: Pipeline,
    /// The others.
    pub rest: Vec<(Connector, Pipeline)>,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands whose outputs are each other's inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Whether bash's own `time` measures it.
    pub timed: Option<Timed>,
    /// Whether its result is turned round by `!`.
    pub negated: bool,
    /// The first command.
    pub first: Command,
    /// The others, and what feeds each.
    pub rest: Vec<(Pipe, Command)>,
}

/// How `time` prints what it measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// `time`
    Usual,
    /// `time -p`
    Posix,
}

/// What a command gives to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// `|`: its standard output.
    Output,
    /// `|&`: its standard error too.
    Both,
}

/// One command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it begins.
    pub line: Line,
    /// What it is.
    pub kind: Kind,
    /// Where its descriptors lead.
    pub redirections: Vec<Redirection>,
}

/// The number of a line, from 1. Where a command stands is no part of what it is: all lines are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub usize);

impl PartialEq for Line {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Line {}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program, builtin or function with its arguments, or assignments alone.
    Simple(Simple),
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if`: conditions with what they guard, and what runs if none holds.
    If(Vec<(List, List)>, Option<List>),
    /// `while` and `until`.
    While(Loop, List, List),
    /// `for name in words`; without words it goes through the positional parameters.
    For(String, Option<Vec<Word>>, List),
    /// `for ((first; condition; step))`.
    Count([Arithmetic; 3], List),
    /// `case`.
    Case(Word, Vec<Arm>),
    /// `[[ … ]]`
    Test(Condition),
    /// `(( … ))`
    Arithmetic(Arithmetic),
    /// The definition of a function.
    Function(String, Box<Command>),
    /// `coproc`, with the name of its variable where it has one.
    Coprocess(Option<String>, Box<Command>),
}

/// When a loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// While its condition holds.
    While,
    /// Until its condition holds.
    Until,
}

/// One branch of `case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The patterns that choose it.
    pub patterns: Vec<Word>,
    /// What it runs.
    pub body: List,
    /// What follows.
    pub end: ArmEnd,
}

/// What follows a branch of `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`: the end.
    Break,
    /// `;&`: the next branch, whatever its patterns.
    FallThrough,
    /// `;;&`: the next branch whose pattern fits.
    TestNext,
}

/// Assignments, a command and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Assignments before the command.
    pub assignments: Vec<Assignment>,
    /// The command and its arguments.
    pub words: Vec<Argument>,
}

/// An argument of a command, or the command itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A word that bash expands and splits.
    Word(Word),
    /// An assignment that a declaring builtin (`export`, `declare`, …) is given, which bash does not split.
    Assignment(Assignment),
}

/// `name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Which variable.
    pub name: String,
    /// Which of its elements.
    pub subscript: Option<Arithmetic>,
    /// Whether the value is added to what is there.
    pub appends: bool,
    /// What it is given.
    pub value: Assigned,
}

/// What a variable is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// One value.
    Word(Word),
    /// The elements of an array.
    Array(Vec<Word>),
}

/// Where a descriptor leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The descriptor, where one is written.
    pub descriptor: Option<u16>,
    /// The operator; `<<<` stands for here-documents too, whose last newline it adds.
    pub operator: &'static str,
    /// What it leads to, or the text that is read from it.
    pub target: Word,
}

/// A word: pieces that stand next to each other.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// Its pieces; two pieces of text of one kind never follow each other.
    pub parts: Vec<Part>,
    /// As it was written, for people to read.
    pub raw: String,
}

impl PartialEq for Word {
    /// How a word was written is no part of what it is.
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Word {}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself.
    Literal(String),
    /// Unquoted text, in which patterns, lists in braces and a tilde may have a meaning.
    Bare(String),
    /// A dollar sign that expands nothing.
    Dollar,
    /// What takes the place of `$…`, split into words unless it is quoted.
    Expansion {
        /// What takes its place.
        expansion: Expansion,
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// `<(…)` and `>(…)`: the name of a pipe to other commands.
    Process(Direction, List),
}

/// Which way a process substitution carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<(…)`
    From,
    /// `>(…)`
    To,
}

/// What a dollar sign expands to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// `${name}`, and what is done with its value.
    Parameter(Parameter, Option<Operation>),
    /// `${#name}`
    Length(Parameter),
    /// `${!name[@]}`; the sign is `@` or `*`.
    Keys(String, char),
    /// `${!prefix@}`; the sign is `@` or `*`.
    Names(String, char),
    /// `$(…)`
    Output(List),
    /// `$((…))`
    Arithmetic(Arithmetic),
}

/// A variable, an element of one, or a special parameter such as `@`, `?` and `1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Which of its elements.
    pub subscript: Option<Subscript>,
}

/// Which elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// `[@]` or `[*]`
    All(char),
    /// One.
    One(Arithmetic),
}

/// What is done with a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An operator such as `:-`, `##` or `/`, and what follows it.
    Operand(String, Operand),
    /// `:offset` and `:offset:length`
    Slice(Arithmetic),
    /// `@` and a letter.
    Transform(char),
}

/// What follows an operator inside `${…}`: pieces as in a word, of which unquoted text may hold blanks.
pub type Operand = Vec<Part>;

/// An arithmetic expression: its tokens, since bash reads them as we do and only the names in them matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Its tokens, and whether a blank stands before each.
    pub tokens: Vec<(bool, Token)>,
}

/// A piece of an arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A number, in any base.
    Number(String),
    /// A variable, whose value bash evaluates as another expression.
    Name(String),
    /// An expansion, whose text becomes part of the expression.
    Expansion(Expansion),
    /// An operator or a parenthesis.
    Operator(&'static str),
}

/// What `[[ … ]]` tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A word that is not empty.
    Word(Word),
    /// `-f file` and its like.
    Unary(String, Word),
    /// `a == b` and its like.
    Binary(Word, String, Word),
    /// `! …`
    Not(Box<Condition>),
    /// `( … )`
    Group(Box<Condition>),
    /// `… && …`
    And(Box<Condition>, Box<Condition>),
    /// `… || …`
    Or(Box<Condition>, Box<Condition>),
}
