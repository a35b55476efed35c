//! Scheduling class, core and timer of the calling thread.

/// What the system allowed.
///
/// An example is at [`crate::run_real_time`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// True under the real-time class.
    pub real_time: bool,
    /// True when the thread stays on the requested core.
    pub pinned: bool,
    /// What was refused and the remedy, or nothing.
    pub refused: Vec<String>,
}

#[cfg(target_os = "linux")]
pub(super) fn request(priority: Option<u8>, core: Option<u16>) -> Scheduling {
    let mut scheduling = Scheduling::default();
    // SAFETY: the call takes numbers only. A timer slack of 1 ns: sleeps end at their time, not up to 50 µs later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
    if let Some(core) = core {
        scheduling.pinned = pin(core);
        if !scheduling.pinned {
            scheduling.refused.push(format!("core {core}: {}; choose another core", last_error()));
        }
    }
    if let Some(priority) = priority {
        // SAFETY: all bytes zero are a valid sched_param.
        let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
        parameters.sched_priority = i32::from(priority);
        // SAFETY: 0 is the calling thread, and the pointer is valid during the call.
        let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
        scheduling.real_time = result == 0;
        if result != 0 {
            let reason = last_error();
            let remedy = "allow it by `ulimit -r 50` or CAP_SYS_NICE";
            scheduling.refused.push(format!("real-time priority {priority}: {reason}; {remedy}"));
        }
    }
    scheduling
}

#[cfg(target_os = "linux")]
fn pin(core: u16) -> bool {
    if usize::from(core) >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: all bytes zero are the empty set; the core is within the set, and the pointer is valid during the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(usize::from(core), &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0
    }
}

#[cfg(target_os = "linux")]
fn last_error() -> String {
    std::io::Error::last_os_error().to_string()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn request(priority: Option<u8>, core: Option<u16>) -> Scheduling {
    let mut scheduling = Scheduling::default();
    if priority.is_some() || core.is_some() {
        scheduling.refused.push("real-time priority and cores are set on Linux only".to_owned());
    }
    scheduling
}
