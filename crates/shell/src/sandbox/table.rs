//! The system calls that a SAFE command has no use for.

/// Calls that fail in every sandbox: they reach into other processes, the kernel, the clock, or out of the group.
pub(super) const ALWAYS: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_mrelease,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_ioprio_set,
    // Memory, semaphores and messages that outlive a process and belong to nobody's files.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    // The group in which everything can be killed at once.
    libc::SYS_setsid,
    // The kernel itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_lookup_dcookie,
    libc::SYS_fanotify_init,
    // Secrets that other processes keep in the kernel.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_vhangup,
    // Calls that Landlock does not cover: files by handle, another root, programs that are no file.
    libc::SYS_open_by_handle_at,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // The newer half of the mount family; no command in a namespace needs it.
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
];

/// Calls that only a command which enters a namespace may use.
pub(super) const NAMESPACE: &[i64] =
    &[libc::SYS_mount, libc::SYS_umount2, libc::SYS_setns, libc::SYS_unshare];

/// Calls that change a file without writing to it, which Landlock does not see; only `az` keeps its files' modes.
pub(super) const METADATA: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Calls that change files or make them, where nothing may.
pub(super) const WRITES: &[i64] = &[
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that change how a process runs: another one than the caller's is named by its number, the first argument.
pub(super) const OTHERS: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Calls that signal one process by its number; `kill` has a chain of its own.
pub(super) const SIGNALS: &[i64] = &[
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

// The same on every architecture, and newer than what `libc` knows there.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Calls that only this architecture has, of the kind of [`ALWAYS`].
#[cfg(target_arch = "x86_64")]
pub(super) const ALWAYS_HERE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
/// Calls that only this architecture has, of the kind of [`METADATA`].
#[cfg(target_arch = "x86_64")]
pub(super) const METADATA_HERE: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];

/// Calls that only this architecture has, of the kind of [`WRITES`].
#[cfg(target_arch = "x86_64")]
pub(super) const WRITES_HERE: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_link,
    libc::SYS_symlink,
];

/// Calls that only this architecture has, of the kind of [`ALWAYS`].
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALWAYS_HERE: &[i64] = &[];
/// Calls that only this architecture has, of the kind of [`METADATA`].
#[cfg(not(target_arch = "x86_64"))]
pub(super) const METADATA_HERE: &[i64] = &[];
/// Calls that only this architecture has, of the kind of [`WRITES`].
#[cfg(not(target_arch = "x86_64"))]
pub(super) const WRITES_HERE: &[i64] = &[];
