# attack: 21
# tries: make any of forty kernel calls that computing does not need
# kind: reach
# alone: seccomp
# residual: errors in the hundred calls that are allowed
import ctypes
import errno
import platform

X86 = dict(
    add_key=248, bpf=321, clone3=435, fanotify_init=300, fsopen=430, inotify_init1=294, io_uring_setup=425,
    kcmp=312, keyctl=250, landlock_create_ruleset=444, memfd_create=319, memfd_secret=447, mq_open=240,
    msgget=68, name_to_handle_at=303, open_tree=428, perf_event_open=298, personality=135, pidfd_open=434,
    pkey_alloc=330, process_madvise=440, ptrace=101, semget=64, setns=308, setpriority=141, shmget=29,
    signalfd4=289, socketpair=53, splice=275, tee=276, timer_create=222, timerfd_create=283,
    unshare=272, userfaultfd=323, vmsplice=278, sched_setaffinity=203, sched_setscheduler=144, seccomp=317,
    capset=126, setsid=112,
)
ARM = dict(
    add_key=217, bpf=280, clone3=435, fanotify_init=262, fsopen=430, inotify_init1=26, io_uring_setup=425,
    kcmp=272, keyctl=219, landlock_create_ruleset=444, memfd_create=279, memfd_secret=447, mq_open=180,
    msgget=186, name_to_handle_at=264, open_tree=428, perf_event_open=241, personality=92, pidfd_open=434,
    pkey_alloc=289, process_madvise=440, ptrace=117, semget=190, setns=268, setpriority=140, shmget=194,
    signalfd4=74, socketpair=199, splice=76, tee=77, timer_create=107, timerfd_create=85,
    unshare=97, userfaultfd=282, vmsplice=75, sched_setaffinity=122, sched_setscheduler=119, seccomp=277,
    capset=91, setsid=157,
)
libc = ctypes.CDLL(None, use_errno=True)
reached = []
for name, number in {"x86_64": X86, "aarch64": ARM}[platform.machine()].items():
    # Wrong arguments: a call that is let through complains of them, or does something harmless.
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    if result >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        reached.append(name)
if len(reached) > 0:
    print("BREACH", reached)
