//! Destinations of outputs. A regular file gets its name only when it is complete; anything else is written to, never replaced.

use crate::failure::{Failure, named};
use crate::inputs;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Maximum number of symbolic links that are resolved here; beyond it the system's own limit applies.
const LINKS: usize = 40;
/// Longest name that its temporary file repeats [bytes]: names of 255 bytes are the longest of usual file systems.
const LONG_NAME: usize = 200;

/// A destination that can be written.
#[derive(Debug)]
pub struct Place {
    /// As it was given, for messages.
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A plain file, there or not: its path without links, and the owner and rights of the file that is there.
    Plain(PathBuf, Option<Metadata>),
    /// A device, a FIFO or another descriptor, open.
    Through(File),
    Stdout,
    Stderr,
}

impl Place {
    /// Opens a destination before the work begins, so that one that cannot be written is refused early. `-` is stdout.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Self::find(path)?.probed()
    }

    /// The same for an output that may replace an input.
    pub fn open_over_input(path: &Path) -> Result<Self, Failure> {
        let kind = kind(path).map_err(Failure::file(path))?;
        Self { path: path.to_owned(), kind }.probed()
    }

    /// Examines the destination. An input of the command is refused.
    fn find(path: &Path) -> Result<Self, Failure> {
        let kind = kind(path).map_err(Failure::file(path))?;
        match &kind {
            Kind::Plain(file, Some(_)) if inputs::contain(file) => Err(Failure::input(format!(
                "{}: is an input of this command; give the output another name",
                named(path)
            ))),
            _ => Ok(Self { path: path.to_owned(), kind }),
        }
    }

    /// Makes a temporary file and removes it: a folder without the right to do so is found before the work is done.
    fn probed(self) -> Result<Self, Failure> {
        if let Kind::Plain(file, old) = &self.kind {
            temporary(file, old.as_ref()).map_err(Failure::file(&self.path))?;
        }
        Ok(self)
    }

    /// True when it is stdout: nothing else may be printed there.
    pub fn is_stdout(&self) -> bool {
        matches!(self.kind, Kind::Stdout)
    }

    /// True when one of the two would overwrite the other, or both would be mixed.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Plain(a, _), Kind::Plain(b, _)) => a == b,
            (Kind::Stdout, Kind::Stdout) | (Kind::Stderr, Kind::Stderr) => true,
            // `2>&1` mixes them on purpose
            (Kind::Stdout, Kind::Stderr) | (Kind::Stderr, Kind::Stdout) => false,
            (a, b) => identity(a).is_some_and(|a| Some(a) == identity(b)),
        }
    }

    /// Its path without links; nothing for stdout and stderr.
    pub fn target(&self) -> Option<PathBuf> {
        match &self.kind {
            Kind::Plain(file, _) => Some(file.clone()),
            Kind::Through(_) => self.path.canonicalize().ok(),
            Kind::Stdout | Kind::Stderr => None,
        }
    }

    /// Its name, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins to write.
    pub fn begin(self) -> Result<Draft, Failure> {
        let end = match self.kind {
            Kind::Plain(to, old) => {
                let file = temporary(&to, old.as_ref()).map_err(Failure::file(&self.path))?;
                End::Named { file, to, old: old.map(Box::new) }
            }
            Kind::Through(file) => End::Through(Box::new(file)),
            Kind::Stdout => End::Through(Box::new(io::stdout())),
            Kind::Stderr => End::Through(Box::new(io::stderr())),
        };
        Ok(Draft { path: self.path, end })
    }

    /// Writes all of it.
    pub fn save(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut draft = self.begin()?;
        draft.put(bytes)?;
        draft.finish()
    }
}

/// A file of these bytes.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    Place::find(path)?.save(bytes)
}

/// An output in the making.
///
/// Bytes go to the system at once and not through a buffer: a process that is killed loses the step at hand only.
pub struct Draft {
    path: PathBuf,
    end: End,
}

enum End {
    /// A plain file under a temporary name, removed when it is given up.
    Named {
        file: NamedTempFile,
        to: PathBuf,
        /// The file that is replaced.
        old: Option<Box<Metadata>>,
    },
    Through(Box<dyn Write>),
    /// The reader of a FIFO or pipe has gone away: that is no failure, and the rest is left out.
    Closed,
}

impl Draft {
    /// Adds bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match &mut self.end {
            End::Named { file, .. } => file.write_all(bytes),
            End::Through(out) => out.write_all(bytes).and_then(|()| out.flush()),
            End::Closed => Ok(()),
        };
        match written {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => self.end = End::Closed,
            other => other.map_err(Failure::file(&self.path))?,
        }
        Ok(())
    }

    /// Gives a plain file its name.
    pub fn finish(self) -> Result<(), Failure> {
        let End::Named { file, to, old } = self.end else { return Ok(()) };
        // what came to this place since it was opened is not replaced either
        let given = match to.symlink_metadata() {
            Ok(there) if !there.is_file() => Err((io::Error::other("is not a plain file any more"), file)),
            _ => {
                // rights that cannot be given again are no reason to lose the content
                _ = old.map(|old| inherit(file.as_file(), &old));
                file.persist(&to).map(drop).map_err(|e| (e.error, e.file))
            }
        };
        given.map_err(|(error, file)| {
            // a folder that was removed took the temporary file with it
            let left = file.keep().ok().filter(|(_, path)| path.exists());
            let left = left.map(|(_, path)| format!("; what was written is in {}", named(&path)));
            Failure::input(format!("{}: {}{}", named(&self.path), reason(&error), left.unwrap_or_default()))
        })
    }
}

