//! Results on disk: one file a run, named by the hash of all that the run depends on. The file repeats that text, and ends
//! with a checksum: another run of the same hash, or a file that was cut off, is not taken for a result.

use crate::run::Done;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens a folder; makes it where it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.run", XxHash3_64::oneshot(key.as_bytes())))
    }

    /// The result of a run, if it is there whole.
    pub fn find(&self, key: &str, readings: usize) -> Option<Done> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        let (body, sum) = text.trim_end().rsplit_once('\n')?;
        if sum != checksum(body) {
            return None;
        }
        let result = body.strip_prefix(key)?.strip_prefix('\n')?;
        let mut words = result.split(' ');
        let hash = words.next()?.to_owned();
        let faults = words.next()?.parse().ok()?;
        let bits = |word: &str| u64::from_str_radix(word, 16).ok().map(f64::from_bits);
        let readings_found = words.map(bits).collect::<Option<Vec<f64>>>()?;
        (readings_found.len() == readings).then_some(Done { hash, faults, readings: readings_found, cached: true })
    }

    /// Keeps a result: under a temporary name first, so that a run that is killed leaves nothing half.
    pub fn keep(&self, key: &str, done: &Done) -> io::Result<()> {
        let readings: String = done.readings.iter().map(|x| format!(" {:016x}", x.to_bits())).collect();
        let body = format!("{key}\n{} {}{readings}", done.hash, done.faults);
        let to = self.path(key);
        let from = to.with_extension(format!("{}.part", std::process::id()));
        let mut file = fs::File::create(&from)?;
        file.write_all(format!("{body}\n{}\n", checksum(&body)).as_bytes())?;
        drop(file);
        fs::rename(&from, &to)
    }
}

fn checksum(text: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_comes_back_bit_for_bit_and_a_damaged_one_does_not() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("sinew-sweep-cache-{}", std::process::id()));
        let cache = Cache::open(&folder)?;
        let done = Done { hash: "0123".into(), faults: 2, readings: vec![0.1 + 0.2, f64::NAN, -0.0], cached: true };
        cache.keep("a key\nof two lines", &done)?;
        let found = cache.find("a key\nof two lines", 3).expect("it was kept");
        assert_eq!((found.hash.as_str(), found.faults), ("0123", 2));
        let bits = |d: &Done| d.readings.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&done));
        assert!(cache.find("a key\nof two lines", 2).is_none() && cache.find("another", 3).is_none());
        let path = cache.path("a key\nof two lines");
        let text = fs::read_to_string(&path)?;
        for bad in [&text[..text.len() - 3], &text.replace("0123", "0124"), ""] {
            fs::write(&path, bad)?;
            assert!(cache.find("a key\nof two lines", 3).is_none());
        }
        fs::remove_dir_all(&folder)
    }
}
