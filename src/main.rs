//! `stagger`, the command line.

fn main() -> std::process::ExitCode {
    stagger::cli::main()
}