/// What stands at a path.
fn kind(path: &Path) -> io::Result<Kind> {
    if path == Path::new("-") {
        return Ok(Kind::Stdout);
    }
    if let Some(descriptor) = descriptor(path) {
        return open_descriptor(&descriptor);
    }
    match path.metadata() {
        Ok(there) if there.is_dir() => Err(io::Error::other("is a folder, not a file")),
        Ok(there) => {
            // neither made nor cut; the system's own guards on links and rights speak here
            let file = OpenOptions::new().write(true).open(path)?;
            if file.metadata()?.is_file() != there.is_file() {
                return Err(io::Error::other("was replaced while it was opened"));
            }
            if there.is_file() { Ok(Kind::Plain(path.canonicalize()?, Some(there))) } else { Ok(Kind::Through(file)) }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => new_file(path).map(|file| Kind::Plain(file, None)),
        Err(e) => Err(e),
    }
}

/// The path of a file that is not there yet.
fn new_file(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = path.read_link() {
        let message =
            format!("is a link to {}, which is not there; make that file or remove the link", target.display());
        return Err(io::Error::other(message));
    }
    let name = path.file_name().ok_or_else(|| io::Error::other("is not the name of a file"))?;
    // `name/` and `name/.` are folders; the last component alone does not show it
    if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) {
        return Err(io::Error::other("ends as the name of a folder, not of a file"));
    }
    Ok(folder_of(path).canonicalize()?.join(name))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The descriptor of a process that a path leads to, as /dev/stdout does. What it stands for may be a plain file, but
/// a new file in its place would not be what stdout writes to.
fn descriptor(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = folder_of(&path).canonicalize().ok()?;
        if folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd")) {
            return Some(folder.join(path.file_name()?));
        }
        path = folder.join(path.read_link().ok()?);
    }
    None
}

fn open_descriptor(path: &Path) -> io::Result<Kind> {
    let own = Path::new("/proc/self/fd").canonicalize().ok();
    let is_own = path.parent().is_some_and(|p| Some(p) == own.as_deref() || p == Path::new("/dev/fd"));
    match path.file_name().and_then(|name| name.to_str()) {
        Some("1") if is_own => return Ok(Kind::Stdout),
        Some("2") if is_own => return Ok(Kind::Stderr),
        _ => {}
    }
    // a plain file behind a descriptor is added to: its beginning may be of others
    let plain = path.metadata()?.is_file();
    OpenOptions::new().write(true).append(plain).open(path).map(Kind::Through)
}

/// A file beside its place, with a random name that was not there before, neither as file nor as link.
fn temporary(to: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut prefix = to.file_name().filter(|name| name.len() <= LONG_NAME).unwrap_or("sinew".as_ref()).to_owned();
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part").rand_bytes(8);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A new file has the usual rights, less the process's mask. The content of a file that is replaced is not
        // readable by others while it is written either.
        let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o600);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = old;
    builder.tempfile_in(folder_of(to)).map_err(|e| io::Error::new(e.kind(), reason(&e)))
}

/// Gives a new file the owner, group and rights of the one that it replaces, as far as the system permits.
#[cfg(unix)]
fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    // set-user-id and set-group-id were given to the old content
    let mut mode = old.mode() & 0o777;
    // Only root may change the owner; a group may be one of the process's own.
    _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    if file.metadata()?.gid() != old.gid() {
        // members of the new group had the rights of others before
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Device and inode: equal for all names and descriptors of one file.
#[cfg(unix)]
fn identity(kind: &Kind) -> Option<(u64, u64)> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let facts = match kind {
        Kind::Plain(_, old) => old.clone(),
        Kind::Through(file) => file.metadata().ok(),
        Kind::Stdout => io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata()).ok(),
        Kind::Stderr => io::stderr().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata()).ok(),
    };
    facts.map(|facts| (facts.dev(), facts.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Kind) -> Option<(u64, u64)> {
    None
}

/// Refuses two outputs at one place; true when one of them takes stdout.
pub fn apart(places: &[&Place]) -> Result<bool, Failure> {
    for (k, place) in places.iter().enumerate() {
        if places[..k].iter().any(|other| other.is_same(place)) {
            return Err(shared(place));
        }
    }
    Ok(places.iter().any(|place| place.is_stdout()))
}

/// Two outputs at this place.
pub fn shared(place: &Place) -> Failure {
    Failure::input(format!("{}: two outputs cannot have one place", named(place.path())))
}

/// A folder for outputs, created if it does not exist.
pub fn folder(path: &Path) -> Result<(), Failure> {
    let refused = |reason: &str| Err(Failure::input(format!("{}: {reason}", named(path))));
    if path == Path::new("-") {
        return refused("a folder is needed here, stdout is none (a folder of this name is ./-)");
    }
    match path.metadata() {
        Ok(there) if !there.is_dir() => refused("is not a folder"),
        _ => std::fs::create_dir_all(path).map_err(Failure::file(path)),
    }
}

/// The system's reason without the temporary name around it.
fn reason(e: &io::Error) -> String {
    e.get_ref().and_then(|inner| inner.source()).map_or_else(|| e.to_string(), ToString::to_string)
}
