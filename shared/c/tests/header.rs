//! The header says what the library has: constants, structures, functions. None of them changes
//! without a new version of the interface.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use phaselock::wire::control::ClientMessage;
use phaselock::wire::disconnect::Code;
use phaselock::wire::talk::Audience;
use phaselock_c::layout::{CONSTANTS, STRUCTURES};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn header() -> String {
    fs::read_to_string(folder().join("include/phaselock.h")).expect("the header")
}

/// Returns a text without comments, with single spaces.
fn plain(text: &str) -> String {
    let mut rest = text;
    let mut without = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        without += before;
        rest = after.split_once("*/").expect("comments end").1;
    }
    without += rest;
    without.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compiles a program in C, with all warnings as errors.
fn compile(source: &Path, to: &Path) {
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.arg("-I").arg(folder().join("include")).arg("-o").arg(to);
    let output = command.arg(source).output().expect("there is a C compiler, as `ring` needs one");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn constants_and_structures_are_those_of_the_library() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut program = "#include <phaselock.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    let mut print = |name: &str, value: &str| {
        program += &format!("printf(\"{name} %lld\\n\", (long long)({value}));\n");
    };
    let mut expected = BTreeMap::new();
    for (name, value) in CONSTANTS {
        print(name, name);
        expected.insert((*name).to_owned(), *value);
    }
    for (of, size, fields) in STRUCTURES {
        print(of, &format!("sizeof({of})"));
        expected.insert((*of).to_owned(), *size as i64);
        for (field, offset, size) in *fields {
            print(&format!("{of}.{field}@"), &format!("offsetof({of}, {field})"));
            print(&format!("{of}.{field}"), &format!("sizeof((({of} *)0)->{field})"));
            expected.insert(format!("{of}.{field}@"), *offset as i64);
            expected.insert(format!("{of}.{field}"), *size as i64);
        }
    }
    program += "return 0;\n}\n";
    let (source, binary) = (dir.path().join("probe.c"), dir.path().join("probe"));
    fs::write(&source, program).expect("written");
    compile(&source, &binary);
    let output = Command::new(&binary).output().expect("it runs").stdout;
    let output = String::from_utf8(output).expect("text");
    let found = output.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    assert_eq!(found.collect::<BTreeMap<_, i64>>(), expected);
}

#[test]
fn the_shared_library_is_named_by_its_version() {
    let script = fs::read_to_string(folder().join("build.rs")).expect("the build script");
    let (_, version) = CONSTANTS.iter().find(|it| it.0 == "PHASELOCK_ABI").expect("a version");
    assert!(script.contains(&format!("-soname,libphaselock_c.so.{version}\"")), "{script}");
}

#[test]
fn each_constant_of_the_header_is_compared() {
    let errors = fs::read_to_string(folder().join("src/error.rs")).expect("the errors");
    let text = header();
    let enumerated = text.lines().filter_map(|line| line.trim().split_once(" = -"));
    let mut seen = 0;
    for (name, rest) in enumerated {
        let code = rest.split([',', ' ', '/']).next().expect("a number");
        let variant: String = name.trim_start_matches("PHASELOCK_").split('_').map(camel).collect();
        assert!(errors.contains(&format!("{variant} = -{code},")), "{name}");
        seen += 1;
    }
    assert_eq!(seen, errors.matches(" = -").count(), "each error is in the header");
    for line in text.lines().filter_map(|line| line.strip_prefix("#define PHASELOCK_")) {
        let name = format!("PHASELOCK_{}", line.split_whitespace().next().expect("a name"));
        let known = CONSTANTS.iter().any(|(constant, _)| *constant == name);
        assert!(known || name == "PHASELOCK_H", "{name} is not compared");
    }
}

#[test]
fn reasons_and_requests_are_those_of_the_wire() {
    let constants: BTreeMap<_, _> = CONSTANTS.iter().copied().collect();
    let reasons = constants.iter().filter_map(|(name, value)| {
        let words = name.strip_prefix("PHASELOCK_REASON_")?;
        Some((*value, words.split('_').map(camel).collect::<String>()))
    });
    let codes = Code::ALL.iter().map(|code| (u16::from(*code).into(), format!("{code:?}")));
    assert_eq!(reasons.collect::<BTreeMap<_, _>>(), codes.collect());
    let chat = ClientMessage::Chat { to: Audience::All, text: String::new() };
    let request = ClientMessage::Game { number: 0, bytes: Vec::new() };
    for (name, message) in [("CHAT", chat), ("REQUEST", request)] {
        let code = constants[&*format!("PHASELOCK_REFUSED_{name}")];
        assert_eq!(code, i64::from(message.kind()), "{name}");
    }
}

