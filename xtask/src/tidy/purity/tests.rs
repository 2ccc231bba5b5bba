//! Each way to reach the world, however it is written, and what a pure machine may well use.

use super::*;
use crate::tidy::tests::file;

const DECISION: &str = "crates/runtime-decision/src/a.rs";

/// A small stand-in for the ports: values, a trait, and what holds a clock or a trait.
const PORTS: &str = "pub trait ModelSession { fn a(&self); }\npub enum Role { User, ModelSession }\n\
                     pub struct Reply { pub role: Role }\n\
                     pub struct Context { deadline: tokio::time::Instant }\n\
                     pub struct Sessions { models: Vec<Arc<dyn ModelSession>> }\n\
                     pub type Shared = Arc<Sessions>;\n\
                     #[cfg(test)]\nmod tests { pub trait Role {} }";

fn problems(path: &str, text: &str) -> Vec<Problem> {
    let ports = [
        file("crates/runtime-ports/src/lib.rs", PORTS),
        file("crates/runtime-ports/src/tests.rs", "pub trait Reply {}"),
    ];
    let file = file(path, text);
    let source = Source::parse(&file).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    check(&source, &NoValues::among(&ports))
}

/// The snippet has one problem, which says this.
#[track_caller]
fn fails(text: &str, says: &str) {
    let found = problems(DECISION, text);
    assert_eq!(found.len(), 1, "{text}\n{found:?}");
    assert!(found[0].says.contains(says), "{text}\n{}", found[0]);
}

#[track_caller]
fn passes(text: &str) {
    assert_eq!(problems(DECISION, text), [], "{text}");
}

#[test]
fn every_word_is_refused_in_code_and_in_macro_calls() {
    for (words, what) in WORDS {
        for word in words {
            fails(&format!("fn a() {{ call!({word}) }}"), what);
            fails(&format!("macro_rules! a {{ () => {{ {word} }} }}"), what);
        }
    }
    for (name, what) in MACROS {
        fails(&format!("fn a() {{ {name}!(b) }}"), what);
        fails(&format!("fn a() {{ b!(c, {name}! {{ d }}) }}"), what);
        passes(&format!("fn a({name}: bool) -> bool {{ {name} != b.{name} }}"));
    }
}

#[test]
fn async_is_refused_in_every_form() {
    for text in [
        "async fn a() {}",
        "trait A { async fn a(); }",
        "fn a() { b(async {}) }",
        "fn a() { b(async move || c) }",
        "fn a(b: impl AsyncFn()) {}",
        "fn a() -> impl Future<Output = ()> { b() }",
        "fn a() { select!(b.await) }",
        "#[async_trait]\ntrait A {}",
        "#[tokio::main]\nfn a() {}",
        "fn a() { tokio::select! { b => c } }",
        "use futures::StreamExt as _;",
    ] {
        fails(text, "emit an effect");
    }
}

#[test]
fn a_clock_is_refused_under_every_name() {
    for text in [
        "use std::time::Instant;",
        "use std::time::{Duration, SystemTime};",
        "use std::time::{self, Duration};",
        "use std::time::*;",
        "use std::time as t;",
        "use ::std::{fmt, time as t};",
        "use core::{fmt, time::{self as t}};",
        "fn a() { b(std::time::Instant::now()) }",
        "fn a() -> ::std::time::SystemTime { b() }",
        "fn a() { <std::time::Instant>::c() }",
        "fn a() { Clock::now() }",
        "fn a() { <B as Clock>::now() }",
        "fn a() { b.map(Clock::now) }",
        "fn a() { Utc::now_utc() }",
        "fn a() { b!(std::time::SystemTime) }",
        "macro_rules! a { ($t:ident) => { $t::time::Instant } }",
    ] {
        fails(text, "take the time from the input's `at`");
    }
}

#[test]
fn chance_is_refused_and_so_is_an_order_or_an_address_that_differs() {
    fails("fn a() { uuid::Uuid::new_v4() }", "derive ids");
    fails("fn a() { b.map(Uuid::now_v7) }", "derive ids");
    fails("fn a() -> u64 { rand::random() }", "derive ids");
    fails("use std::collections::HashMap;", "take a BTreeMap");
    fails("use std::collections::{BTreeMap, HashSet as Set};", "take a BTreeMap");
    fails("use std::collections::hash_map::Entry;", "take a BTreeMap");
    fails("use std::collections::{self};", "take a BTreeMap");
    fails("use std::hash::{BuildHasher, Hash};", "`sha2`");
    fails("fn a(b: Set<HashMap<u8, u8>>) {}", "take a BTreeMap");
    fails("fn a() { format!(\"{:p}\", b) }", "an address");
}

