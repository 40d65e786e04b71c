#!/usr/bin/env python3
"""Answers questions about instances with CP-SAT: a second opinion that shares nothing with the planner.

Reads one question a line from standard input and prints one answer a line, in the same order:

  late FILE          least weight of jobs that miss their due time, with the capacity that is given
  peak FILE          least price-weighted sum of the flavors' peaks with thrice the capacity and every due time met
  pool FLAVOR FILE   least capacity of this flavor, at all times, with which every due time is met; where the file has less
                     than its own maximum, that stays a limit; other flavors are as given
  mixed FILE         least price-weighted sum of all flavors' capacities with which every due time is met

An answer is `optimal VALUE VALUE`, `infeasible - -`, or, when the time for one question ended, `open VALUE BOUND`, with `-`
for a value that was not found. Files have the text format of benches/instance.rs, all numbers are integers.
"""
import math, sys

from compare import read

SECONDS = 20.0


def ask(question, path, flavor=None):
    from ortools.sat.python import cp_model

    slots, prices, capacity, jobs = read(path)
    if question == "peak":
        capacity = [[3 * amount for amount in row] for row in capacity]
    model = cp_model.CpModel()
    tasks = [[] for _ in prices]
    missed = []
    for release, due, weight, options in jobs:
        chosen = []
        for option_flavor, amount, length in options:
            taken = model.new_bool_var("")
            # An option too long for its window is never taken.
            latest = due - length
            if latest < release:
                model.add(taken == 0)
                latest = release
            start = model.new_int_var(release, latest, "")
            interval = model.new_optional_fixed_size_interval_var(start, length, taken, "")
            tasks[option_flavor].append((interval, amount))
            chosen.append(taken)
        if question == "late":
            late = model.new_bool_var("")
            chosen.append(late)
            missed.append(weight * late)
        model.add_exactly_one(chosen)
    sizes = []
    for at, row in enumerate(capacity):
        intervals, amounts = [task[0] for task in tasks[at]], [task[1] for task in tasks[at]]
        total = max(sum(amounts), 1)
        most = max(row)
        sized = question in ("peak", "mixed") or (question == "pool" and at == flavor)
        if sized:
            size = model.new_int_var(0, total, "")
            sizes.append((prices[at], size))
            model.add_cumulative(intervals, amounts, size)
        if question == "mixed":
            continue
        # The given capacity; of a pool that is sized only what lies below its own maximum stays a limit.
        roof = total if sized and question == "pool" else most
        blocks, block_amounts, slot = [], [], 0
        while slot < slots:
            to = slot
            while to < slots and row[to] == row[slot]:
                to += 1
            limit = row[slot] if row[slot] < most else roof
            if limit < roof:
                blocks.append(model.new_fixed_size_interval_var(slot, to - slot, ""))
                block_amounts.append(roof - limit)
            slot = to
        model.add_cumulative(intervals + blocks, amounts + block_amounts, roof)
    if question == "late":
        model.minimize(sum(missed))
    elif question == "pool":
        model.minimize(sizes[0][1])
    else:
        model.minimize(sum(price * size for price, size in sizes))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    solver.parameters.num_workers = 2
    solver.parameters.random_seed = 1
    status = solver.solve(model)
    whole = lambda value: math.ceil(value - 1e-6)
    if status == cp_model.OPTIMAL:
        return f"optimal {whole(solver.objective_value)} {whole(solver.objective_value)}"
    if status == cp_model.INFEASIBLE:
        return "infeasible - -"
    value = whole(solver.objective_value) if status == cp_model.FEASIBLE else "-"
    return f"open {value} {whole(solver.best_objective_bound)}"


def main():
    for line in sys.stdin:
        question, *rest = line.split()
        flavor = int(rest[0]) if question == "pool" else None
        print(ask(question, rest[-1], flavor), flush=True)


if __name__ == "__main__":
    main()
