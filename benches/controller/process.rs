//! What a process has cost so far, by the kernel's own accounts.

/// User and system time; the kernel counts in hundredths of a second.
pub fn cpu_micros(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let (_, rest) = text.rsplit_once(')').expect("a name stands in brackets");
    let ticks: Vec<u64> = rest.split_whitespace().skip(11).take(2).filter_map(|word| word.parse().ok()).collect();
    ticks.iter().sum::<u64>() * 10_000
}

/// What it holds in memory.
pub fn resident_kib(pid: u32) -> u64 {
    status(pid, "VmRSS:")
}

/// The most that it has held so far.
pub fn most_kib(pid: u32) -> u64 {
    status(pid, "VmHWM:")
}

fn status(pid: u32, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = text.lines().find(|line| line.starts_with(field)).expect("it has memory");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number of KiB")
}
