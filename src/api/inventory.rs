//! GpuInventory: the approved capacity, device by device. Cluster-scoped, short name `gpuinv`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::text_up_to;

pub const KIND: &str = "GpuInventory";

/// The devices that are approved, and what share of a board each is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GpuInventorySpec {
    /// The kinds of device, unique by name.
    #[schemars(length(max = 256))]
    pub devices: Vec<Device>,
}

/// One kind of allocatable device: a whole GPU, a MIG slice, a time-sliced replica, a vGPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Unique within the inventory; rate cards name it.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The physical board, such as `NVIDIA-A100-SXM4-80GB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub board: Option<String>,
    /// The resource pods ask for, such as `nvidia.com/mig-1g.10gb`.
    #[schemars(length(min = 1, max = 317))]
    pub resource_name: String,
    /// The labels of the nodes that carry it.
    #[serde(default, rename = "match", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16, "additionalProperties" = text_up_to(63)))]
    pub node_labels: BTreeMap<String, String>,
    /// The ResourceFlavor that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub flavor: Option<String>,
    /// How many are approved. Absent: the nominal quota of its flavor stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub quantity: Option<u32>,
    /// Memory of one device, in MiB.
    #[serde(default, rename = "memoryMiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub memory_mib: Option<u32>,
    /// The share of a board that one device is. Absent: the whole board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<Fraction>,
    /// What the fraction rests on.
    #[serde(default)]
    pub basis: Basis,
    /// How surely the device behind an allocation is known.
    #[serde(default)]
    pub confidence: Confidence,
}

/// An exact share, at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fraction {
    /// How many parts.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub numerator: u32,
    /// Of how many.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub denominator: u32,
}

/// What the share of a board rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Basis {
    /// A whole board.
    #[default]
    Whole,
    /// MIG compute slices, such as 1 of 7.
    ComputeSlices,
    /// Memory, such as 1 of 8.
    Memory,
    /// One of several time-sliced or MPS replicas.
    Replica,
    /// A vGPU profile.
    VgpuProfile,
}

/// How surely the device behind an allocation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Confidence {
    /// The exact device is known, from the API or a node agent.
    Exact,
    /// The node and its labels are known, not the device.
    #[default]
    Node,
    /// Inferred from metrics.
    Inferred,
    /// Taken as a matter of policy.
    Assumed,
}
