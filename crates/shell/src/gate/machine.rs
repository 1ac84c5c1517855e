//! What only the machine can tell about a command that is SAFE by its words.
//!
//! Goes in: a ruling, and the place where the command would run. Comes out: the same ruling, or one that asks. Never: a verdict that
//! is less strict, a look at anything for a command that does not run at once.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use flate2::read::GzDecoder;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::gate::expand::expand;
use crate::gate::resolve_names::is_proxied;
use crate::policy::{Files, Policy};
use crate::{Impact, Profile, Ruling, Setting, Verdict};

/// Why a command asks.
struct MachineObjection {
    rule: &'static str,
    what: String,
}

/// Makes a SAFE command ask where what it would read is not what its words say. `is_here` if it runs on this machine: then
/// its patterns are expanded.
pub(super) fn examine(ruling: Ruling, policy: &Policy, setting: &Setting, is_here: bool) -> Ruling {
    let is_safe = ruling.verdict == Verdict::Safe;
    let ruling = if is_safe && is_here { expand(ruling, policy) } else { ruling };
    if ruling.verdict != Verdict::Safe {
        return ruling;
    }
    let profiles = ruling.profiles();
    let redirected =
        profiles.iter().any(|profile| profile.redirected) && !can_follow(&ruling, policy, setting);
    let redirect = redirected.then(|| MachineObjection {
        rule: Ruling::REDIRECTED,
        what: "it would go wherever the server sends it, and here nobody can judge that".to_owned(),
    });
    let file = || profiles.iter().find_map(|profile| objection(profile, policy, setting));
    let Some(MachineObjection { rule, what }) = redirect.or_else(file) else {
        return ruling;
    };
    Ruling {
        verdict: Verdict::Risky,
        rule: rule.into(),
        reason: what.into(),
        impact: Some(Impact::Change),
        ..ruling
    }
}

/// Tells whether the gate can follow redirects itself: those of one request that no proxy carries, which would look up names by
/// itself.
fn can_follow(ruling: &Ruling, policy: &Policy, setting: &Setting) -> bool {
    let request = ruling.argv.as_deref().filter(|_| ruling.list.is_none());
    !is_proxied(setting) && request.is_some_and(|argv| policy.redirects(argv).is_some())
}

fn objection(profile: &Profile, policy: &Policy, setting: &Setting) -> Option<MachineObjection> {
    let captures = profile.captured.iter().find_map(|name| {
        let what = check_capture(&setting.cwd.join(name)).err()?;
        Some(MachineObjection { rule: Ruling::NO_CAPTURE, what: format!("`{name}` {what}") })
    });
    let table = || {
        let (program, table) = profile.table.as_ref()?;
        let what = check_table(program, table, setting).err()?;
        Some(MachineObjection { rule: Ruling::UNLOADED_TABLE, what })
    };
    captures
        .or_else(table)
        .or_else(|| {
            profile.read.iter().find_map(|name| {
                let what = check_link(name, &policy.files).err()?;
                Some(MachineObjection { rule: Ruling::FOREIGN_LINK, what: format!("`{name}` {what}") })
            })
        })
        .or_else(|| {
            let is_folder = |name: &&String| profile.no_folders && Path::new(name).is_dir();
            let name = profile.read.iter().find(is_folder)?;
            let what = format!("`{name}` is a folder, and the files in it were not judged");
            Some(MachineObjection { rule: Ruling::OTHER_FILES, what })
        })
}

/// Says why reading a table of the packet filter could change the kernel: the old variant of `iptables` registers a table to read it.
fn check_table(program: &str, table: &str, setting: &Setting) -> Result<(), String> {
    // A program that is missing says so itself.
    let Some(path) = setting.programs.find(program).ok().and_then(|path| fs::canonicalize(path).ok()) else {
        return Ok(());
    };
    let family = if program.starts_with("ip6") { "ip6" } else { "ip" };
    let names = fs::read_to_string(format!("/proc/net/{family}_tables_names")).unwrap_or_default();
    match registers_nothing(&path, &names, table) {
        true => Ok(()),
        false => Err(format!(
            "`{program}` would register the table `{table}` in the kernel, which has none so far"
        )),
    }
}

/// Returns true if a program reads nf_tables, or if the kernel lists the table already.
fn registers_nothing(path: &Path, names: &str, table: &str) -> bool {
    path.file_name().is_some_and(|name| name == "xtables-nft-multi")
        || names.lines().any(|name| name == table)
}

