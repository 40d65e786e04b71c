#!/usr/bin/env python3
"""Compares the planner with CP-SAT on seeded instance families, in one run, on one machine.

usage: compare.py PLAN_BINARY GENERATOR_FOLDER [--seeds N] [--ours SECONDS] [--theirs SECONDS] [--families a,b,...]

GENERATOR_FOLDER holds gen.py (its text format is in its head). Each family is made with N seeds. For every instance the
planner runs first, then CP-SAT as it comes (2 workers) or tuned (8 workers, linearization 2, identical jobs ordered), both
cold, one after the other. Figures are medians over seeds; a ratio of first plans compares the first checked plan of ours
with the first feasible solution of theirs, both from the begin of model building.
"""
import argparse, importlib.util, os, statistics, subprocess, sys, tempfile, time

FAMILIES = {  # name: (jobs, grid minutes, flavors, load %, duplication, problem)
    "n20_l95": (20, 15, 1, 95, 1, "late"),
    "n100_l95": (100, 15, 2, 95, 2, "late"),
    "n100_l60": (100, 15, 2, 60, 2, "peak"),
    "n500_l95": (500, 15, 2, 95, 4, "late"),
    "n500_l110": (500, 15, 2, 110, 4, "late"),
    "n500_l60": (500, 15, 2, 60, 4, "peak"),
    "n2000c_l95": (2000, 15, 3, 95, 5, "late"),
    "n2000_l95": (2000, 5, 3, 95, 5, "late"),
    "n2000_l60": (2000, 5, 3, 60, 5, "peak"),
    "n10000_l95": (10000, 5, 4, 95, 8, "late"),
}


def read(path):
    numbers = iter(map(int, open(path).read().split()))
    slots, flavors = next(numbers), next(numbers)
    prices, capacity = [], []
    for _ in range(flavors):
        prices.append(next(numbers))
        capacity.append([next(numbers) for _ in range(slots)])
    jobs = []
    for _ in range(next(numbers)):
        release, due, weight, count = (next(numbers) for _ in range(4))
        jobs.append((release, due, weight, tuple((next(numbers), next(numbers), next(numbers)) for _ in range(count))))
    return slots, prices, capacity, jobs


def cpsat(path, problem, seconds, tuned):
    """(objective, bound, first, total) with optional intervals and one cumulative per flavor."""
    from ortools.sat.python import cp_model

    slots, prices, capacity, jobs = read(path)
    if problem == "peak":
        capacity = [[3 * c for c in row] for row in capacity]
    begin = time.time()
    model = cp_model.CpModel()
    tasks = [[] for _ in prices]
    missed, previous = [], {}
    for release, due, weight, options in jobs:
        choices, starts = [], []
        for flavor, amount, length in options:
            start = model.new_int_var(release, due - length, "")
            chosen = model.new_bool_var("")
            tasks[flavor].append((model.new_optional_fixed_size_interval_var(start, length, chosen, ""), amount))
            choices.append(chosen)
            starts.append(start)
        if problem == "peak":
            model.add_exactly_one(choices)
        else:
            late = model.new_bool_var("")
            model.add_exactly_one([*choices, late])
            missed.append(weight * late)
        if tuned and len(options) == 1:
            key = (release, due, weight, options)
            if key in previous:
                start_before, chosen_before = previous[key]
                model.add(start_before <= starts[0])
                model.add_implication(choices[0], chosen_before)
            previous[key] = (starts[0], choices[0])
    peaks = []
    for flavor, row in enumerate(capacity):
        most = max(row)
        intervals, demands = [t[0] for t in tasks[flavor]], [t[1] for t in tasks[flavor]]
        if problem == "peak":
            peak = model.new_int_var(0, most, "")
            peaks.append(prices[flavor] * peak)
            model.add_cumulative(intervals, demands, peak)
        at = 0
        while at < slots:
            to = at
            while to < slots and row[to] == row[at]:
                to += 1
            if row[at] < most:
                intervals.append(model.new_fixed_size_interval_var(at, to - at, ""))
                demands.append(most - row[at])
            at = to
        model.add_cumulative(intervals, demands, most)
    model.minimize(sum(peaks) if problem == "peak" else sum(missed))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 8 if tuned else 2
    if problem == "peak":
        solver.parameters.relative_gap_limit = 0.01
    if tuned:
        solver.parameters.linearization_level = 2

    class First(cp_model.CpSolverSolutionCallback):
        at = None

        def on_solution_callback(self):
            if self.at is None:
                self.at = time.time() - begin

    first = First()
    status = solver.solve(model, first)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return (solver.objective_value if found else float("nan"), solver.best_objective_bound, first.at, time.time() - begin)


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("binary")
    parse.add_argument("generator")
    parse.add_argument("--seeds", type=int, default=5)
    parse.add_argument("--ours", type=float, default=5.0)
    parse.add_argument("--theirs", type=float, default=20.0)
    parse.add_argument("--gap-permille", type=int, default=0)
    parse.add_argument("--families", default=",".join(FAMILIES))
    parse.add_argument("--peer", choices=["tuned", "default", "none"], default="tuned")
    given = parse.parse_args()
    spec = importlib.util.spec_from_file_location("gen", os.path.join(given.generator, "gen.py"))
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    print("family,seed,ours,our_bound,our_first_s,our_total_s,our_rss_mib,theirs,their_bound,their_first_s,their_total_s", flush=True)
    worse = 0
    for family in given.families.split(","):
        jobs, grid, flavors, load, duplication, problem = FAMILIES[family]
        rows = []
        for seed in range(1, given.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, f"{family}_{seed}.txt")
                generator.write(path, generator.gen(jobs, grid, flavors, load, duplication, 5000 + seed))
                run = [given.binary, path, problem, str(int(given.ours * 1000)), str(seed), str(given.gap_permille)]
                ours = subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip().split(",")
                theirs = (float("nan"),) * 4
                if given.peer != "none":
                    theirs = cpsat(path, problem, given.theirs, given.peer == "tuned")
            row = (float(ours[3]), ours[4], float(ours[5]), float(ours[6]), int(ours[7]), *theirs)
            rows.append(row)
            worse += row[5] == row[5] and row[0] > row[5]
            print(family, seed, *(f"{x:.6g}" if isinstance(x, float) else x for x in row), sep=",", flush=True)
        median = lambda column: statistics.median(row[column] for row in rows if row[column] is not None)
        firsts = [row[7] / row[2] for row in rows if row[7] is not None and row[7] == row[7]]
        ratio = f"{statistics.median(firsts):.0f}" if firsts else "theirs found none"
        print(f"# {family} {problem}: ours {median(0):g} in {median(3):.2f} s, first {median(2) * 1000:.2f} ms, {median(4)} MiB;"
              f" theirs {median(5):g} in {median(8):.2f} s; first-plan ratio {ratio}", flush=True)
    print(f"# instances where ours is worse: {worse}", flush=True)


if __name__ == "__main__":
    main()
