//! `kubectl stagger`: the same command line as a kubectl plugin.

fn main() -> std::process::ExitCode {
    stagger::cli::main()
}
