//! Reading small files of the kernel's.

use std::fs;

/// Every descendant of `pid`, children before grandchildren, as the kernel lists them now.
pub(crate) fn descendants(pid: i32) -> Vec<i32> {
    family(pid, usize::MAX).split_off(1)
}

/// A process and its descendants. Once there are `most`, no others are looked for.
pub(crate) fn family(first: i32, most: usize) -> Vec<i32> {
    let mut found = vec![first];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied().filter(|_| found.len() < most) {
        found.extend(children(pid));
        next += 1;
    }
    found
}

/// The direct children of every thread of `pid`.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

/// Whether `pid` has ended and only waits to be reaped.
pub(crate) fn is_zombie(pid: i32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// The numbers in a list of process ids, one a line or a word.
pub(crate) fn numbers(list: &str) -> Vec<i32> {
    list.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}
