//! Scripts made at random.

use proptest::prelude::*;

/// Pieces of shell syntax, one a line; `␤` stands for a newline and `␠` for a blank.
const TOKENS: &str = include_str!("corpus/tokens.txt");

/// Words in which the canary is mentioned and never called.
const MENTIONS: &str = r#"canary
'canary'
"; canary"
'$(canary)'
"\$(canary)"
\`canary\`
'`canary`'
$'\'canary'
"'canary'"
x
$x
"$x"
a\;canary
'a[$(canary)]'
"a[\$(canary)]"
{a,canary}
*
${x:-canary}
"${x:-canary}"
$(echo canary)
`echo canary`
<(echo canary)
$((1+1))
\$'\'
'\'
"\\"
${x:='canary'}
${#x}
${x@Q}
"${y[@]}"
${y[0]}
$'\x63anary'"#;

/// Allowed commands; `@` stands for their arguments.
const COMMANDS: &str = r#"echo @
ls @
cat @
x=@
y=(1) ; echo @
env A=@
printf '%s\n' @
[ x = @ ]
test a = @
read x <<< @
export x=@
xargs echo @
xargs -I{} echo {} @
find . -name @
timeout 5 echo @
set -- @
cat <<< @
echo > @
true; @
: ${x:=1}; @
command echo @
unset @
declare x=@
i=0; echo $((i+1)) @
trap 'echo x' EXIT; echo @
trap @ EXIT
trap @ DEBUG; x=1; echo $((x))
trap 'x=@' DEBUG; x=1; echo $((x)); ls
trap 'echo @; ls' EXIT INT
f() { x=@; }; trap f DEBUG; x=1; echo $((x)) ${y[x]}
let x=@
let 'x=1' y=2 @
PY=echo; $PY @
PY=@; $PY x; "$PY"
a=(echo @); "${a[@]}" x
PY=$(command -v echo); $PY @
for i in $(ls @); do echo $((i * 2)); done
x=$(cat @); echo $((x + $(wc -l < f))) ; [[ $x -gt 1 ]]
x=$(cat @); [ $x -gt 3 ]; [ 1 -eq $x ]
while read -r n; do echo $((n)) ; done < <(echo @)
f() { echo $(($1 + ${2:-0})); }; f @
echo $(( $(ls @) + `ls` ))
exec > f; hash ls @
echo & kill %1 @
GIT_PAGER=cat echo @
export PAGER=@"#;

/// Constructs around a script, which stands at every `@`.
const AROUND: &str = r#"@ ; echo canary
echo canary && @
@ || ls
@ | cat
cat | @
@ & ls
( @ )
{ @; }
echo $( @ )
echo "$( @ )" canary
x=$( @ ); echo "$x"
echo ` @ `
if @; then @; fi
for x in 1 canary; do @; done
case x in canary) ls;; *) @;; esac
f() { @; }; f canary
cat <<EOF␤canary $( @ )␤EOF␤
cat <<'EOF'␤canary @␤EOF␤
@ > >(cat)
cat < <( @ )"#;

fn lines(text: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(tokens_of(text))
}

fn tokens_of(text: &str) -> Vec<String> {
    text.lines().map(|line| line.replace('␤', "\n").replace('␠', " ")).collect()
}

/// Pieces of shell syntax, one after the other.
pub(crate) fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(lines(TOKENS), 1..14).prop_map(|tokens| tokens.concat())
}

/// Scripts that are well formed more often than not, with the canary where text may stand.
pub(crate) fn well_formed() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(lines(MENTIONS), 1..4).prop_map(|words| words.join(" "));
    let command = (lines(COMMANDS), words).prop_map(|(command, words)| command.replace('@', &words));
    command.prop_recursive(4, 24, 1, |inner| {
        (lines(AROUND), inner).prop_map(|(around, inner)| around.replace('@', &inner))
    })
}

/// Lines of the corpora with small damage.
pub(crate) fn damaged() -> impl Strategy<Value = String> {
    let corpora: Vec<String> = [
        include_str!("corpus/refused.txt"),
        include_str!("corpus/refused_builtins.txt"),
        include_str!("corpus/allowed.txt"),
    ]
    .iter()
    .flat_map(|text| text.lines())
    .filter(|line| !line.is_empty() && !line.starts_with("## "))
    .map(|line| line.replace('␤', "\n"))
    .collect();
    let line = prop::sample::select(corpora);
    let token = lines(TOKENS);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, token), 0..4);
    let joined = (line.clone(), prop::sample::select(vec![" ", ";", "\n", "", " \"", " '", "$("]), line);
    (joined, any::<bool>(), edits).prop_map(|((first, between, second), both, edits)| {
        let mut chars: Vec<char> =
            if both { format!("{first}{between}{second}") } else { first }.chars().collect();
        for (at, kind, token) in edits {
            let at = at.index(chars.len() + 1);
            match kind {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 => drop(chars.splice(at..at, token.chars())),
                _ if at < chars.len() => drop(chars.splice(at..=at, token.chars())),
                _ => {}
            }
        }
        chars.into_iter().collect()
    })
}
