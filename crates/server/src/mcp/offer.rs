//! Which tools are offered, and what is said of them.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use thiserror::Error;

use crate::RAW;
use crate::arguments::Shape;
use crate::tools::{Alternative, Limits, TOOLS, Tool};

/// The tools on offer, with what is advertised of them, built once.
#[derive(Debug)]
pub(super) struct Offer(Vec<Offered>);

/// One tool on offer.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) tool: &'static Tool,
    pub(super) shape: Shape,
    pub(super) advertised: rmcp::model::Tool,
}

/// A tool that was asked for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no tool {name:?}; the tools are {}", .known.join(", "))]
pub struct UnknownTool {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

impl Offer {
    /// The named tools in the order of the table; all of them when none is named.
    pub(super) fn new(names: &[String], limits: &Limits) -> Result<Self, UnknownTool> {
        let known = || TOOLS.iter().map(|tool| tool.name);
        let is_unknown = |name: &&String| *name != RAW && known().all(|known| known != *name);
        if let Some(name) = names.iter().find(is_unknown) {
            return Err(UnknownTool { name: name.clone(), known: known().collect() });
        }
        let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
        let chosen = TOOLS.iter().filter(|tool| is_chosen(tool.name));
        Ok(Offer(chosen.map(|tool| Offered::new(tool, limits, described(tool, is_chosen))).collect()))
    }

    /// The tool of a name that a client sent.
    pub(super) fn find(&self, name: &str) -> Result<&Offered, ErrorData> {
        self.0.iter().find(|offered| offered.tool.name == name).ok_or_else(|| {
            let known = self.0.iter().map(|offered| offered.tool.name).collect();
            ErrorData::invalid_params(UnknownTool { name: name.to_owned(), known }.to_string(), None)
        })
    }

    /// What is advertised.
    pub(super) fn advertised(&self) -> impl Iterator<Item = &rmcp::model::Tool> {
        self.0.iter().map(|offered| &offered.advertised)
    }
}

impl Offered {
    fn new(tool: &'static Tool, limits: &Limits, description: Cow<'static, str>) -> Self {
        let shape = tool.act.shape().within(limits);
        let schema = Arc::new(shape.input_schema());
        let mut advertised = rmcp::model::Tool::new(tool.name, description, schema)
            .with_title(tool.title)
            .with_annotations((tool.annotations)());
        advertised.output_schema = tool.output.map(|schema| Arc::new(schema()));
        Offered { tool, shape, advertised }
    }
}

fn described(tool: &Tool, is_chosen: impl Fn(&str) -> bool) -> Cow<'static, str> {
    let offered = tool.alternatives.iter().filter(|Alternative { tool, .. }| is_chosen(tool));
    offered.fold(tool.description.into(), |text, Alternative { when, .. }| format!("{text} {when}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(names: &[&str]) -> Result<Offer, UnknownTool> {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        Offer::new(&names, &crate::tools::USUAL_LIMITS)
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.advertised().map(|tool| tool.name.as_ref()).collect()
    }

    #[test]
    fn all_tools_are_offered_unless_some_are_named() {
        assert_eq!(names(&offer(&[]).expect("all")), crate::tool_names());
        assert_eq!(names(&offer(&["execute_process"]).expect("one")), ["execute_process"]);
    }

    #[test]
    fn a_tool_that_is_not_offered_is_not_spoken_of() {
        let text =
            serde_json::to_string(&offer(&["execute_process"]).expect("one").0[0].advertised).expect("JSON");
        assert!(!text.contains("execute_command"), "{text}");
    }

    #[test]
    fn an_unknown_tool_is_an_error_that_names_it_and_the_known_ones() {
        let error = offer(&["execute_process", "excute"]).expect_err("unknown").to_string();
        let known = crate::tool_names().join(", ");
        assert_eq!(error, format!("there is no tool \"excute\"; the tools are {known}"));
    }

    #[test]
    fn a_tool_that_is_not_offered_is_a_protocol_error() {
        let error = offer(&["execute_process"])
            .expect("one")
            .find("execute_command")
            .map(|_| ())
            .expect_err("hidden");
        assert_eq!(error.code.0, -32602);
        assert_eq!(error.message, "there is no tool \"execute_command\"; the tools are execute_process");
    }

    #[test]
    fn the_tools_are_advertised_in_full() {
        insta::assert_json_snapshot!(offer(&[]).expect("all").advertised().collect::<Vec<_>>());
    }

    #[test]
    fn what_is_advertised_stays_small() {
        const ONE_SHOT: &[&str] =
            &["execute_command", "execute_process", "shell", "read_output", "kill_session"];
        const SESSIONS: &[&str] =
            &["exec_command", "write_stdin", "read_session", "list_sessions", "kill_session", "apply_patch"];
        for (choice, most) in [(ONE_SHOT, 8), (SESSIONS, 8), (&[], 17)] {
            let advertised: Vec<_> = offer(choice).expect("known").advertised().cloned().collect();
            let bytes = serde_json::to_string(&advertised).expect("JSON").len();
            assert!(bytes <= most * 1024, "{bytes} bytes of {choice:?}, which every conversation pays for");
        }
    }
}