/// What captures begin with: pcap in both orders of bytes, with micro- and nanoseconds, and pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Says why a file is no capture. One that is missing is left to the program, which says so.
fn check_capture(path: &Path) -> Result<(), String> {
    // A pipe must not make us wait for whoever writes into it.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(Errno::LOOP) => return Err("is a link, and may be any file".to_owned()),
        Err(error) => return Err(format!("cannot be looked at: {error}")),
    };
    match is_capture(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err("is named as a capture and does not begin as one".to_owned()),
        Err(error) => Err(format!("cannot be looked at: {error}")),
    }
}

fn is_capture(mut file: File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let first = beginning(&mut file)?;
    if !first.starts_with(&GZIP) {
        return Ok(CAPTURES.contains(&first));
    }
    let rest = first.as_slice().chain(file);
    // What cannot be unpacked is none either.
    Ok(beginning(&mut GzDecoder::new(rest)).is_ok_and(|first| CAPTURES.contains(&first)))
}

/// Reads the first bytes; what is shorter ends in zeros.
fn beginning(from: &mut impl Read) -> io::Result<[u8; 4]> {
    let mut first = [0; 4];
    let mut filled = 0;
    while let Some(rest) = first.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(first)
}

/// Whoever makes more links than the kernel follows means no good.
const MAX_LINKS: usize = 40;

const OTHERS_MAY_WRITE: u32 = 0o022;

/// Says why a file that is meant to be read is another one. One that is missing is left to the program, which says so.
fn check_link(path: &str, files: &Files) -> Result<(), String> {
    // The kernel makes what is there, and its links lead nowhere else.
    if ["/proc/", "/sys/"].iter().any(|tree| path.starts_with(tree)) {
        return Ok(());
    }
    if files.is_ours(path) {
        Path::new(path).parent().map_or(Ok(()), own_folder)?;
    }
    match resolve(Path::new(path)) {
        Ok(LinkTarget { path: _, by_others: false }) => Ok(()),
        Ok(LinkTarget { path: found, by_others: true }) => {
            match found.to_str().is_some_and(|found| files.allows(found)) {
                true => Ok(()),
                false => Err(format!("is a link to `{}`, which is not meant to be read", found.display())),
            }
        }
        // The program may do no more than we, and says so.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        Err(error) => Err(format!("cannot be looked at: {error}")),
    }
}

/// Makes sure that nobody else can put or lead something into the captures folder.
fn own_folder(folder: &Path) -> Result<(), String> {
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("lies in a folder that cannot be looked at: {error}")),
    };
    let owner = [0, rustix::process::geteuid().as_raw()].contains(&found.uid());
    match found.is_dir() && owner && found.mode() & OTHERS_MAY_WRITE == 0 {
        true => Ok(()),
        false => Err(format!(
            "lies in {}, which is a link, belongs to somebody else or may be written by others",
            folder.display()
        )),
    }
}

/// Where a path leads.
struct LinkTarget {
    path: PathBuf,
    /// Somebody other than root could have made a link in it.
    by_others: bool,
}

/// Follows every link as the kernel does.
fn resolve(path: &Path) -> io::Result<LinkTarget> {
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut place = LinkTarget { path: PathBuf::from("/"), by_others: false };
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            place.path.pop();
            continue;
        }
        let next = place.path.join(&part);
        let found = fs::symlink_metadata(&next)?;
        if !found.is_symlink() {
            place.path = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many links"));
        }
        place.by_others |= found.uid() != 0 || !root_alone(&place.path)?;
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            place.path = PathBuf::from("/");
        }
        parts(&target).collect::<Vec<_>>().into_iter().rev().for_each(|part| left.push_front(part));
    }
    Ok(place)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Tells whether nobody but root may write into a folder and those above it.