fn camel(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_owned() + &rest.to_lowercase()
}

/// Returns a parameter or a result of C as Rust writes it.
fn in_rust(c: &str) -> String {
    let (constant, c) = c.strip_prefix("const ").map_or((false, c), |rest| (true, rest));
    let (base, is_pointer) = c.strip_suffix('*').map_or((c, false), |base| (base, true));
    let base = match base.trim() {
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "uint8_t" => "u8",
        "size_t" => "usize",
        "double" => "f64",
        "char" => "c_char",
        "phaselock_game" | "phaselock_client" => "u64",
        "phaselock_options" => "JoinOptions",
        "phaselock_entity" => "ShownEntity",
        "phaselock_player" => "ListedPlayer",
        "phaselock_event" => "PolledEvent",
        "phaselock_status" => "ClientStatus",
        other => panic!("the type {other} is new"),
    };
    match (is_pointer, constant) {
        (false, _) => base.to_owned(),
        (true, true) => format!("*const {base}"),
        (true, false) => format!("*mut {base}"),
    }
}

/// Returns the exported functions, each with its signature.
fn exported() -> BTreeMap<String, String> {
    let exports = fs::read_to_string(folder().join("src/exports.rs")).expect("the exports");
    exports
        .split("extern \"C\" fn ")
        .skip(1)
        .map(|text| {
            let signature = text.split_once(" {").expect("a body").0;
            let signature = signature.split_whitespace().collect::<Vec<_>>().join(" ");
            let (name, rest) = signature.split_once('(').expect("parameters");
            (name.to_owned(), rest.trim_start().replace(", )", ")"))
        })
        .collect()
}

#[test]
fn functions_are_those_of_the_library() {
    let text = plain(&header());
    let declared: BTreeMap<_, _> = text
        .split(';')
        .filter(|part| part.ends_with(')') && !part.contains("typedef"))
        .map(|part| {
            let (before, parameters) = part.rsplit_once('(').expect("parameters");
            let at = before.rfind("phaselock_").expect("a name");
            let (result, name) = before.split_at(at);
            // The first function follows the declarations of C++ and types.
            let result = ["const char *", "uint32_t", "int32_t"]
                .into_iter()
                .find(|it| result.trim_end().ends_with(it))
                .expect("a result");
            let parameters =
                parameters.trim_end_matches(')').split(", ").filter(|it| *it != "void");
            let parameters = parameters.map(|parameter| {
                let at = parameter.rfind([' ', '*']).expect("type and name") + 1;
                let (of, name) = parameter.split_at(at);
                format!("{name}: {}", in_rust(of.trim_end()))
            });
            let parameters = parameters.collect::<Vec<_>>().join(", ");
            (name.to_owned(), format!("{parameters}) -> {}", in_rust(result)))
        })
        .collect();
    assert!(declared.len() > 15, "{declared:?}");
    assert_eq!(declared, exported());
}

/// Returns all that programs are compiled against, in lines.
fn interface() -> String {
    let mut text = String::new();
    for (name, value) in CONSTANTS {
        text += &format!("{name} = {value}\n");
    }
    for (name, size, fields) in STRUCTURES {
        text += &format!("{name}: {size} bytes\n");
        for (field, offset, size) in *fields {
            text += &format!("{name}.{field}: {size} bytes at {offset}\n");
        }
    }
    for (name, signature) in exported() {
        text += &format!("{name}({signature}\n");
    }
    text
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_interface_never_changes_within_a_version() {
    let frozen = fs::read_to_string(folder().join("tests/interface.txt")).expect("the interface");
    // If something is only new, add its lines to the file. Otherwise raise `PHASELOCK_ABI`, too.
    assert_eq!(interface(), frozen, "programs that are compiled already would break");
}
