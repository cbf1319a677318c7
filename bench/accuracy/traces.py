#!/usr/bin/python3
"""Forecasts from profiler traces beside what they show: `traces.py FORETRAIN [SHARED]`.

Two tables. The first is of consistency, not of accuracy: each traced DDP training, imported and forecast for its own devices,
the links' rate taken from its own fastest all-reduce. The second is of accuracy: trainings of four hosts of two types, A and B,
forecast from the traces of two A and of two B and from iperf3's matrix, beside what the whole took without a profiler.
"""

import collections
import csv
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile

Own = collections.namedtuple("Own", "name n traced steps rate_Bps own_s forecast_s replayed_s closed_s model")
Mixed = collections.namedtuple("Mixed", "traces system truth_s forecast_s closed_s model")

EIGHT_RANKS = "param_dlrm_8ranks_V100_kineto.tar.gz"
MATRIX_NAMES = ("h0", "h1", "h2", "h3")
HOSTS = {"A2B2": (0, 1, 2, 3), "A2B1": (0, 1, 2), "A1B1": (0, 2)}  # of the full systems, by rank
SUBSYSTEM_HOSTS = {"A": (0, 1), "B": (2, 3)}


def run(foretrain, *words):
    done = subprocess.run([foretrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"foretrain {' '.join(words)}: {done.stderr}")
    return done.stdout


def import_traces(foretrain, traces, device, profile, *options):
    run(foretrain, "import", *traces, "--device", device, "--batch", "8", "--quiet", "-o", profile, *options)
    with open(profile, encoding="utf-8") as file:
        return json.load(file)


def fastest_all_reduce(profile):
    """Bytes a second that a device sent in the fastest all-reduce of a bucket."""
    n = profile["subsystem"]["n"]
    spans = [(bucket["bytes"], (bucket.get("transfer_s") or bucket["span_s"])["min"]) for bucket in profile["buckets"]]
    return max(2 * (n - 1) / n * size / span for size, span in spans)


def forecast(foretrain, job, folder):
    path = f"{folder}/job.yaml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(job)
    return json.loads(run(foretrain, "predict", path, "--run", f"{folder}/run", "--json", "--quiet"))


def consistency(foretrain, name, traces, options=()):
    """One row: the trace's own steady step, and the forecast of its own devices."""
    with tempfile.TemporaryDirectory() as folder:
        profile = import_traces(foretrain, traces, "own", f"{folder}/own.json", *options)
        n = profile["subsystem"]["n"]
        rate = fastest_all_reduce(profile)
        job = (f"name: own\ndevices:\n  own: {{count: {n}, batch: 8, subsystem: {{devices: {n}}}, allow_full: true, "
               f"profile: own.json}}\nnetwork:\n  links:\n    - {{between: [own, own], bandwidth: {rate:.0f} B/s}}\n")
        made = forecast(foretrain, job, folder)
    truth = profile["stages"]["step_s"]["mean"]
    own = made["types"][0]["own_subsystem"]
    return Own(name, n, profile["subsystem"].get("sampled", n), profile["stages"]["step_s"]["n"], rate, truth, made["step_s"],
               own["forecast_s"] if own["known"] else None, made["closed_form"]["step_s"], made["model"])


def unpack(archive, folder):
    """The traces in a tar file, by name."""
    paths = []
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if member.isfile() and member.name.endswith(".json"):
                paths.append(f"{folder}/{os.path.basename(member.name)}")
                with open(paths[-1], "wb") as file:
                    file.write(tar.extractfile(member).read())
    return sorted(paths)


def consistency_rows(foretrain, kineto):
    made = f"{kineto}/made-here"
    yield consistency(foretrain, "2 x A100, ResNet-50, NCCL, torch 2.4",
                      [f"{kineto}/hta_ddp_resnet50_2xA100_torch2.4_rank0.json.gz"])
    yield consistency(foretrain, "2 x V100, DLRM, NCCL, torch 1.13", [f"{kineto}/hta_dlrm_rank1_of_2_V100_2022.json.gz"])
    yield consistency(foretrain, "300 CPUs, gloo, torch 2.4", [f"{kineto}/hta_cpu_only_full_gloo_rank34.json.gz"])
    with tempfile.TemporaryDirectory() as folder:
        yield consistency(foretrain, "8 x V100, DLRM, NCCL, torch 2.1", unpack(f"{kineto}/{EIGHT_RANKS}", folder))
    for name in ("mlp2_torch2.6_shapes", "resnet18x2_torch2.6_shapes_loader"):
        yield consistency(foretrain, f"2 CPUs, gloo, {name}", sorted(glob.glob(f"{made}/{name}/rank?.pt.trace.json*")))
    for era in ("het_torch1.13_legacy", "het_torch2.6_kineto"):
        for system in ("sub_A2_1g", "sub_B2_500m_200m"):
            yield consistency(foretrain, f"{era}, {system}", traces_of(kineto, era, system), bytes_of(era))


def traces_of(kineto, era, system):
    return sorted(glob.glob(f"{kineto}/made-here/{era}/{system}/rank?.pt.trace.json*"))


def bytes_of(era):
    """torch 1.13 without kineto writes no bytes: what DDP sends of these four layers of 1,000,000 and a small one."""
    return ("--grad-bytes", "4000000 B,12001088 B") if era == "het_torch1.13_legacy" else ()


def network_file(shared, folder):
    with open(f"{shared}/data/iperf3/made-here/matrix4/matrix_Mbit.txt", encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    with open(f"{folder}/network.csv", "w", encoding="utf-8") as file:
        file.write("Mbit/s," + ",".join(MATRIX_NAMES) + "\n")
        for name, row in zip(MATRIX_NAMES, rows):
            file.write(name + "," + ",".join(row) + "\n")


def mixed_job(kind):
    devices = ""
    for device in "AB":
        own = [f"h{host}" for host in HOSTS[kind] if host in SUBSYSTEM_HOSTS[device]]
        measured = ",".join(f"h{host}" for host in SUBSYSTEM_HOSTS[device])
        devices += (f"  {device}: {{count: {len(own)}, batch: 8, hosts: \"{','.join(own)}\", profile: {device}.json, "
                    f"allow_full: true, subsystem: {{devices: 2, hosts: \"{measured}\"}}}}\n")
    return f"name: mixed\ndevices:\n{devices}network: {{measured: network.csv}}\n"


def mixed_row(foretrain, shared, era, config, truth_s):
    kineto = f"{shared}/data/kineto"
    with tempfile.TemporaryDirectory() as folder:
        network_file(shared, folder)
        for device, system in (("A", "sub_A2_1g"), ("B", "sub_B2_500m_200m")):
            import_traces(foretrain, traces_of(kineto, era, system), device, f"{folder}/{device}.json", *bytes_of(era))
        made = forecast(foretrain, mixed_job(config.split("_")[1]), folder)
    return Mixed(era, config, truth_s, made["step_s"], made["closed_form"]["step_s"], made["model"])


def mixed_rows(foretrain, shared):
    with open(f"{shared}/data/scaling/made_here_heterogeneous.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["config"].startswith("full_") and row["trace_set"].startswith("het_"):
                yield mixed_row(foretrain, shared, row["trace_set"], row["config"], float(row["measured_median_step_s_max"]))


def percent(forecast_s, truth_s):
    return f"{(forecast_s / truth_s - 1) * 100:+.1f} %" if forecast_s else "-"


def print_consistency(foretrain, kineto):
    print("| trace | devices | traced | steps | fastest all-reduce | own step | forecast | error | replayed | closed form |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in consistency_rows(foretrain, kineto):
        print(f"| {row.name} | {row.n} | {row.traced} | {row.steps} | {row.rate_Bps / 1e9:.3g} GB/s | {row.own_s * 1e3:.1f} ms "
              f"| {row.forecast_s * 1e3:.1f} ms ({row.model}) | {percent(row.forecast_s, row.own_s)} "
              f"| {percent(row.replayed_s, row.own_s)} | {percent(row.closed_s, row.own_s)} |")


def print_errors(what, rows, key):
    errors = [abs(getattr(row, key) / row.truth_s - 1) for row in rows]
    print(f"\n{what}: mean error {100 * sum(errors) / len(errors):.1f} %, worst {100 * max(errors):.1f} %, "
          f"over {len(errors)} systems.")


def print_mixed(foretrain, shared):
    print("| traces | system | truth | forecast | error | closed form | error |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    rows = list(mixed_rows(foretrain, shared))
    for row in rows:
        print(f"| {row.traces} | {row.system} | {row.truth_s * 1e3:.0f} ms | {row.forecast_s * 1e3:.0f} ms ({row.model}) "
              f"| {percent(row.forecast_s, row.truth_s)} | {row.closed_s * 1e3:.0f} ms "
              f"| {percent(row.closed_s, row.truth_s)} |")
    print_errors("Forecast", rows, "forecast_s")
    print_errors("Closed form", rows, "closed_s")


def main():
    foretrain = sys.argv[1]
    shared = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("FORETRAIN_SHARED", "../shared")
    print_consistency(foretrain, f"{shared}/data/kineto")
    print()
    print_mixed(foretrain, shared)


if __name__ == "__main__":
    main()
