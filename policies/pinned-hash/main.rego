# A program may run if its file is the one that was reviewed. Get the hash with: sha256sum /usr/local/bin/deploy
package sandbox.main

reviewed := {
	"/usr/local/bin/deploy": "0000000000000000000000000000000000000000000000000000000000000000",
}

# A shell or a wrapper looks the file up once more, and may find another one by then; direct says that it is executed
# as it was hashed.
allow if {
	input.direct
	reviewed[input.path] == input.hash
}

reason := sprintf("%s was not reviewed, or has changed since", [input.path]) if input.direct

reason := "a reviewed program has to be run by itself, without a shell" if not input.direct
