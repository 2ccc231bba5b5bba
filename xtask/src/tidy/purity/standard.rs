//! Decides what a pure machine may use of the standard library: what this list names.
//!
//! A list of what is allowed, since a list of what is not would miss the next clock. A name joins
//! when it reads nothing but its arguments and gives the same result in every process.

use super::paths::WrittenPath;

const ROOTS: [&str; 3] = ["std", "core", "alloc"];

/// Modules, primitives and macros that are free as a whole.
const WHOLE: &str = "array ascii assert assert_eq assert_ne bool borrow boxed cell char clone cmp \
                     concat convert debug_assert debug_assert_eq debug_assert_ne default error f32 \
                     f64 fmt format format_args i128 i16 i32 i64 i8 include_bytes include_str isize \
                     iter marker matches mem num ops option prelude rc result slice str string \
                     stringify u128 u16 u32 u64 u8 unreachable usize vec write writeln";

/// Modules of which only these names are free, and what to do instead of the others.
const IN_PART: [(&str, &[&str], &str); 4] = [
    (
        "collections",
        &[
            "BTreeMap",
            "BTreeSet",
            "BinaryHeap",
            "LinkedList",
            "VecDeque",
            "binary_heap",
            "btree_map",
            "btree_set",
            "linked_list",
            "vec_deque",
        ],
        "take a BTreeMap or BTreeSet, by its full name",
    ),
    ("hash", &["Hash", "Hasher"], "a hash that is kept is `sha2`, an order is a BTreeMap"),
    (
        "sync",
        &["Arc", "OnceLock", "Weak"],
        "the machine is one value behind `&mut`, it shares and waits for nothing",
    ),
    ("time", &["Duration"], "take the time from the input's `at`"),
];

/// Modules that people reach for, and what to do instead.
const INSTEAD: [(&[&str], &str); 4] = [
    (
        &["env", "fs", "io", "net", "os", "path", "process"],
        "emit an effect and take its outcome as an input",
    ),
    (&["thread"], "the driver runs things side by side; emit their effects together"),
    (&["future", "pin", "task"], "emit an effect and take its outcome as an input"),
    (&["print", "println", "eprint", "eprintln", "dbg", "backtrace"], "emit an event"),
];

/// What is wrong with a path and what to do, when it leads into the standard library and off the
/// list.
pub(super) fn refusal(path: &WrittenPath) -> Option<String> {
    let (root, inside) = path.segments.split_first()?;
    if !ROOTS.contains(&root.as_str()) {
        return None;
    }
    // `core` and `alloc` alone may be the names of variables.
    if inside.is_empty() && root != "std" && !path.is_import {
        return None;
    }
    let hint = hint(inside)?;
    Some(format!("`{}` is not for a pure machine; {hint}", path.segments.join("::")))
}

fn hint(inside: &[String]) -> Option<&'static str> {
    let Some((module, items)) = inside.split_first() else {
        return Some("give the standard library no other name");
    };
    let module = module.as_str();
    if WHOLE.split_whitespace().any(|name| name == module) {
        return None;
    }
    if let Some((_, free, hint)) = IN_PART.iter().find(|(name, ..)| *name == module) {
        let item = items.first().map_or("", String::as_str);
        return (!free.contains(&item)).then_some(hint);
    }
    let known = INSTEAD.iter().find(|(names, _)| names.contains(&module));
    Some(known.map_or("use what the list in xtask/src/tidy/purity/standard.rs names", |it| it.1))
}

#[cfg(test)]
mod tests;
