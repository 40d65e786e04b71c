mod instance;
use stagger::plan::{board::Board, dice::Dice, greedy, grid::{Grid, Rounding}, lane::ExactLanes, model::Model, search, Policy};
use stagger::clock::Stopwatch;
struct T { w: Stopwatch, ms: u64, last: u64 }
impl search::Budget for T {
    fn exhausted(&mut self, _m: u64) -> bool { self.w.millis() >= self.ms }
    fn improved(&mut self, _l: i64) { self.last = self.w.millis(); }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let ms: u64 = args[2].parse().unwrap();
    let seed: u64 = args[3].parse().unwrap();
    let snap = instance::read(&text, instance::Problem::Late);
    let w = Stopwatch::start();
    let policy = Policy::default();
    let grid = Grid::of(&snap, &policy);
    let lanes = ExactLanes::of(&snap, &policy);
    let model = Model::of(&snap, &policy, &lanes, grid, Rounding::Conservative);
    let t1 = w.micros();
    let mut best: Option<Board> = None;
    let mut g=vec![];
    let mut t2=0;
    for o in greedy::PORTFOLIO { let b = greedy::greedy(&model, o); if t2==0 {t2=w.micros();} g.push(model.unpack(b.loss).0); if best.as_ref().is_none_or(|x| b.loss < x.loss) { best = Some(b);} }
    let t3 = w.micros();
    let mut b = best.unwrap();
    let mut dice = Dice::new(seed, 0);
    let mut t = T { w: Stopwatch::start(), ms, last: 0 };
    let moves = search::reduce_loss(&mut b, &mut dice, 0, &mut t);
    // verify
    let mut bad = 0; let mut lossv = 0;
    for (c, cell) in snap.cells.iter().enumerate() { let _ = cell;
        let nominal = snap.nodes[0].quotas[&stagger::plan::snapshot::CellId(c as u32)].nominal.0;
        for slot in 0..grid.slots {
            let at = grid.instant(slot as i64);
            let mut cap = nominal;
            for w in &snap.windows { if w.cell.0 as usize == c && w.start <= at && at < w.end { cap = cap.min(w.quantity.0); } }
            let mut used = 0;
            for (j, p) in b.places.iter().enumerate() { if let Some(p) = p { let o = &model.jobs[j].options[p.option];
                let ro = &snap.workloads[j].options[o.option];
                if ro.uses[0].0.0 as usize == c && p.start <= slot && slot < p.start + (ro.runtime.p50.0 / 60) as usize { used += ro.uses[0].1.0; } } }
            if used > cap { bad += 1; }
        }
    }
    for (j, p) in b.places.iter().enumerate() { let wl = &snap.workloads[j]; let late = match p { None => true, Some(p) => { let o = &model.jobs[j].options[p.option]; grid.instant((p.start + o.length) as i64) > wl.due.as_ref().unwrap().at || grid.instant(p.start as i64) < wl.earliest_start } }; if late { lossv += wl.value; } }
    println!("verify: overfull slots {bad}, late value {lossv}");
    println!("{} slots {} exact {} classes {} | model {}us greedy1 {}us all {}us {:?} | ls {:?} moves {} last {}ms in {}ms", args[1].rsplit('/').next().unwrap(), grid.slots, grid.exact, model.classes, t1, t2-t1, t3-t1, g, model.unpack(b.loss), moves, t.last, t.w.millis());
}
