//! Publishing a small set of files.

use super::*;

/// A folder with static files, and one with what the app's build leaves.
fn sources() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in [
        ("static/css/app.css", "@import 'base.css'; a { background: url(../icons.svg#b) }"),
        ("static/css/base.css", "body { margin: 0 }"),
        ("static/icons.svg", "<svg/>"),
        ("static/.hidden", ""),
        ("app/app.js", "export default 1"),
        ("app/app.js.br", "js in brotli"),
        ("app/app.js.gz", "js in gzip"),
        ("app/app_bg.wasm", "module"),
        ("app/app_bg.wasm.br", "module in brotli"),
        ("app/app_bg.wasm.gz", "module in gzip"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("it is writable");
        fs::write(path, content).expect("it is writable");
    }
    folder
}

fn publish_in(folder: &Path) -> Manifest {
    let target = folder.join("target/ui");
    publish(&folder.join("static"), &folder.join("app"), &target).expect("it publishes");
    serde_json::from_slice(&fs::read(target.join("manifest.json")).expect("a manifest")).expect("it is JSON")
}

#[test]
fn a_hash_goes_before_the_extension() {
    assert_eq!(hashed_name("css/app.css", b""), "css/app.e3b0c44298fc1c14.css");
    assert_eq!(hashed_name("app_bg.wasm", b""), "app_bg.e3b0c44298fc1c14.wasm");
    assert_eq!(hashed_name("fonts.v2/LICENSE", b""), "fonts.v2/LICENSE.e3b0c44298fc1c14");
}

#[test]
fn everything_is_published_under_the_manifests_names() {
    let folder = sources();
    let manifest = publish_in(folder.path());
    let ui = folder.path().join("target/ui");
    let names: Vec<&str> = manifest.keys().map(String::as_str).collect();
    assert_eq!(names, ["app.js", "app_bg.wasm", "css/app.css", "css/base.css", "icons.svg"]);
    for hashed in manifest.values() {
        for suffix in ["", ".br", ".gz"] {
            assert!(ui.join(format!("{hashed}{suffix}")).is_file(), "{hashed}{suffix}");
        }
    }
    let module = fs::read(ui.join(format!("{}.br", manifest["app_bg.wasm"]))).expect("it was copied");
    assert_eq!(module, b"module in brotli");
    let sheet = fs::read_to_string(ui.join(&manifest["css/app.css"])).expect("it was written");
    let base = manifest["css/base.css"].trim_start_matches("css/");
    assert_eq!(sheet, format!("@import '{base}'; a {{ background: url(../{}#b) }}", manifest["icons.svg"]));
}

#[test]
fn a_change_reaches_the_names_of_the_sheets_that_refer_to_it() {
    let folder = sources();
    let before = publish_in(folder.path());
    fs::write(folder.path().join("static/css/base.css"), "body { margin: 1px }").expect("it is writable");
    let after = publish_in(folder.path());
    assert_ne!(before["css/base.css"], after["css/base.css"]);
    assert_ne!(before["css/app.css"], after["css/app.css"]);
    assert_eq!(before["icons.svg"], after["icons.svg"]);
    assert!(!folder.path().join("target/ui").join(&before["css/base.css"]).exists(), "old files go");
    assert_eq!(
        fs::read_dir(folder.path().join("target")).expect("it exists").count(),
        1,
        "no work folder stays"
    );
}

#[test]
fn unchanged_files_are_left_alone() {
    let folder = sources();
    publish_in(folder.path());
    let mark = folder.path().join("target/ui/mark");
    fs::write(&mark, "").expect("it is writable");
    publish_in(folder.path());
    assert!(mark.exists(), "the folder was not replaced");
}

#[test]
fn circular_imports_are_refused() {
    let folder = sources();
    fs::write(folder.path().join("static/css/base.css"), "@import 'app.css';").expect("it is writable");
    let result =
        publish(&folder.path().join("static"), &folder.path().join("app"), &folder.path().join("ui"));
    let error = result.expect_err("a circle has no order").to_string();
    assert!(error.contains("css/app.css, css/base.css"), "{error}");
}
