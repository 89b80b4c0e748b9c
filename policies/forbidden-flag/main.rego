# rm may remove files, but neither whole directories nor what is protected.
package sandbox.main

allow if {
	input.command == "rm"
	not forbidden
}

# -r, and also -vr: one letter hides among others.
forbidden if {
	some arg in input.args
	regex.match(`^-[A-Za-z]*[rRf]`, arg)
}

# --recursive, and also --rec, which rm takes for it.
forbidden if {
	some arg in input.args
	startswith(arg, "--")
	some flag in {"--recursive", "--force", "--no-preserve-root"}
	startswith(flag, arg)
}

reason := "rm may neither be recursive nor forced" if forbidden
