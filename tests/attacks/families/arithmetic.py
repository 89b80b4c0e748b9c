"""C2: what callers, the environment or earlier commands put into a variable is evaluated as arithmetic."""

from harness.case import NAMED, Case, lines, table

FAMILY = "C2 arithmetic"

X = {"x": "a[$(touch @M)]"}

WITH_CALLERS = r"""
echo $((x)); x=1
((x)); x=1
[[ x -eq 0 ]]; x=1
echo ${HOME:x}; x=1
a=(1); echo ${a[x]}; x=1
y[x]=1; x=1
for ((x;0;)); do true; done; x=1
cat <<E; x=1␤$((x))␤E
(x=1); echo $((x))
if false; then x=1; fi; echo $((x))
x=1 true; echo $((x))
true | x=1; echo $((x))
false && x=1; echo $((x))
f() { x=1; }; echo $((x))
echo $((x+1))
echo $((1?x:0))
echo $[x]
let x
let y=x
let "y = x"
declare -i y=x
declare -i y; y=x
typeset -i y=x
printf -v "$x" a
read 'y[x]' <<< 1
read "$x" <<< 1
test -v "$x"
[ -v "$x" ]
[[ -v $x ]]
[[ -v a[x] ]]
[[ $x -eq 1 ]]
[[ "$x" -lt 1 ]]
[[ 1 -eq x ]]
[[ a[x] -eq 1 ]]
echo ${x@P}
echo "${x@P}"
echo ${!x}
echo ${HOME:0:x}
echo ${HOME: -x}
echo ${@:x}
echo ${*:x:1}
a=(1 2); echo ${a[@]:x}
echo ${a[$x]}
echo ${a[x]:-1}
echo ${!a[x]}
a=([x]=1)
a=(["$x"]=1)
declare -a a=([x]=1)
a[x]+=1
a["$x"]=1
a[$x]=1
((a[x]=1))
((y=x))
((x++))
((y[x]++))
(( x ? 1 : 0 ))
for ((i=0;i<x;i++)); do true; done
for ((i=x;i<0;i++)); do true; done
while ((x)); do break; done
until ((x)); do break; done
case $((x)) in 0) true;; esac
select i in $((x)); do break; done
echo {1..$((x))}
shift $((x))
exit $((x))
exec 3>&$((x))
echo > /dev/null$((x))
f() { echo $((x)); }; f; x=1
trap 'echo $((x))' EXIT
eval 'echo $((x))'
: $((y=1)) ${x:=1}; echo $((x))
: ${x:=1}; echo $((x))
x=${x:-1}; echo $((x))
x=${x}; echo $((x))
while false; do x=1; done; echo $((x))
case a in b) x=1;; esac; echo $((x))
x=1 & echo $((x))
coproc x=1; echo $((x))
{ x=1; } | true; echo $((x))
x=1 env true; echo $((x))
true || x=1 && echo $((x))
[[ a == b && $((x=1)) ]]; echo $((x))
declare -n y=x; echo $((y))
declare x; echo $((x))
declare -x x; echo $((x))
export x; echo $((x))
local x; echo $((x))
"""

