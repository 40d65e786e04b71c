//! GpuInventory: devices that can be told apart, fractions of at most a board.

use super::Judge;
use crate::api::inventory::{Basis, Device, GpuInventorySpec};
use crate::scenario::codes;

pub fn check(spec: &GpuInventorySpec, judge: &mut Judge<'_>) {
    judge.unique("/spec/devices", "/name", spec.devices.iter().map(|device| device.name.as_str()));
    for (index, device) in spec.devices.iter().enumerate() {
        let pointer = format!("/spec/devices/{index}");
        fraction(&pointer, device, judge);
        let same =
            |other: &&Device| other.resource_name == device.resource_name && other.node_labels == device.node_labels;
        if let Some(other) = spec.devices[..index].iter().find(same) {
            let message = format!("`{}` and `{}` have the same resourceName and match", other.name, device.name);
            let finding =
                judge.error(codes::CONTRADICTION, &format!("{pointer}/name"), message, "cannot be told apart");
            finding.hint = Some("match them by labels that differ, such as nvidia.com/gpu.product".to_owned());
        }
    }
}

fn fraction(pointer: &str, device: &Device, judge: &mut Judge<'_>) {
    let Some(fraction) = device.fraction else {
        if device.basis != Basis::Whole {
            let message = format!("the basis is {:?}, but there is no fraction", device.basis);
            let finding =
                judge.error(codes::CONTRADICTION, &format!("{pointer}/basis"), message, "which share of a board?");
            finding.hint = Some("add it, for example fraction: {numerator: 1, denominator: 7}".to_owned());
        }
        return;
    };
    if fraction.numerator > fraction.denominator {
        let message = format!("{}/{} is more than a whole board", fraction.numerator, fraction.denominator);
        judge.error(codes::OUT_OF_BOUNDS, &format!("{pointer}/fraction"), message, "at most 1");
    } else if device.basis == Basis::Whole && fraction.numerator != fraction.denominator {
        let message =
            format!("the basis is Whole, but the fraction is {}/{}", fraction.numerator, fraction.denominator);
        let finding = judge.error(codes::CONTRADICTION, &format!("{pointer}/fraction"), message, "not a whole board");
        finding.hint = Some("say what the fraction rests on: ComputeSlices, Memory, Replica or VgpuProfile".to_owned());
    }
}