fn root_alone(folder: &Path) -> io::Result<bool> {
    let guarded = |found: &Metadata| found.uid() == 0 && found.mode() & OTHERS_MAY_WRITE == 0;
    for folder in folder.ancestors() {
        if !guarded(&fs::symlink_metadata(folder)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn of(bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcap");
        fs::write(&path, bytes).unwrap();
        check_capture(&path)
    }

    #[test]
    fn captures_of_every_form_are_captures_packed_or_not() {
        for magic in CAPTURES {
            let file = [&magic[..], &[0; 20]].concat();
            assert_eq!(of(&file), Ok(()), "{magic:x?}");
            assert_eq!(of(&gzip(&file)), Ok(()), "{magic:x?}");
        }
    }

    #[test]
    fn nothing_else_is_a_capture_whatever_its_name() {
        let key = b"-----BEGIN EC PRIVATE KEY-----".as_slice();
        let packed = gzip(key);
        for bytes in
            [key, b"", b"\xa1\xb2", b"{}", b"\x1f\x8b", b"\x1f\x8b\x08\x00junk", &packed, &gzip(&packed)]
        {
            assert!(of(bytes).unwrap_err().contains("does not begin as one"), "{bytes:x?}");
        }
    }

    #[test]
    fn a_link_a_folder_and_a_pipe_are_no_captures_and_a_missing_file_is_left_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.pcap");
        fs::write(&real, [0x0a, 0x0d, 0x0d, 0x0a]).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link.pcap")).unwrap();
        fs::create_dir(folder.path().join("folder.pcap")).unwrap();
        rustix::fs::mkfifoat(CWD, folder.path().join("pipe.pcap"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["link.pcap", "folder.pcap", "pipe.pcap"] {
            assert!(check_capture(&folder.path().join(name)).is_err(), "{name}");
        }
        assert_eq!(check_capture(&folder.path().join("none.pcap")), Ok(()));
        assert_eq!(check_capture(&real), Ok(()));
    }

    #[test]
    fn only_the_old_iptables_registers_a_table_and_only_one_that_the_kernel_lacks() {
        let (new, old) =
            (Path::new("/usr/sbin/xtables-nft-multi"), Path::new("/usr/sbin/xtables-legacy-multi"));
        assert!(registers_nothing(new, "", "nat"));
        assert!(registers_nothing(old, "raw\nnat\n", "nat"));
        for names in ["", "raw\nfilter\n", "nat6\n"] {
            assert!(!registers_nothing(old, names, "nat"), "{names:?}");
        }
    }

    #[test]
    fn reading_a_packet_filter_names_the_table_that_it_needs() {
        let policy = Policy::builtin().unwrap();
        let table = |command: &str| policy.classify(command).profile.table.map(|(_, table)| table);
        assert_eq!(table("iptables-legacy -nL").as_deref(), Some("filter"));
        assert_eq!(table("iptables -t nat -S").as_deref(), Some("nat"));
        assert_eq!(table("ip6tables-legacy-save -t raw").as_deref(), Some("raw"));
        assert_eq!(table("iptables-save"), None);
    }

    fn files(folder: &Path) -> Files {
        let mut files = Policy::builtin().unwrap().files.clone();
        files.captures_in(folder.to_str().unwrap());
        files
    }

    fn report(folder: &Path) -> String {
        folder.join("x_comparison.md").display().to_string()
    }

    #[test]
    fn a_report_in_a_folder_of_ours_is_read_and_a_missing_one_left_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        assert_eq!(check_link(&report(folder.path()), &files), Ok(()));
        fs::write(report(folder.path()), "").unwrap();
        assert_eq!(check_link(&report(folder.path()), &files), Ok(()));
    }

    #[test]
    fn a_link_in_place_of_a_report_asks_unless_it_leads_to_what_is_meant_to_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        symlink("/etc/shadow", report(folder.path())).unwrap();
        assert!(check_link(&report(folder.path()), &files).unwrap_err().contains("link to `/etc/shadow`"));
        let first = folder.path().join("first_comparison.md");
        symlink(report(folder.path()), &first).unwrap();
        assert!(check_link(first.to_str().unwrap(), &files).is_err());
        let fine = folder.path().join("fine_comparison.md");
        symlink("/etc/hosts", &fine).unwrap();
        assert_eq!(check_link(fine.to_str().unwrap(), &files), Ok(()));
        let round = folder.path().join("round_comparison.md");
        symlink(&round, &round).unwrap();
        assert!(check_link(round.to_str().unwrap(), &files).unwrap_err().contains("too many links"));
    }

    #[test]
    fn a_captures_folder_that_is_a_link_or_that_others_may_write_asks() {
        let place = tempfile::tempdir().unwrap();
        let (folder, link) = (place.path().join("captures"), place.path().join("link"));
        fs::create_dir(&folder).unwrap();
        fs::write(report(&folder), "").unwrap();
        symlink(&folder, &link).unwrap();
        assert!(check_link(&report(&link), &files(&link)).unwrap_err().contains("is a link"));
        for (mode, fine) in [(0o700, true), (0o755, true), (0o775, false), (0o757, false)] {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_link(&report(&folder), &files(&folder)).is_ok(), fine, "{mode:o}");
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&folder, Some(12345), None).unwrap();
            assert!(check_link(&report(&folder), &files(&folder)).is_err());
        }
    }

    #[test]
    fn links_of_root_in_folders_of_root_are_followed() {
        let files = files(Path::new("/nowhere"));
        // On most systems the first is a link of the distribution's.
        for path in ["/etc/os-release", "/etc/resolv.conf", "/proc/net/dev", "/sys/class/net/lo/mtu"] {
            assert_eq!(check_link(path, &files), Ok(()), "{path}");
        }
    }
}