#[test]
fn every_module_that_reaches_the_world_is_refused_however_it_is_reached() {
    let modules = INSIDE.iter().flat_map(|name| ["std", "core", "alloc"].map(|root| (root, *name)));
    for (root, module) in modules {
        for text in [
            format!("use {root}::{module}::A;"),
            format!("use {root}::{module};"),
            format!("pub(crate) use {root}::{module} as b;"),
            format!("use {root}::{module}::*;"),
            format!("use {root}::{{fmt, {module}::A}};"),
            format!("use {{crate::b, {root}::{{fmt, {module}::{{A}}}}}};"),
            format!("fn a() {{ use {root}::{module}::A; }}"),
            format!("fn a() {{ {root}::{module}::a(); }}"),
            format!("fn a() -> ::{root}::{module}::A {{ b() }}"),
            format!("fn a() {{ b(1..{root}::{module}::a()) }}"),
            format!("fn a() {{ <{root}::{module}::A as B>::c() }}"),
            format!("fn a() {{ vec![{root}::{module}::a()] }}"),
            format!("macro_rules! a {{ () => {{ ::{root}::{module}::a() }} }}"),
            format!("impl {root}::{module}::A for B {{}}"),
            format!("#[derive({root}::{module}::A)]\nstruct B;"),
        ] {
            let found = problems(DECISION, &text);
            assert_eq!(found.len(), 1, "{text}\n{found:?}");
        }
    }
}

const INSIDE: [&str; 15] = [
    "env", "fs", "io", "net", "os", "process", "thread", "future", "task", "path", "panic", "any",
    "ptr", "arch", "random",
];

#[test]
fn of_sync_only_sharing_is_free() {
    passes("use std::sync::{Arc, OnceLock, Weak};\nfn a() { std::sync::Arc::clone(&b) }");
    for name in ["mpsc", "Mutex", "RwLock", "LazyLock", "atomic::AtomicU64", "Barrier", "self"] {
        fails(&format!("use std::sync::{{Arc, {name}}};"), "it shares and waits for nothing");
    }
}

#[test]
fn output_is_refused_also_by_its_full_path() {
    for name in ["println", "print", "eprintln", "eprint", "dbg"] {
        fails(&format!("fn a() {{ {name}!(\"b\") }}"), "emit an event");
        fails(&format!("fn a() {{ std::{name}!(\"b\") }}"), "emit an event");
    }
    fails("use tracing::info;", "emit an effect");
}

#[test]
fn a_crate_keeps_its_name() {
    for text in ["use std as s;", "use std::{self as s};", "use std;", "fn a() { b!(std, c) }"] {
        fails(text, "no other name");
    }
    fails("use core as c;", "no other name");
    fails("use {crate::b, alloc as c};", "no other name");
    fails("use std::*;", "standard.rs");
    fails("macro_rules! a { ($b:ident) => { std::$b::c() } }", "standard.rs");
    passes("fn a(core: Core) -> u8 { core.b + alloc(core) }");
    for text in ["extern crate core;", "extern crate serde as s;", "extern crate self as us;"] {
        fails(text, "a second name");
    }
    fails("use runtime_ports as p;", "needs its name");
    fails("use runtime_ports::{self as p};", "needs its name");
    fails("use runtime_ports::*;", "name each value");
    fails("macro_rules! a { ($b:ident) => { runtime_types::$b } }", "name each value");
}

#[test]
fn state_outside_of_the_machine_is_refused() {
    for text in [
        "static A: u8 = 1;",
        "static mut A: u8 = 1;",
        "fn a() { static B: Cell<u8> = Cell::new(1); }",
        "macro_rules! a { () => { static B: u8 = 1; } }",
        "impl A { fn a() { static B: OnceLock<u8> = OnceLock::new(); } }",
    ] {
        fails(text, "in no snapshot");
    }
    passes("const A: &'static [&'static str] = &[\"b\"];\nfn a<B: 'static>(b: B) {}");
}

