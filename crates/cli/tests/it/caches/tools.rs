//! Package managers, as they are: what they have to write is kept, and nothing of the user's changes.

use std::fs;
use std::path::Path;
use std::process::Command;

use runward_testkit::skipped;

use super::{Place, User, done};

/// Runs something that prepares a test.
#[expect(clippy::disallowed_methods, reason = "a test prepares what the program under test works with")]
fn run(directory: &Path, program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).current_dir(directory).output().ok()?;
    assert!(output.status.success(), "{program} {words:?}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

const LIBRARY: &str = "[package]\nname = \"small\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
    description = \"x\"\nlicense = \"MIT\"\n[workspace]\n";

const PROGRAM: &str = "[package]\nname = \"large\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
    [dependencies]\nsmall = \"1\"\n[workspace]\n";

/// A registry of one crate, beside the workspace that depends on it.
fn make_registry(place: &Place, cargo: &str) {
    for name in ["small/src", "registry/index/sm/al", "work/src", "work/.cargo"] {
        place.make(name);
    }
    place.write("small/Cargo.toml", LIBRARY);
    place.write("small/src/lib.rs", "pub fn answer() -> u8 { 42 }\n");
    run(
        &place.at("small"),
        cargo,
        &["package", "--offline", "--no-verify", "--allow-dirty", "--target-dir", "target"],
    );
    let made = place.at("small/target/package/small-1.0.0.crate");
    fs::copy(made, place.at("registry/small-1.0.0.crate")).unwrap();
    let sum = run(&place.at("registry"), "sha256sum", &["small-1.0.0.crate"]).unwrap();
    let sum = sum.split_whitespace().next().unwrap();
    let line = format!(
        "{{\"name\":\"small\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"{sum}\",\"features\":{{}},\"yanked\":false}}\n"
    );
    place.write("registry/index/sm/al/small", &line);
    let config =
        "[source.crates-io]\nreplace-with = \"near\"\n[source.near]\nlocal-registry = \"../registry\"\n";
    place.write("work/.cargo/config.toml", config);
    place.write("work/Cargo.toml", PROGRAM);
    place.write("work/src/main.rs", "fn main() { println!(\"{}\", small::answer()); }\n");
}

#[test]
fn cargo_builds_with_what_it_unpacks_from_a_registry() {
    let cargo = env!("CARGO");
    for user in User::all() {
        let mut place = Place::new(user);
        let tools = Path::new(cargo).parent().unwrap().display().to_string();
        place.path = format!("{tools}:/usr/bin:/bin");
        make_registry(&place, cargo);
        let Some(mut client) = place.client() else { return };
        if !super::shell(&mut client, "cargo --version").ok() {
            skipped("the toolchain is out of this user's reach");
            continue;
        }
        let before = place.home();
        for _ in 0..2 {
            let said = done(
                &mut client,
                "cargo run --quiet --offline && rm -r target && ls ~/.cargo/registry/src/*",
            );
            assert!(said.contains("42\nsmall-1.0.0"), "{user:?}: {said}");
        }
        drop(client);
        assert_eq!(place.home(), before, "{user:?}");
        let Some(mut client) = place.client() else { return };
        done(&mut client, "ls -d ~/.cargo/registry/src/*/small-1.0.0");
    }
}

#[test]
fn npm_installs_a_package_and_keeps_its_cache() {
    for user in User::all() {
        let place = Place::new(user);
        for name in ["work/node_modules", "package"] {
            place.make(name);
        }
        place
            .write("package/package.json", "{\"name\":\"small\",\"version\":\"1.0.0\",\"main\":\"main.js\"}");
        place.write("package/main.js", "module.exports = 42;");
        place.write("work/package.json", "{\"name\":\"large\",\"version\":\"1.0.0\"}");
        run(&place.at(""), "tar", &["czf", "work/small.tgz", "package"]);
        let Some(mut client) = place.client() else { return };
        if !super::shell(&mut client, "npm --version").ok() {
            return skipped("there is no npm");
        }
        let before = place.home();
        for _ in 0..2 {
            done(&mut client, "npm install --offline --no-audit --no-fund ./small.tgz");
            assert!(done(&mut client, "node -p 'require(\"small\")'").contains("42"), "{user:?}");
            done(&mut client, "ls ~/.npm/_cacache && rm -r node_modules/small");
        }
        drop(client);
        assert_eq!(place.home(), before, "{user:?}");
    }
}

#[test]
fn pip_installs_a_wheel_and_can_keep_a_cache() {
    let wheel = "import zipfile\nwith zipfile.ZipFile('small-1.0-py3-none-any.whl', 'w') as wheel:\n \
        wheel.writestr('small.py', 'answer = 42\\n')\n \
        wheel.writestr('small-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n')\n \
        wheel.writestr('small-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n \
        wheel.writestr('small-1.0.dist-info/RECORD', '')\n";
    for user in User::all() {
        let place = Place::new(user);
        run(&place.at("work"), "python3", &["-c", wheel]);
        let Some(mut client) = place.client() else { return };
        if !super::shell(&mut client, "python3 -m pip --version").ok() {
            return skipped("there is no pip");
        }
        let before = place.home();
        for _ in 0..2 {
            let line = "python3 -m pip install --no-index --find-links . --target installed --upgrade small 2>&1 && \
                PYTHONPATH=installed python3 -c 'import small; print(small.answer)'";
            let said = done(&mut client, line);
            assert!(said.contains("42") && !said.contains("not writable"), "{user:?}: {said}");
        }
        assert_eq!(place.home(), before, "{user:?}");
    }
}
