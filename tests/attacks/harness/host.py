"""Where the attacks are tried: as whom, with which program, in which directories."""

import os
import pathlib
import shutil
import subprocess
import threading

USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ORDINARY = 54321  # nobody's user

CANARY = "#!/bin/sh\n: > '{mark}'\n"


class Host:
    """One user's home, binary and places; everything of it lies below one directory."""

    def __init__(self, root, binary, uid):
        self.root, self.uid = pathlib.Path(root), uid
        self.name = "root" if uid == 0 else "user"
        self.base = self.root / self.name
        self.home = self.base / "home"
        self.lock, self.count = threading.Lock(), 0
        self.home.mkdir(parents=True)
        self.binary = str(self.root / "bin" / "runward")
        pathlib.Path(self.binary).parent.mkdir(exist_ok=True)
        if not os.path.exists(self.binary):
            shutil.copy(binary, self.binary)
            os.chmod(self.binary, 0o755)
        self.own(self.base)
        self.own(self.home)

    def own(self, *paths):
        """Gives what was made here to the user; never through a link."""
        for path in paths:
            if os.geteuid() == 0:
                os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def as_user(self, command):
        if os.geteuid() == self.uid:
            return command
        drop = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--inh-caps=-all"]
        return [*drop, "--", *command]

    def number(self):
        with self.lock:
            self.count += 1
            return self.count

    def place(self, name="place"):
        """A new directory of the user's."""
        path = self.base / f"{name}-{self.number()}"
        path.mkdir()
        self.own(path)
        return path

    def write(self, path, text, mode=0o644):
        path = pathlib.Path(path)
        for parent in reversed(path.parents):
            if not parent.exists():
                parent.mkdir()
                self.own(parent)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        self.own(path)
        return path

    def canary(self, path, mark):
        """A program that leaves a mark, wherever it is started."""
        return self.write(path, CANARY.format(mark=mark), 0o755)

    def env(self, state, settings=None, **more):
        """What a server is started with: nothing of this program's own."""
        env = {"PATH": USUAL, "HOME": str(self.home), "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8"}
        return env | ({"RUNWARD_CONFIG": str(settings)} if settings else {}) | more

    def run(self, arguments, env, cwd, patience=30):
        """Runs the program to its end."""
        command = self.as_user([self.binary, *arguments])
        done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, timeout=patience,
                              capture_output=True, text=True, errors="replace")
        return done.returncode, done.stdout + done.stderr
