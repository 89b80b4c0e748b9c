"""The hostile neighbours of everyday lines: builtins without an entry, handlers, constants, numbers that programs print, long scripts."""

from harness.case import NAMED, lines

FAMILY = "everyday lines"

LINES = r"""
trap 'touch @M' EXIT
trap 'touch @M' INT; kill -INT $$
trap -- 'touch @M' 0; ls
command trap 'touch @M' EXIT
builtin trap 'touch @M' EXIT
t='touch @M'; trap "$t" EXIT
trap 'echo "$(touch @M)"' EXIT
trap "trap 'touch @M' EXIT" EXIT
f() { trap 'touch @M' RETURN; }; f
PY=touch; $PY @M
PY=touch; "$PY" @M
PY="touch @M"; $PY
PY=ls; PY=touch; $PY @M
PY=ls; read -r PY <<< touch; $PY @M
PY=ls; for PY in touch; do $PY @M; done
PY=ls; f() { PY=touch; }; f; $PY @M
cmd=(touch @M); "${cmd[@]}"
PY=$(command -v touch); $PY @M
x=tou; ${x}ch @M
echo $(( $(touch @M) ))
echo $(( `touch @M` + 1 ))
x=$(touch @M); [[ $x -gt 1 ]]
let 'x=a[$(touch @M)]'
let "x=$(touch @M)"
for i in $(touch @M); do echo $((i)); done
exec touch @M
exec > /dev/null touch @M
'time' touch @M
hash -p /usr/bin/touch ls; ls @M
kill %1 $(touch @M)
"""

# What bash would evaluate if it were given the text as it stands.
EVALUATED = r"""
trap 'x="a[\$(touch @M)]"' DEBUG; x=1; echo $((x))
f() { x='a[$(touch @M)]'; }; trap f DEBUG; x=1; echo $((x))
f() { x='a[$(touch @M)]'; }; trap f USR1; x=1; kill -USR1 $$; echo $((x))
echo 'a[$(touch @M)]' > v; for i in $(cat v); do echo $((i)); done
echo 'a[$(touch @M)]' > v; x=$(cat v); echo $((x + 1)); [[ $x -gt 1 ]]
echo 'a[$(touch @M)]' > v; while read -r x; do echo $((x)); done < v
echo 'a[$(touch @M)]' > v; echo $(( $(cat v) + 1 ))
f() { echo $(( $1 + 1 )); }; f 'a[$(touch @M)]'
f() { echo $(( ${1:-0} )); }; f 'a[$(touch @M)]'
echo '-v a[$(touch @M)]' > v; x=$(cat v); [ $x -gt 3 ]
echo 'x -o -v a[$(touch @M)]' > v; x=$(cat v); [ 3 -eq $x ]
"""


def cases(_host):
    return [*lines(FAMILY, LINES), *lines(FAMILY, EVALUATED, policies=NAMED)]
