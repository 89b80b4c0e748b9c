# These commands with exactly these arguments, and nothing else.
package sandbox.main

commands := {
	["make", "test"],
	["cargo", "test", "--workspace"],
	["git", "status", "--short"],
}

allow if array.concat([input.command], input.args) in commands

reason := sprintf("only these may run: %s", [concat(", ", [concat(" ", words) | some words in commands])])