#[test]
fn what_this_check_cannot_read_is_refused() {
    fails("fn a() { unsafe { b() } }", "safe code");
    fails("unsafe impl Send for A {}", "safe code");
    fails("#[path = \"../../other/a.rs\"]\nmod a;", "`#[path]`");
    fails("#[cfg_attr(unix, path = \"../a.rs\")]\nmod a;", "`#[path]`");
    fails("include!(\"../../other/a.rs\");", "write a module");
    passes("const A: &str = include_str!(\"prompt.md\");\nfn a() { let path = \"b\"; }");
    let found = problems("crates/runtime-decision/build.rs", "fn main() {}");
    assert_eq!(found.len(), 1);
}

#[test]
fn code_that_is_written_as_a_string_is_read() {
    let field = |attribute: &str| format!("struct A {{\n    {attribute}\n    b: u64,\n}}");
    for (attribute, says) in [
        ("#[serde(default = \"std::time::SystemTime::now\")]", "the input's `at`"),
        ("#[serde(default = \"Clock::now\")]", "the input's `at`"),
        ("#[serde(rename = \"b\", default = \"Uuid::new_v4\")]", "derive ids"),
        ("#[serde(with = \"runtime_ports::ModelSession\")]", "no value"),
        ("#[cfg_attr(unix, serde(serialize_with = \"std::fs::a\"))]", "emit an effect"),
    ] {
        fails(&field(attribute), says);
        assert!(problems(DECISION, &field(attribute))[0].place.ends_with(":2"), "{attribute}");
    }
    passes(&field("#[serde(default = \"Vec::new\", rename = \"async\", alias = \"static\")]"));
    passes(&field("#[error(\"take no Instant::now, await nothing\")]"));
}

#[test]
fn of_types_and_ports_only_values_are_free() {
    passes("use runtime_ports::{Role, Reply};\nfn a() { runtime_ports::Role::ModelSession }");
    passes("enum B { ModelSession, Sessions }\nfn a() { B::ModelSession }");
    for text in [
        "use runtime_ports::ModelSession;",
        "use runtime_ports::{Role, ModelSession as _};",
        "use ::runtime_ports::model::{ModelSession};",
        "fn a(b: &dyn runtime_ports::ModelSession) {}",
        "fn a() { b!(runtime_ports::ModelSession) }",
        "use runtime_ports::Context;",
        "use runtime_ports::Sessions;",
        "use runtime_ports::Shared;",
    ] {
        fails(text, "no value but a way to the world");
    }
    fails("fn a(b: &OperationContext) {}", "the driver's");
}

#[test]
fn values_are_free() {
    passes(
        "//! Knows no tokio, async or Instant.\n/// Nor a HashMap.\nuse std::{borrow::Cow, \
         collections::{BTreeMap, btree_map::Entry}, fmt::{self, Write as _}, iter::*, \
         sync::Arc, time::Duration};\n#[derive(Debug, serde::Serialize, thiserror::Error)]\n\
         struct A { now: u64, env: u64, path: String }\nimpl fmt::Display for A {}\n\
         fn now(now: u64) -> BTreeMap<u64, Duration> { self.now(a.now, A { now: now }, std::mem::take(&mut b)) }\n\
         fn b() -> Vec<u8> { Vec::<u8>::with_capacity(u8::MAX as usize); \
         core::cmp::max(1, std::u64::MAX); std::matches!(a, b) }",
    );
}

#[test]
fn tests_and_other_crates_are_free() {
    passes(
        "#[cfg(test)]\nmod tests {\n    use std::fs;\n    use rand::a;\n    static A: u8 = 1;\n}",
    );
    let text = "use std::fs;\nasync fn a() {}";
    for path in [
        "crates/runtime-decision/src/a/tests.rs",
        "crates/runtime-decision/tests/a.rs",
        "crates/runtime-decision/benches/a.rs",
        "crates/runtime-decision/fuzz/a.rs",
        "crates/x-adapter/src/a.rs",
    ] {
        assert_eq!(problems(path, text), [], "{path}");
    }
    assert_eq!(problems(DECISION, "#[cfg(not(test))]\nuse std::fs;").len(), 1);
}

#[test]
fn line_fault_and_remedy_are_given() {
    let found = problems(DECISION, "fn a() {\n    std::fs::a();\n}\n\nasync fn b() {}");
    let told: Vec<_> = found.iter().map(Problem::to_string).collect();
    let expected = [
        "crates/runtime-decision/src/a.rs:2: [pure-decision] `std::fs::a` is not for a pure \
         machine; emit an effect and take its outcome as an input",
        "crates/runtime-decision/src/a.rs:5: [pure-decision] `async` is a wait, and only the driver waits; emit an effect and \
         take its outcome as an input",
    ];
    assert_eq!(told, expected);
}
