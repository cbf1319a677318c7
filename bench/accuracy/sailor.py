"""Sailor: pure data-parallel OPT-350M (Megatron) on machines of different GPUs, each machine one device.

Nothing is fitted. Assumptions:

- A machine is one device whose GPUs share each layer (tensor parallel): its micro-batch takes what the profile of that many GPUs
  says (metis_*_mbs2_tmpN), a third of it forward.
- Gradients are float32 and as many as the parameters of the profile's GPUs together; they are all-reduced in one piece after the last micro-batch, and
  not before (Megatron without overlap).
- A link has what the slower of its two machines was measured to send between machines (sailor_network_coeffs, "inter", that many
  GPUs, at the size of a ring's chunk); all GPUs of a machine share it.
"""

import csv
import json
import math

from converted import FORWARD, Case, Compute, profile

ROWS = ("mit/N2/plan_config_N2_D2", "mit/N4/plan_config_N4_D4", "mit/N6/plan_config_N6_D6")
REPORTED = {"sailor": 0.199, "metis": 0.249}  # mean errors on these rows
NOTE = "converted from the Metis profile of one machine: forward a third of forward_backward_time_ms, backward two thirds"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def machines(text):
    """["8xRTX-3090", ...], number of GPUs."""
    pairs = [machine.strip().split("x", 1) for machine in text.split("+")]
    return [gpu for _, gpu in pairs], int(pairs[0][0])


def bandwidth(coefficients, gpu, n_gpus, message):
    """B/s, a polynomial in the logarithm of the message's MB, up to the largest that was measured."""
    polynomial, most = coefficients["inter"][gpu][str(n_gpus)]
    gigabytes = sum(factor * math.log2(message / 1e6)**power for power, factor in enumerate(reversed(polynomial)))
    return min(1e9 * gigabytes, most)


def device_profile(folder, gpu, n_gpus, row, n):
    batch = int(row["micro_batch"])
    made = load(f"{folder}/metis_OPT350_{gpu}_mbs{batch}_tmp{n_gpus}.json")
    micro_batches = int(row["global_batch"]) // (n * batch)
    each_s = made["execution_time"]["forward_backward_time_ms"] / 1e3
    backward_s = each_s * (1 - FORWARD)
    compute = Compute(micro_batches * each_s * FORWARD, backward_s, (micro_batches - 1) * backward_s,
                      made["execution_time"]["optimizer_time_ms"] / 1e3)
    payload = n_gpus * made["model"]["parameters"]["total_parameters_bytes"]
    return profile(gpu, batch, micro_batches, compute, [payload], [backward_s], NOTE), payload


def case(folder, coefficients, row):
    gpus, n_gpus = machines(row["replicas_per_stage"])
    made = {gpu: device_profile(folder, gpu, n_gpus, row, len(gpus)) for gpu in dict.fromkeys(gpus)}
    chunk = max(payload for _, payload in made.values()) / len(gpus) / n_gpus
    rate = {gpu: bandwidth(coefficients, gpu, n_gpus, chunk) for gpu in made}
    kinds = list(made)
    links = [f"between: [{one}, {other}], bandwidth: {min(rate[one], rate[other]):.0f} B/s"
             for k, one in enumerate(kinds) for other in kinds[k:]]
    types = {gpu: (gpus.count(gpu), int(row["micro_batch"]), None, made[gpu][0]) for gpu in kinds}
    return Case(f"{row['cluster_model']}_D{row['dp']}", types, links, float(row["measured_iteration_s"]))


def cases(shared):
    folder = f"{shared}/data/scaling/sailor"
    coefficients = load(f"{folder}/sailor_network_coeffs.json")
    with open(f"{shared}/data/scaling/sailor_validation.csv", encoding="utf-8") as file:
        found = [row for row in csv.DictReader(file) if any(name in row["path"] for name in ROWS)]
    return [case(folder, coefficients, row) for row in found]
