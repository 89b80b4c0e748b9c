# npm may run scripts, in production mode only, with no variables but these.
package sandbox.main

variables := {"NODE_ENV", "CI", "npm_config_loglevel"}

allow if {
	input.command == "npm"
	input.args[0] in {"run", "ci", "test"}
	object.keys(input.env) - variables == set()
	object.get(input.env, "NODE_ENV", "production") == "production"
}

reason := sprintf("these variables may not be set: %s", [concat(", ", others)]) if {
	others := object.keys(input.env) - variables
	count(others) > 0
}
