//! Whose homes there are.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where people's homes usually are, whoever keeps the list of users.
const USUAL: &str = "/home";

/// People, as opposed to services, whose homes are data of theirs; `root` is one as well.
const PEOPLE: std::ops::Range<u32> = 1000..65_534;

/// The homes of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    /// This user's: what the environment says and what the list of users says may differ.
    pub own: Vec<PathBuf>,
    /// Other people's.
    pub others: Vec<PathBuf>,
}

impl Homes {
    /// Those of this host, as the user sees them whose home by the environment is `home`.
    pub fn of_this_host(home: Option<&Path>) -> Self {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = rustix::process::geteuid().as_raw();
        let usual = fs::read_dir(USUAL).into_iter().flatten().flatten();
        let usual = usual.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() != user));
        Self::read(&users, user, home, usual.map(|entry| entry.path()))
    }

    fn read(users: &str, user: u32, home: Option<&Path>, usual: impl Iterator<Item = PathBuf>) -> Self {
        let listed: Vec<(u32, PathBuf)> = users.lines().filter_map(user_of).collect();
        let same = |(whose, _): &&(u32, PathBuf)| *whose == user;
        let own: Vec<PathBuf> =
            home.into_iter().map(Into::into).chain(listed.iter().filter(same).map(place)).collect();
        let person = |(whose, _): &&(u32, PathBuf)| *whose == 0 || PEOPLE.contains(whose);
        let others = listed.iter().filter(|listed| person(listed) && !same(listed)).map(place).chain(usual);
        // A home that is everybody's is nobody's.
        let mut others: Vec<PathBuf> =
            others.filter(|one| !own.iter().any(|own| own.starts_with(one))).collect();
        others.sort_unstable();
        others.dedup();
        Homes { own, others }
    }
}

fn place((_, home): &(u32, PathBuf)) -> PathBuf {
    home.clone()
}

/// The user and the home in a line of the list.
fn user_of(line: &str) -> Option<(u32, PathBuf)> {
    let mut fields = line.split(':').skip(2);
    let user = fields.next()?.parse().ok()?;
    let home = PathBuf::from(fields.nth(2)?);
    let is_one = home.is_absolute() && home.parent().is_some();
    is_one.then(|| (user, fs::canonicalize(&home).unwrap_or(home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_this_users_or_another_persons_and_that_of_a_service_is_neither() {
        let users = "root:x:0:0:root:/nowhere/root:/bin/bash\nwww:x:33:33::/nowhere/www:/bin/false\n\
            ada:x:1000:1000:Ada:/nowhere/ada:/bin/sh\nbob:x:1001:1001::/nowhere/bob:/bin/sh\n\
            all:x:1002:1002::/nowhere:/bin/sh\nnone:x:1003:1003::/:/bin/sh\nbroken\n";
        let usual = [PathBuf::from("/nowhere/eve")].into_iter();
        let found = Homes::read(users, 1000, Some(Path::new("/elsewhere")), usual);
        assert_eq!(found.own, [PathBuf::from("/elsewhere"), "/nowhere/ada".into()]);
        let others: [PathBuf; 3] = ["/nowhere/bob".into(), "/nowhere/eve".into(), "/nowhere/root".into()];
        assert_eq!(found.others, others);
    }
}
