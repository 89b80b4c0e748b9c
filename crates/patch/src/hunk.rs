//! What a patch says.

/// A patch that was read: what to do to which files, in the order in which it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub(crate) hunks: Vec<Hunk>,
}

/// What to do to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The line of the patch that it begins at, from 1.
    pub(crate) line: usize,
    /// The file, as the patch names it.
    pub(crate) path: String,
    pub(crate) action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Make it, with these lines.
    Add(Vec<String>),
    /// Remove it.
    Delete,
    /// Change it, and give it another name where there is one.
    Update { to: Option<String>, chunks: Vec<Chunk> },
}

impl Action {
    /// As an error names it.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Action::Add(_) => "add",
            Action::Delete => "delete",
            Action::Update { .. } => "update",
        }
    }
}

/// Lines that stand together, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The line of the patch that it begins at, from 1.
    pub(crate) line: usize,
    /// Lines that stand before it in the file, each after the one before.
    pub(crate) contexts: Vec<String>,
    /// The line of the file that it says it stands at, from 0; a wrong one does no harm.
    pub(crate) near: Option<usize>,
    pub(crate) body: Vec<Line>,
    /// Whether it says that it ends where the file ends.
    pub(crate) at_end: bool,
}

/// One line of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It stands there and stays.
    Keep(String),
    /// It stands there and goes.
    Remove(String),
    /// It comes.
    Add(String),
}

impl Line {
    /// What stands in the file, if this is about such a line.
    pub(crate) fn old(&self) -> Option<&str> {
        match self {
            Line::Keep(text) | Line::Remove(text) => Some(text),
            Line::Add(_) => None,
        }
    }
}

impl Patch {
    /// Every file that it names, those that it moves others to included, as it names them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.hunks.iter().flat_map(|hunk| {
            let to = match &hunk.action {
                Action::Update { to, .. } => to.as_deref(),
                Action::Add(_) | Action::Delete => None,
            };
            std::iter::once(hunk.path.as_str()).chain(to)
        })
    }
}
