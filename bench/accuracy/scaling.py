#!/usr/bin/python3
"""Forecasts beside what others measured: `scaling.py FORETRAIN SHARED [--every N] [--report FILE]`.

pollux.py and sailor.py turn their data into jobs and profiles, and say what they assume; `foretrain predict` makes the forecasts.
Fails where a target is missed.
"""

import argparse
import os
import sys

import pollux
import sailor
from accuracy_report import write_between
from converted import forecast_all, mean_error

MARKS = ("<!-- written by bench/accuracy/scaling.py: from here -->", "<!-- written by bench/accuracy/scaling.py: to here -->")
MOST_MEAN, MOST_MODEL, MOST_SAILOR = 0.11, 0.15, 0.10
BASELINES = {"copied": "copying the two-replica time", "scaled": "its sync time times 2(N-1)/N"}


def percent(share):
    return f"{100 * share:.1f} %"


def signed(share):
    return f"{100 * share:+.1f} %"


class Failures(list):
    def expect(self, holds, sentence):
        if not holds:
            self.append(sentence)


def pollux_row(foretrain, model, every, failures):
    """Errors of a model's larger placements: foretrain's, the baselines', signed mean; and the table's row."""
    cases = model.cases(every)
    truths, forecasts = [case.truth_s for case in cases], forecast_all(foretrain, cases)
    error = mean_error(forecasts, truths)
    signed_mean = sum(made / truth - 1 for made, truth in zip(forecasts, truths)) / len(truths)
    others = {key: mean_error([case.baselines_s[key] for case in cases], truths) for key in BASELINES}
    failures.expect(error <= MOST_MODEL, f"{model.name}: {percent(error)} is above {percent(MOST_MODEL)}")
    for key, other in others.items():
        failures.expect(error < other, f"{model.name}: {percent(error)} is not below {BASELINES[key]}, {percent(other)}")
    return error, (f"| {model.name} | {len(cases)} | {percent(error)} | {signed(signed_mean)} | "
                   f"{' | '.join(percent(other) for other in others.values())} |")


def pollux_table(foretrain, shared, every, failures):
    lines = [f"| model | rows | foretrain | mean of signed errors | {' | '.join(BASELINES.values())} |",
             f"| --- | ---: | ---: | ---: |{' ---: |' * len(BASELINES)}"]
    errors = []
    for model in pollux.models(shared):
        error, row = pollux_row(foretrain, model, every, failures)
        errors.append(error)
        lines.append(row)
        print(f"  {row}", file=sys.stderr, flush=True)
    mean = sum(errors) / len(errors)
    failures.expect(mean <= MOST_MEAN, f"Pollux: mean {percent(mean)} is above {percent(MOST_MEAN)}")
    return lines + ["", f"**Pollux: mean over models {percent(mean)}, worst {percent(max(errors))}.**"]


def sailor_table(foretrain, shared, failures):
    cases = sailor.cases(shared)
    failures.expect(len(cases) == len(sailor.ROWS), f"Sailor: {len(cases)} rows of {len(sailor.ROWS)}")
    forecasts = forecast_all(foretrain, cases)
    lines = ["| system | machines | measured iteration | foretrain | error |", "| --- | --- | ---: | ---: | ---: |"]
    for case, made in zip(cases, forecasts):
        types = " + ".join(f"{count} {gpu}" for gpu, (count, *_) in case.types.items())
        lines.append(f"| {case.name} | {types} | {case.truth_s:.1f} s | {made:.1f} s | {signed(made / case.truth_s - 1)} |")
    error = mean_error(forecasts, [case.truth_s for case in cases])
    failures.expect(error < MOST_SAILOR, f"Sailor: {percent(error)} is not below {percent(MOST_SAILOR)}")
    reported = ", ".join(f"{name.capitalize()} {percent(value)}" for name, value in sailor.REPORTED.items())
    return lines + ["", f"**Sailor's rows: mean error {percent(error)}; reported for them are {reported}.**"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("foretrain")
    parser.add_argument("shared", help="folder that has data/scaling")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th of Pollux's rows")
    parser.add_argument("--report", help="the document whose table is written; default: only printed")
    args = parser.parse_args()
    if not os.path.isdir(f"{args.shared}/data/scaling"):
        print(f"SKIPPED: {args.shared}/data/scaling is not here (FORETRAIN_SHARED); forecasts were not held against what others measured")
        sys.exit(77)
    foretrain, failures = os.path.abspath(args.foretrain), Failures()
    text = "\n".join([*sailor_table(foretrain, args.shared, failures), "",
                      *pollux_table(foretrain, args.shared, args.every, failures)])
    print(text)
    if args.report:
        write_between(args.report, MARKS, text)
    if failures:
        sys.exit("MISSED:\n  " + "\n  ".join(failures))


if __name__ == "__main__":
    main()
