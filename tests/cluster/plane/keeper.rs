//! Processes that do not outlive the tests, whatever ends them.
//!
//! Each is started by one thread that lives as long as the test binary, under `setpriv --pdeathsig KILL`: the kernel ends it
//! with that thread. What a process prints goes to a file of its own.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;

type Order = (Command, Sender<io::Result<Child>>);

/// The thread that starts processes: were it the thread of a test, they would end with that test.
fn spawn(command: Command) -> io::Result<Child> {
    static KEEPER: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();
    let keeper = KEEPER.get_or_init(|| {
        let (orders, inbox) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                // Nobody waits for the answer only when the test has ended already.
                drop(answer.send(command.spawn()));
            }
        });
        Mutex::new(orders)
    });
    let (answer, started) = channel();
    keeper.lock().expect("the keeper lives").send((command, answer)).expect("the keeper listens");
    started.recv().expect("the keeper answers")
}

/// One running part.
pub struct Part {
    pub name: String,
    program: PathBuf,
    arguments: Vec<String>,
    log: PathBuf,
    child: Option<Child>,
}

impl Part {
    /// Starts `program`, with what it prints in `folder/name.log`.
    pub fn start(name: &str, program: &Path, arguments: Vec<String>, folder: &Path) -> Self {
        let log = folder.join(format!("{name}.log"));
        let mut part = Self { name: name.to_owned(), program: program.to_owned(), arguments, log, child: None };
        part.again();
        part
    }

    /// Starts it again with the same arguments, after `kill`.
    pub fn again(&mut self) {
        self.kill();
        let log = File::options().create(true).append(true).open(&self.log).expect("the log can be written");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.program).args(&self.arguments);
        command.stdin(Stdio::null()).stderr(log.try_clone().expect("a log has two writers")).stdout(log);
        let child = spawn(command).unwrap_or_else(|error| panic!("{} does not start: {error}", self.name));
        self.child = Some(child);
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only for a process that has ended by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Sends a signal by name, such as `STOP`, `CONT` or `TERM`.
    pub fn signal(&self, name: &str) {
        let child = self.child.as_ref().expect("a signal is sent to what runs");
        let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{} does not take {name}", self.name);
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The exit code, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.try_wait().ok().flatten()?;
        Some(status.to_string())
    }

    /// The last lines it printed, for a failure's message.
    pub fn tail(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }

    pub fn log(&self) -> &Path {
        &self.log
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.kill();
    }
}
