//! `SG080`–`SG099`: limits.

use super::Code;

pub const CODES: &[Code] = &[
    Code {
        code: "SG080",
        title: "too large",
        explanation: "A file is larger than 64 MB, all files together than 256 MB, or what they hold would take too much memory.",
        example: "kubectl get pods,configmaps,jobs -A -o json | stagger plan -",
        fix: "Leave out what is not planned: Pods of finished Jobs, ConfigMaps, Secrets. Large queues are better read from the cluster.",
    },
    Code {
        code: "SG081",
        title: "too many files or objects",
        explanation: "A folder holds more than 10,000 files or is nested deeper than 32 levels, or there are more than 200,000 objects.",
        example: "stagger plan /",
        fix: "Give a narrower path.",
    },
    Code {
        code: "SG082",
        title: "nested too deeply",
        explanation: "Maps and lists are nested deeper than 100 levels. No Kubernetes object comes near it.",
        example: "[[[[[[[[[[[[…]]]]]]]]]]]]",
        fix: "Look for a bracket that is not closed, or a program that wrote the file wrongly.",
    },
    Code {
        code: "SG083",
        title: "aliases repeat too much",
        explanation: "Aliases of aliases can grow a small file into one that fills any memory. Reading stops at 32 MB of repetition.",
        example: "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]",
        fix: "Write the repeated parts out, or generate the manifests.",
    },
    Code {
        code: "SG084",
        title: "more findings than are listed",
        explanation: "Only the first findings are kept, so that one mistake in a generated folder does not fill the screen.",
        example: "stagger lint generated/",
        fix: "Correct the first ones and run it again.",
    },
];
