//! `SG060`–`SG079`: traces.

use super::Code;

/// The file cannot be read as text, is empty, or holds nothing to import.
pub const FILE: &str = "SG060";
/// The header lacks a column or names one twice.
pub const COLUMNS: &str = "SG061";
/// A row has the wrong number of fields or broken quotes.
pub const SHAPE: &str = "SG062";
/// A field is not a number.
pub const NUMBER: &str = "SG063";
/// A number is out of range.
pub const RANGE: &str = "SG064";
/// Two fields of a row contradict each other.
pub const CONTRADICTION: &str = "SG065";
/// A row repeats a job that was already read.
pub const DUPLICATE: &str = "SG066";
/// A workload fits no flavor of the pool even when it is empty.
pub const TOO_LARGE: &str = "SG067";
/// A limit on rows or line length was reached.
pub const LIMIT: &str = "SG068";
/// A word is not one the format knows.
pub const WORD: &str = "SG069";
/// Something the trace does not say was assumed.
pub const ASSUMED: &str = "SG070";
/// More findings of the same code were left out.
pub const MORE: &str = "SG071";
/// The pool or another setting does not suit the trace.
pub const SETTING: &str = "SG072";
/// A due time that cannot be met even on an idle cluster.
pub const HOPELESS: &str = "SG073";

pub const CODES: &[Code] = &[
    Code {
        code: FILE,
        title: "a trace that cannot be read, or of which nothing is left",
        explanation: "The file is empty, is not UTF-8 text, is too large, or none of its rows can be planned.",
        example: "stagger import philly trace.csv.gz --gpus 64",
        fix: "Unpack a compressed file, save it as UTF-8, or look at the findings that say why rows were left out.",
    },
    Code {
        code: COLUMNS,
        title: "a trace whose header does not fit",
        explanation: "A column that the format needs is missing or named twice; as a note: a column is not used.",
        example: "job_id,user,num_gpu,submit_time,duration",
        fix: "Check that the format named on the command line is the file's. The message lists the columns; their order does not matter.",
    },
    Code {
        code: SHAPE,
        title: "a row of another shape",
        explanation: "The row has more or fewer fields than the header, or a quoted field is not closed on its line. The row is left out.",
        example: "12,\"vc_a,1,0,30",
        fix: "Correct the row, or accept that it is left out: the report counts it.",
    },
    Code {
        code: NUMBER,
        title: "a field that is not a number",
        explanation: "The row is left out. Numbers are plain digits; Standard Workload Format times may have a decimal fraction.",
        example: "12,vc_a,one,0,30",
        fix: "Correct the field, or accept that the row is left out.",
    },
    Code {
        code: RANGE,
        title: "a number out of range",
        explanation: "The row is left out. Offsets and runtimes reach a hundred years, sizes a thousand million; only the Standard Workload Format writes -1 for unknown.",
        example: "12,vc_a,-1,0,30",
        fix: "Correct the field, or accept that the row is left out.",
    },
    Code {
        code: CONTRADICTION,
        title: "fields of a row that contradict each other",
        explanation: "For instance more due times than values, an end before the start, or GPUs asked for without any share of one. The row is left out rather than guessed at.",
        example: "expect_time_list 60-90 beside expect_value_list 10",
        fix: "Correct the row at its source.",
    },
    Code {
        code: DUPLICATE,
        title: "a job that was already read",
        explanation: "The first row of a job counts, the later one is left out.",
        example: "1,vc_a,1,0,…\n1,vc_a,1,5,…",
        fix: "Remove one of the two. If traces were joined, give their jobs different ids.",
    },
    Code {
        code: TOO_LARGE,
        title: "a job larger than every flavor it may use",
        explanation: "It could never start on the pool, so it is left out and counted.",
        example: "stagger import philly trace.csv --gpus 16    # with a job of 32 GPUs",
        fix: "Name a larger pool, or accept that the job is left out.",
    },
    Code {
        code: LIMIT,
        title: "a trace beyond a limit",
        explanation: "A line is too long (the row is left out), or the file has more rows than are read.",
        example: "a line of 100,000 characters",
        fix: "Take a part of the trace with --rows, or correct the line.",
    },
    Code {
        code: WORD,
        title: "a word that the format does not know",
        explanation: "A job type, pod phase, GPU model or time zone is not one of those the format has. The row, or that alternative, is left out.",
        example: "job_type firm",
        fix: "Correct the word.",
    },
    Code {
        code: ASSUMED,
        title: "a value that was rounded",
        explanation: "A value after a due time is not a whole percentage of the full value.",
        example: "expect_value_list 3-1",
        fix: "Nothing, if half a percent does not matter.",
    },
    Code {
        code: MORE,
        title: "more findings of the same code",
        explanation: "Only the first of each code are shown; the report counts all rows that were left out.",
        example: "thousands of rows with one fault",
        fix: "Correct the first ones; they usually share their cause.",
    },
    Code {
        code: SETTING,
        title: "a setting that does not suit the trace",
        explanation: "For instance no pool for a trace that does not know its machine, or a node list with a broken row.",
        example: "stagger import philly trace.csv",
        fix: "Follow the hint: most often --gpus N or --pool FLAVOR=N.",
    },
    Code {
        code: HOPELESS,
        title: "a due time that cannot be met even on an idle cluster",
        explanation: "The job runs longer than the time from its submission until it is due. It is kept, and will be late.",
        example: "duration 60 beside expect_time_list 45",
        fix: "Nothing, if the trace is right.",
    },
];
