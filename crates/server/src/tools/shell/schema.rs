//! What the structured content of `shell` looks like: that of an end, of a timeout, and of a refusal.

use rmcp::model::JsonObject;

/// One schema for all of them: only what all have is required.
pub(super) fn output() -> JsonObject {
    rmcp::object!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "exit_code": { "type": "integer" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "execution_time_ms": { "type": "integer" },
            "working_directory": { "type": "string" },
            "timeout_seconds": { "type": "integer", "description": "Only after a timeout" },
            "partial_stdout": { "type": "string" },
            "partial_stderr": { "type": "string" },
            "signal": { "type": "string" },
            "reason": { "type": "string", "description": "Why it failed" },
            "note": { "type": "string" },
            "stdout_truncated_bytes": { "type": "integer" },
            "stderr_truncated_bytes": { "type": "integer" },
            "stdout_binary": { "type": "boolean" },
            "stderr_binary": { "type": "boolean" },
            "stdout_bytes": { "type": "integer" },
            "stderr_bytes": { "type": "integer" },
            "output_id": { "type": "string" },
            "session_id": { "type": "integer" },
            "cpu_time_ms": { "type": "integer" },
            "max_rss_kb": { "type": "integer" },
            "policy": {
                "type": "object",
                "properties": {
                    "decision": { "enum": ["allow", "ask", "deny"] },
                    "rule": { "type": "string" },
                    "commands": { "type": "array", "items": { "type": "object" } },
                    "reason": { "type": "string" },
                    "suggest": { "type": "string" },
                },
                "required": ["decision", "reason", "commands"],
            },
        },
        "required": ["command", "policy"],
    })
}
