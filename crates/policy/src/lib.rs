//! The judge: which commands a piece of work would run, and whether the rules allow each of them.
//!
//! [`read`] takes a piece of work apart. A line without shell syntax becomes a program with arguments, split exactly as
//! bash would; anything else becomes a [`Script`] with every command that bash could start from it, wherever it stands.
//! [`Policy::judge`] then holds each command against every layer, looks into wrappers such as `env`,
//! `find -exec` and `sh -c` for the commands inside their arguments, and refuses what cannot be known before it runs.
//!
//! The layers are the [`Allowlist`] and the [`Rules`]. The strictest of them wins, and one of them has to allow.
//!
//! The list says which programs a caller may start, not what those programs may do: an operator who lists an
//! interpreter lists everything that it can be told to run.

mod allow;
mod allowlist;
mod attacks;
mod builtin_rules;
mod corrections;
mod environment;
mod facts;
mod free;
mod glob;
mod held;
mod judge;
mod named;
mod objections;
mod reading;
mod refusal;
mod rego;
mod rulebook;
mod rules;
mod search_path;
mod sift;
mod suggest;
mod survey;
mod too_wide;
mod trust;
mod variables;
mod viewer;
mod weigh;
mod wrappers;

pub use allowlist::Allowlist;
pub use attacks::{Attack, Breach, Trial, attacks};
pub use environment::{EnvironmentRules, Given};
pub use glob::Glob;
pub use held::{Execute, Held};
pub use judge::{Asker, Policy};
pub use named::{NamedFiles, Writable};
pub use reading::{Reading, Script, read};
pub use rego::{Definition, Outcome, Rego, Trace, Watch};
pub use rulebook::Rulebook;
pub use rules::{Blocked, BlockedPattern, PrefixRule, Rules};
pub use runward_script::Dialect;
pub use search_path::SearchPath;
pub use too_wide::too_wide;
pub use variables::is_tame_locale;
