//! Lists of hosts as an operator writes them.

/// Hosts, by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// They may be reached.
    pub allow: Vec<String>,
    /// A person is asked about them.
    pub ask: Vec<String>,
    /// They may not, whatever the other lists say.
    pub deny: Vec<String>,
}

impl Lists {
    /// Reads them from one list, where there is no other way to write them: `!` before an entry denies, `?` asks, none of both
    /// allows.
    pub fn marked<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        let mut lists = Lists::default();
        for entry in entries {
            let (list, host) = if let Some(host) = entry.strip_prefix('!') {
                (&mut lists.deny, host)
            } else if let Some(host) = entry.strip_prefix('?') {
                (&mut lists.ask, host)
            } else {
                (&mut lists.allow, entry)
            };
            list.push(host.trim().to_owned());
        }
        lists
    }
}
