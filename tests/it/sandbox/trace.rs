//! What strace saw: the system calls of one run, and which of them the sandboxed command made.

use std::collections::{HashMap, HashSet};

/// The calls that change files, start programs, open sockets or reach out of the sandbox, as strace takes them.
pub(super) const CALLS: &str = "trace=execve,execveat,clone,clone3,fork,vfork,open,openat,openat2,creat,unlink,unlinkat,\
    rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,truncate,ftruncate,fallocate,\
    chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utime,utimes,futimesat,utimensat,setxattr,lsetxattr,fsetxattr,\
    removexattr,lremovexattr,fremovexattr,mq_open,mq_unlink,socket,ioctl,kill,tkill,tgkill,pidfd_send_signal,mount,umount2,\
    setns,unshare,chroot,pivot_root,ptrace,process_vm_readv,process_vm_writev,bpf,keyctl,add_key,init_module,finit_module,\
    delete_module,reboot,sethostname,setdomainname,settimeofday,clock_settime,adjtimex,setsid,open_by_handle_at,memfd_create,\
    io_uring_setup,swapon,swapoff,syslog";

/// The calls that look for a file or read one, beside those of [`CALLS`].
pub(super) const READS: &str = "stat,lstat,newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat,chdir,statfs,\
    getxattr,lgetxattr,listxattr,llistxattr,inotify_add_watch,uselib,connect";

/// One finished call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) process: u32,
    pub(super) name: String,
    /// Everything between the parentheses.
    pub(super) arguments: String,
    /// What it returned, with strace's explanation.
    pub(super) result: String,
}

impl Call {
    /// Tells whether the kernel did what was asked.
    pub(super) fn worked(&self) -> bool {
        self.result.starts_with(|char: char| char.is_ascii_digit())
    }

    /// Tells whether it only reads.
    pub(super) fn reads(&self) -> bool {
        READS.split(',').any(|name| name == self.name)
    }

    /// Returns the line as strace would have written it.
    pub(super) fn line(&self) -> String {
        format!("{} {}({}) = {}", self.process, self.name, self.arguments, self.result)
    }
}

/// Reads strace's output, joining calls that others interrupted.
pub(super) fn read(text: &str) -> Vec<Call> {
    let mut halves: HashMap<u32, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let (Ok(process), rest) = (process.parse::<u32>(), rest.trim_start()) else { continue };
        if let Some(first) = rest.strip_suffix("<unfinished ...>") {
            halves.insert(process, first.trim_end().to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once("resumed>")) {
            Some((_, second)) => halves.remove(&process).unwrap_or_default() + second,
            None => rest.to_owned(),
        };
        calls.extend(call(process, &whole));
    }
    calls
}

fn call(process: u32, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let end = rest.rfind(" = ")?;
    let arguments = rest[..end].trim_end().strip_suffix(')')?;
    Some(Call {
        process,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        result: rest[end + 3..].to_owned(),
    })
}

/// Returns the calls of the commands alone: of every program that the traced one started, with all that it started in turn.
/// Empty where nothing was started.
pub(super) fn of_the_command(calls: &[Call]) -> Vec<&Call> {
    let first = calls.iter().position(|call| call.name.starts_with("execve") && call.worked());
    first.and_then(|first| calls.get(first + 1..)).map(of_those_started).unwrap_or_default()
}

/// Returns the calls of every process that executes a program, from there on, and of all that it started in turn.
pub(super) fn of_those_started(calls: &[Call]) -> Vec<&Call> {
    let mut starts: HashMap<u32, usize> = HashMap::new();
    let executions =
        calls.iter().enumerate().filter(|(_, call)| call.name.starts_with("execve") && call.worked());
    for (at, call) in executions {
        starts.entry(call.process).or_insert(at);
    }
    // A child may be seen before the call that made it returns.
    let mut inside: HashSet<u32> = starts.keys().copied().collect();
    loop {
        let before = inside.len();
        let born = calls
            .iter()
            .filter(|call| {
                matches!(call.name.as_str(), "clone" | "clone3" | "fork" | "vfork") && call.worked()
            })
            .filter(|call| inside.contains(&call.process))
            .filter_map(|call| {
                call.result.split(|char: char| !char.is_ascii_digit()).next()?.parse::<u32>().ok()
            });
        let born: Vec<u32> = born.collect();
        // What a command starts is of the command before it executes anything, too.
        starts.retain(|process, _| !born.contains(process));
        inside.extend(born);
        if inside.len() == before {
            break;
        }
    }
    let started = |at: usize, call: &Call| starts.get(&call.process).is_none_or(|start| at >= *start);
    calls
        .iter()
        .enumerate()
        .filter(|(at, call)| inside.contains(&call.process) && started(*at, call))
        .map(|(_, call)| call)
        .collect()
}

#[test]
fn a_call_that_another_interrupted_is_joined() {
    let text = "7 execve(\"/ghost\", [\"ghost\"], 0x1 /* 3 vars */) = 0\n\
        7 clone(child_stack=NULL, flags=CLONE_VM) = 8\n\
        8 openat(AT_FDCWD</>, \"/x\", O_WRONLY) = 3</x>\n\
        8 execve(\"/bin/a\", [\"a = (b)\"], 0x1 <unfinished ...>\n\
        7 openat(AT_FDCWD</>, \"/log\", O_WRONLY) = 3</log>\n\
        8 <... execve resumed>) = 0\n\
        9 unlink(\"/y\") = -1 EACCES (Permission denied)\n\
        8 vfork() = 9\n\
        8 +++ exited with 0 +++\n";
    let calls = read(text);
    let inside = of_the_command(&calls);
    let seen: Vec<_> = inside.iter().map(|call| (call.process, call.name.as_str(), call.worked())).collect();
    assert_eq!(seen, [(8, "execve", true), (9, "unlink", false), (8, "vfork", true)]);
    assert_eq!(inside[0].arguments, "\"/bin/a\", [\"a = (b)\"], 0x1");
}
