//! From what was said to the snapshot it means: resource groups, options, creation order.

use std::collections::BTreeSet;

use stagger::names::{FlavorName, ResourceName, TenantId, WorkloadKey};
use stagger::plan::snapshot::{CellId, NodeKind, ResourceGroup, RunOption, Running, Snapshot, Workload};
use stagger::units::Amount;

use super::{GPU, Holder, Job, World, node_id};

impl World {
    pub fn build(mut self) -> Snapshot {
        for index in 0..self.nodes.len() {
            let groups = self.groups(index);
            if let NodeKind::ClusterQueue(rules) = &mut self.nodes[index].kind {
                rules.groups = groups;
            }
        }
        let mut workloads: Vec<Workload> = self.jobs.iter().map(|job| self.workload(job)).collect();
        workloads.sort_by(|a, b| (a.created, &a.key).cmp(&(b.created, &b.key)));
        let running = self.running.iter().map(|holder| self.holder(holder)).collect();
        let priced = !self.prices.is_empty();
        Snapshot {
            now: self.now,
            horizon_end: self.horizon_end,
            time_zone: "UTC".to_owned(),
            workloads,
            running,
            cells: self.cells,
            nodes: self.nodes,
            windows: self.windows,
            prices: self.prices.into_values().collect(),
            currency: priced.then(|| "EUR".to_owned()),
            previous: self.previous,
        }
    }

    /// Flavors that share a resource stand in one group, in order of mention.
    fn groups(&self, node: usize) -> Vec<ResourceGroup> {
        let mut groups: Vec<ResourceGroup> = Vec::new();
        for flavor in &self.flavor_order[node] {
            let resources: Vec<ResourceName> = self.nodes[node]
                .quotas
                .keys()
                .map(|cell| &self.cells[cell.0 as usize])
                .filter(|cell| cell.flavor == *flavor)
                .map(|cell| cell.resource.clone())
                .collect();
            match groups.iter_mut().find(|group| resources.iter().any(|name| group.resources.contains(name))) {
                Some(group) => {
                    group.flavors.push(flavor.clone());
                    let known: BTreeSet<ResourceName> = group.resources.drain(..).chain(resources).collect();
                    group.resources = known.into_iter().collect();
                }
                None => groups.push(ResourceGroup { resources, flavors: vec![flavor.clone()] }),
            }
        }
        groups
    }

    fn find_queue(&self, name: Option<&str>) -> usize {
        self.nodes
            .iter()
            .position(|node| match name {
                Some(name) => node.name.as_str() == name,
                None => matches!(node.kind, NodeKind::ClusterQueue(_)),
            })
            .expect("a job must name a queue of the snapshot")
    }

    fn workload(&self, job: &Job) -> Workload {
        let queue = self.find_queue(job.queue.as_deref());
        let created = job.created.unwrap_or(self.now);
        let earliest_start = [self.now, created, job.not_before.unwrap_or(self.now)].into_iter().max().unwrap();
        Workload {
            key: WorkloadKey::new("evals", &job.name),
            kind: "Job".to_owned(),
            tenant: job.tenant.as_deref().map(TenantId::from),
            class: job.class.clone(),
            queue: node_id(queue),
            priority: job.priority,
            created,
            earliest_start,
            due: job.due.clone(),
            value: job.value,
            options: self.options(queue, job),
            interruption: job.interruption,
            has_slo: job.has_slo,
        }
    }

    /// One flavor per resource group that the job asks something of; the first group's flavors vary slowest.
    fn options(&self, queue: usize, job: &Job) -> Vec<RunOption> {
        let mut choices: Vec<Vec<(CellId, Amount)>> = vec![Vec::new()];
        for group in self.groups(queue) {
            let asked: Vec<&(String, i64)> = job
                .asks
                .iter()
                .filter(|(name, _)| group.resources.iter().any(|known| known.as_str() == name))
                .collect();
            if asked.is_empty() {
                continue;
            }
            let listed = |flavor: &FlavorName| job.flavors.iter().any(|named| named == flavor.as_str());
            let restricted = group.flavors.iter().any(listed);
            let flavors: Vec<&FlavorName> =
                group.flavors.iter().filter(|flavor| !restricted || listed(flavor)).collect();
            let mut longer = Vec::new();
            for choice in &choices {
                for flavor in &flavors {
                    let mut uses = choice.clone();
                    for (resource, amount) in &asked {
                        let cell = self
                            .cells
                            .iter()
                            .position(|cell| cell.flavor == **flavor && cell.resource.as_str() == resource);
                        uses.push((CellId(u32::try_from(cell.unwrap()).unwrap()), Amount(*amount)));
                    }
                    longer.push(uses);
                }
            }
            choices = longer;
        }
        choices
            .into_iter()
            .map(|mut uses| {
                uses.sort_unstable();
                let main = uses.iter().find(|(cell, _)| self.cells[cell.0 as usize].resource.is_accelerator());
                let flavor = main
                    .or(uses.first())
                    .map_or(FlavorName::from("none"), |(cell, _)| self.cells[cell.0 as usize].flavor.clone());
                let own = job.runtimes_on.iter().find(|(name, _)| name == flavor.as_str());
                RunOption { runtime: own.map_or(job.runtime, |(_, runtime)| *runtime), flavor, uses }
            })
            .collect()
    }

    fn holder(&self, holder: &Holder) -> Running {
        let gpu_cell = |flavor: &str| {
            self.cells
                .iter()
                .position(|cell| cell.flavor.as_str() == flavor && cell.resource.as_str() == GPU)
                .map(|index| CellId(u32::try_from(index).unwrap()))
                .expect("running work must be on a flavor that has quota")
        };
        let queue = self.find_queue(holder.queue.as_deref());
        let first = self.flavor_order[queue].first().map_or("", FlavorName::as_str);
        let flavor = holder.flavor.as_deref().unwrap_or(first);
        Running {
            key: WorkloadKey::new("evals", &holder.name),
            tenant: None,
            queue: node_id(queue),
            flavor: FlavorName::from(flavor),
            uses: vec![(gpu_cell(flavor), Amount(holder.gpus))],
            priority: holder.priority,
            start: holder.start.unwrap_or(self.now),
            end_p50: holder.end_p50,
            end_p90: holder.end_p90,
            due: None,
        }
    }
}
