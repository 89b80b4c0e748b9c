//! A word of a command, as far as it is known before it runs.

/// One word of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    /// As written.
    pub(crate) raw: String,
    /// As the command will see it.
    pub(crate) value: Value,
    /// Whether it is an assignment whose value is certainly taken as it is.
    pub(crate) stays_text: bool,
}

/// What is known of a word before it is expanded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Exactly this one word.
    Known(String),
    /// Anything, as far as one can tell.
    Unknown {
        /// What it certainly starts with.
        prefix: String,
        /// How many words it becomes.
        count: Count,
        /// Whether it is certainly a plain integer.
        number: bool,
    },
}

/// How many words an unknown word becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    /// One.
    One,
    /// One or more, each with the known beginning: a pattern or a list in braces.
    Alike,
    /// Any number, of which only the first has the known beginning.
    Any,
}

impl Word {
    /// A word that is what it says.
    pub(crate) fn known(text: impl Into<String>) -> Self {
        let text = text.into();
        Word { raw: text.clone(), value: Value::Known(text), stays_text: false }
    }

    /// A word that nobody knows, shown as `raw`.
    pub(crate) fn anything(raw: impl Into<String>) -> Self {
        Word {
            raw: raw.into(),
            value: Value::Unknown { prefix: String::new(), count: Count::Any, number: false },
            stays_text: false,
        }
    }

    /// The same where it is known that each word it becomes is a plain integer.
    pub(crate) fn with_number(mut self, is_number: bool) -> Self {
        if let Value::Unknown { number, .. } = &mut self.value {
            *number |= is_number;
        }
        self
    }

    /// The same where it is known that bash takes an assignment's value as it is.
    pub(crate) fn with_text(self, stays_text: bool) -> Self {
        Word { stays_text, ..self }
    }

    /// The word, if it is known.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Known(text) => Some(text),
            Value::Unknown { .. } => None,
        }
    }

    /// As much of the word's beginning as is known.
    pub(crate) fn prefix(&self) -> &str {
        match &self.value {
            Value::Known(text) => text,
            Value::Unknown { prefix, .. } => prefix,
        }
    }

    /// How many words it becomes.
    pub(crate) fn count(&self) -> Count {
        match self.value {
            Value::Known(_) => Count::One,
            Value::Unknown { count, .. } => count,
        }
    }

    /// Whether it may become several words, or none.
    pub(crate) fn is_many(&self) -> bool {
        self.count() != Count::One
    }

    /// Whether it is certainly a plain integer.
    pub(crate) fn is_number(&self) -> bool {
        match &self.value {
            Value::Known(text) => is_integer(text),
            Value::Unknown { number, .. } => *number,
        }
    }

    /// The word for a reader: its value where that is known, else as written.
    pub(crate) fn shown(&self) -> String {
        self.text().unwrap_or(&self.raw).to_owned()
    }
}

/// Whether a text is a plain integer.
pub(crate) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