# Names that come from bash or from the server and not from the caller of this one call.
WITHOUT = r"""
cd @W/deep; echo $((OLDPWD))
echo 'a[$(touch @M)]'; echo $((_))
true 'a[$(touch @M)]'; ((_))
set -- 'a[$(touch @M)]'; echo $(($1))
set -- 'a[$(touch @M)]'; echo $((${1}))
set -- 'a[$(touch @M)]'; (($*))
set -- 'a[$(touch @M)]'; echo ${@:$1}
set -- 'a[$(touch @M)]'; [[ $1 -eq 0 ]]
set -- 'a[$(touch @M)]'; let "$1"
set -- 'a[$(touch @M)]'; test -v "$1"
f() { echo $(($1)); }; f 'a[$(touch @M)]'
f() { local x=$1; echo $((x)); }; f 'a[$(touch @M)]'
x='a[$(touch @M)]'; echo $((x))
x='a[$(touch @M)]' y=x; echo $((y))
x='a[$(touch @M)]'; y=1; y=$x; echo $((y))
x='a[$(touch'; x+=' @M)]'; echo $((x))
x=$'a[$(touch @M)]'; echo $((x))
printf -v x '%s' 'a[$(touch @M)]'; echo $((x))
read x <<< 'a[$(touch @M)]'; echo $((x))
read -r x < <(echo 'a[$(touch @M)]'); echo $((x))
mapfile x <<< 'a[$(touch @M)]'; echo $((x))
mapfile -t x <<< 'a[$(touch @M)]'; echo $((x[0]))
read -a x <<< 'a[$(echo>@M)]'; echo $((x))
for x in 'a[$(touch @M)]'; do echo $((x)); done
x=(1 'a[$(touch @M)]'); echo $((x[1]))
x=1; x[0]='a[$(touch @M)]'; echo $((x))
declare -A x; x[a]='a[$(touch @M)]'; echo $((x[a]))
declare -i x; read x <<< 'a[$(touch @M)]'
declare -i x; printf -v x %s 'a[$(touch @M)]'
declare -i x; x+='a[$(touch @M)]'
declare -i x; for x in 'a[$(touch @M)]'; do true; done
getopts 'a:' x -a 'a[$(touch @M)]'; echo $((OPTARG))
[[ 'a[$(touch @M)]' =~ .* ]]; echo $((BASH_REMATCH))
[[ 'a[$(touch @M)]' -eq 0 ]]
[[ 'a[$(touch @M)]' -lt 0 ]]
[[ -v 'a[$(touch @M)]' ]]
read 'a[$(touch @M)]' <<< x
declare 'a[$(touch @M)]=1'
declare -n x='a[$(touch @M)]'; echo $x
declare -n x='a[$(touch @M)]'; x=1
x='a[$(touch @M)]'; echo ${!x}
let 'a[$(touch @M)]'
echo ${a['$(touch @M)']}
((a["$(touch @M)"]=1))
x='$(touch @M)'; echo ${x@P}
x='x[$(touch @M)]'; x=$x; ((x))
RANDOM='a[$(touch @M)]'
OPTIND='a[$(touch @M)]'
HISTCMD='a[$(touch @M)]'
BASH_ARGV0='a[$(touch @M)]'; echo $((BASH_ARGV0))
echo $((REPLY)); read <<< 'a[$(touch @M)]'; echo $((REPLY))
mapfile <<< 'a[$(touch @M)]'; echo $((MAPFILE))
select x in 'a[$(touch @M)]'; do echo $((x)); done <<< 1
declare -i x=1; unset x; x='a[$(touch @M)]'; echo $((x))
x=1; { x='a[$(touch @M)]'; }; echo $((x))
x=1; if true; then x='a[$(touch @M)]'; fi; echo $((x))
x=1; while true; do echo $((x)); x='a[$(touch @M)]'; [ -e @M ] && break; done
x=1; f() { x='a[$(touch @M)]'; }; f; echo $((x))
f() { echo $((x)); }; x=1; x='a[$(touch @M)]' f
x=1; trap "x='a[\$(touch @M)]'" DEBUG; echo $((x))
x=1; eval "x='a[\$(touch @M)]'"; echo $((x))
x=1; export x='a[$(touch @M)]'; echo $((x))
x=1; declare x='a[$(touch @M)]'; echo $((x))
x=1; declare "x=a[\$(touch @M)]"; echo $((x))
x=1; : ${x/1/'a[$(touch @M)]'}; x=${x/1/'a[$(touch @M)]'}; echo $((x))
"""

OTHER_VALUES = ["$(touch @M)", "a[`touch @M`]", "1+a[$(touch @M)]", "x[$(touch @M)]", "y=a[$(touch @M)]", "\na[$(touch @M)]",
                "a['$(touch @M)']", "0x1+a[$(touch @M)]", "a[${y:-$(touch @M)}]", "a[<(touch @M)]", "(a[$(touch @M)])",
                "a[a[$(touch @M)]]", "\t1,a[$(touch @M)]"]


def cases(_host):
    given = [Case(FAMILY, row, doors=("shell",), env=X) for row in table(WITH_CALLERS)]
    values = [Case(FAMILY, "((x)); x=1", NAMED, ("shell",), {"x": value}) for value in OTHER_VALUES]
    names = ("y", "HOME", "a", "PWD", "_", "x1", "X", "OLDPWD", "RANDOM", "REPLY", "LINES", "COLUMNS", "UID", "CI")
    named = [Case(FAMILY, f"echo $(({name}))", NAMED, ("shell",), {name: "a[$(touch @M)]"}) for name in names]
    return given + values + named + lines(FAMILY, WITHOUT)
