# git may look at everything; it may change things once a person has agreed.
package sandbox.main

looking := {"status", "log", "diff", "show", "branch", "blame"}

changing := {"add", "commit", "push", "fetch", "pull"}

allow if {
	input.command == "git"
	input.args[0] in looking | changing
	not steered
}

ask := sprintf("git %s changes something", [input.args[0]]) if input.args[0] in changing

# Options by which git runs other programs, or writes where nobody expects it.
steered if {
	some arg in input.args
	some option in {"--output", "--ext-diff", "--exec", "--upload-pack", "--receive-pack", "-c", "--config-env"}
	startswith(arg, option)
}

reason := sprintf("git may %s", [concat(", ", looking | changing)])
