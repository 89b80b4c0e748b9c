"""M6 and L12: rules about git, and git under other names; options that write."""

from harness.case import ARGVS, Case, table

FAMILY = "M6 git"

# Each pushes the repository in @W to `refs/heads/@M` of the one beside it, whose file is the mark.
PUSHES = r"""
git push --force origin HEAD:refs/heads/@M
$(git --exec-path)/git-push --force origin HEAD:refs/heads/@M
@X/git-push --force origin HEAD:refs/heads/@M
git-push --force origin HEAD:refs/heads/@M
@X/git push --force origin HEAD:refs/heads/@M
@X/git --exec-path=@X push origin HEAD:refs/heads/@M
git -C . push origin HEAD:refs/heads/@M
git --no-pager push origin HEAD:refs/heads/@M
git -c a.b=c push origin HEAD:refs/heads/@M
git -ca.b=c push origin HEAD:refs/heads/@M
git --git-dir .git push origin HEAD:refs/heads/@M
git --git-dir=.git --work-tree=. push origin HEAD:refs/heads/@M
git --literal-pathspecs push origin HEAD:refs/heads/@M
git -P push origin HEAD:refs/heads/@M
git -p push origin HEAD:refs/heads/@M
git -C . -C . -P --bare push origin HEAD:refs/heads/@M
git --namespace x push origin HEAD:refs/heads/@M
git --namespace=  push origin HEAD:refs/heads/@M
git --super-prefix=x push origin HEAD:refs/heads/@M
git --attr-source HEAD push origin HEAD:refs/heads/@M
git --attr-source=HEAD push origin HEAD:refs/heads/@M
git --list-cmds=main push origin HEAD:refs/heads/@M
git --no-optional-locks push origin HEAD:refs/heads/@M
git --no-replace-objects push origin HEAD:refs/heads/@M
git --icase-pathspecs push origin HEAD:refs/heads/@M
git --no-advice push origin HEAD:refs/heads/@M
git --no-lazy-fetch push origin HEAD:refs/heads/@M
git --exec-path=@X push origin HEAD:refs/heads/@M
git --config-env=a.b=HOME push origin HEAD:refs/heads/@M
git --config-env a.b=HOME push origin HEAD:refs/heads/@M
git 'push' origin HEAD:refs/heads/@M
git pu\sh origin HEAD:refs/heads/@M
git "$x"push origin HEAD:refs/heads/@M
git -c alias.p=push p origin HEAD:refs/heads/@M
git -c 'alias.p=!git push' p origin HEAD:refs/heads/@M
git -c 'alias.p=push --force' p origin HEAD:refs/heads/@M
git config alias.q push; git q origin HEAD:refs/heads/@M
env git push origin HEAD:refs/heads/@M
env @X/git-push origin HEAD:refs/heads/@M
nice git-push origin HEAD:refs/heads/@M
bash -c 'git push origin HEAD:refs/heads/@M'
xargs git push origin <<< HEAD:refs/heads/@M
xargs git <<< 'push origin HEAD:refs/heads/@M'
echo push | xargs -I% git % origin HEAD:refs/heads/@M
find . -maxdepth 0 -exec git push origin HEAD:refs/heads/@M \;
exec -a x git push origin HEAD:refs/heads/@M
exec -a git-push git origin HEAD:refs/heads/@M
env -a git-push git origin HEAD:refs/heads/@M
env --argv0=git-push git origin HEAD:refs/heads/@M
ln -s $(which git) gp-git-push; ./gp-git-push origin HEAD:refs/heads/@M
gitlink/git-push origin HEAD:refs/heads/@M
cp @X/git ./git-push; ./git-push origin HEAD:refs/heads/@M
cd @X; ./git-push @W/origin.git HEAD:refs/heads/@M
cd @X && ./git -C @W push origin HEAD:refs/heads/@M
git bisect run git push origin HEAD:refs/heads/@M
git rebase -x 'git push origin HEAD:refs/heads/@M' HEAD
"""


def cases(host):
    made = [Case(FAMILY, row, ("gitrule", "gitblock"), ("execute_command",)) for row in table(PUSHES) if "@M" in row]
    argv = [["@X/git-push", "origin", "HEAD:refs/heads/@M"], ["git-push", "origin", "HEAD:refs/heads/@M"],
            ["git", "push", "origin", "HEAD:refs/heads/@M"], ["git", "-C", ".", "push", "origin", "HEAD:refs/heads/@M"],
            ["@X/git", "push", "origin", "HEAD:refs/heads/@M"], ["gitlink/git-push", "origin", "HEAD:refs/heads/@M"],
            ["@X/git", "--no-pager", "push", "origin", "HEAD:refs/heads/@M"]]
    return made + [Case(FAMILY, words, ("gitrule", "gitblock"), ARGVS) for words in argv]
