//! Builds the page from `web/` with npm and writes a list of its files for `include!`. Without npm a placeholder page
//! that states this is embedded; everything else works.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SORRY: &str = "<!doctype html><title>Sinew</title><p>This build has no viewer page, because npm was missing or failed \
    when it was made. Install Node.js 20 with npm, run <code>cargo clean -p sinew-server</code> and build again.";

fn main() {
    let web = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../web");
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo"));
    for file in ["package.json", "package-lock.json", "index.html", "vite.config.ts", "tsconfig.json", "src"] {
        println!("cargo:rerun-if-changed={}", web.join(file).display());
    }
    let dist = out.join("page");
    let built = install(&web).and_then(|()| bundle(&web, &dist));
    if let Err(reason) = &built {
        println!("cargo:warning=no viewer page: {reason}");
        let _ = fs::remove_dir_all(&dist);
        fs::create_dir_all(&dist).expect("OUT_DIR can be written");
        fs::write(dist.join("index.html"), SORRY).expect("OUT_DIR can be written");
    }
    let mut files = Vec::new();
    list(&dist, &dist, &mut files);
    write(&out.join("page.rs"), files);

    // Thumbnails of the scenes, as many as exist. The parent folder is watched because this folder may be missing.
    let scenes = web.join("../scenes");
    println!("cargo:rerun-if-changed={}", scenes.display());
    let thumbs = fs::canonicalize(scenes.join("thumbs")).unwrap_or_default();
    let mut files = Vec::new();
    list(&thumbs, &thumbs, &mut files);
    files.retain(|(name, _)| name.ends_with(".png"));
    files.iter_mut().for_each(|(name, _)| name.truncate(name.len() - 4));
    write(&out.join("thumbs.rs"), files);
}

/// Names and bytes of files, for `include!`.
fn write(to: &Path, mut files: Vec<(String, PathBuf)>) {
    files.sort();
    let entries: Vec<String> =
        files.iter().map(|(name, path)| format!("({name:?}, include_bytes!({path:?}) as &[u8])")).collect();
    fs::write(to, format!("&[{}]", entries.join(", "))).expect("OUT_DIR can be written");
}

/// Installs the npm packages unless they are already installed for this lock file.
fn install(web: &Path) -> Result<(), String> {
    let stamp = web.join("node_modules/.package-lock.json");
    let age = |path: PathBuf| fs::metadata(path).and_then(|m| m.modified());
    if let (Ok(installed), Ok(lock)) = (age(stamp), age(web.join("package-lock.json")))
        && installed >= lock
    {
        return Ok(());
    }
    // no package may run a script of its own. `npm ci` installs what the lock file says and nothing else, but refuses
    // a lock file that lacks the native parts of other platforms; the rest is then held to the lock file all the same
    run(web, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .or_else(|_| run(web, &["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]))
}

fn bundle(web: &Path, dist: &Path) -> Result<(), String> {
    run(web, &["run", "build", "--", "--outDir", &dist.display().to_string(), "--emptyOutDir"])
}

fn run(web: &Path, words: &[&str]) -> Result<(), String> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let done =
        Command::new(npm).args(words).current_dir(web).output().map_err(|e| format!("npm cannot be run ({e})"))?;
    if done.status.success() {
        return Ok(());
    }
    // compilers report errors on stdout, npm on stderr
    let output = [String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr)].join("\n");
    let mut lines = output.lines().filter(|l| !l.trim().is_empty());
    let reason = lines.clone().find(|l| l.contains("error")).or_else(|| lines.next_back()).unwrap_or("no message");
    Err(format!("npm {} failed: {reason}", words.join(" ")))
}

fn list(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            list(root, &path, files);
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push((name.to_string_lossy().replace('\\', "/"), path.clone()));
        }
    }
}
