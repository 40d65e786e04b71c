//! Asking `benches/oracle.py`: the virtual environment, one process for all questions of a law, and answers read back.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What is asked about an instance; see `benches/oracle.py`.
#[derive(Debug, Clone, Copy)]
pub enum Question {
    Late,
    Peak,
    /// Of this flavor.
    Pool(usize),
    /// All flavors together.
    Mixed,
}

/// What CP-SAT knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Optimal(i64),
    Infeasible,
    /// Its time ended: what it found, if anything, and its bound.
    Open(Option<i64>, i64),
}

impl Answer {
    /// No answer is less; `None` where there is none at all.
    pub fn bound(self) -> Option<i64> {
        match self {
            Self::Optimal(value) => Some(value),
            Self::Infeasible => None,
            Self::Open(_, bound) => Some(bound),
        }
    }

    /// Something that is possible.
    pub fn value(self) -> Option<i64> {
        match self {
            Self::Optimal(value) => Some(value),
            Self::Infeasible => None,
            Self::Open(value, _) => value,
        }
    }
}

/// One answer per question, in order; `None` where there is no Python to ask.
pub fn ask(questions: &[(Question, &str)]) -> Option<Vec<Answer>> {
    let python = python()?;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut lines = String::new();
    for (number, (question, text)) in questions.iter().enumerate() {
        let path = folder.path().join(format!("{number}.txt"));
        std::fs::write(&path, text).expect("a temporary file can be written");
        let path = path.display();
        lines += &match question {
            Question::Late => format!("late {path}\n"),
            Question::Peak => format!("peak {path}\n"),
            Question::Pool(flavor) => format!("pool {flavor} {path}\n"),
            Question::Mixed => format!("mixed {path}\n"),
        };
    }
    let mut child = Command::new(python)
        .arg(root().join("benches/oracle.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python of the virtual environment starts");
    child.stdin.take().expect("its input is piped").write_all(lines.as_bytes()).expect("it reads its input");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "benches/oracle.py ended with {}", output.status);
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    let answers: Vec<Answer> = printed.lines().map(answer).collect();
    assert_eq!(answers.len(), questions.len(), "one answer for each question:\n{printed}");
    Some(answers)
}

fn answer(line: &str) -> Answer {
    let number = |word: &str| word.parse::<i64>().ok();
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["optimal", value, _] => Answer::Optimal(number(value).expect("an optimum is a number")),
        ["infeasible", ..] => Answer::Infeasible,
        ["open", value, bound] => Answer::Open(number(value), number(bound).expect("a bound is a number")),
        _ => panic!("read `{line}`; expected an answer"),
    }
}

/// The Python of the virtual environment, made by the first who asks.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let output = Command::new(root().join("tools/venv.sh")).output().expect("tools/venv.sh starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.code() == Some(3) {
                // Written past the capture of a passing test's output: a skipped law must be seen.
                let skipped = format!("SKIPPED: no second opinion from CP-SAT: {said}");
                std::io::stderr().write_all(skipped.as_bytes()).expect("standard error takes text");
                return None;
            }
            assert!(output.status.success(), "tools/venv.sh failed:\n{said}");
            let path = String::from_utf8(output.stdout).expect("a path is text");
            Some(PathBuf::from(path.trim()))
        })
        .as_deref()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
