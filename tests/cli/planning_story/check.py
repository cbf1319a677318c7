"""Do the forecasts of the jobs in a folder keep what order, split and size promised?"""

import functools
import json
import math
import os
import subprocess
import sys

os.chdir(sys.argv[1])


@functools.cache
def ask(*command):
    return json.loads(subprocess.run(["foretrain", *command, "--json"], check=True, capture_output=True).stdout)


def check(what, got, promised):
    print(what, "as promised" if math.isclose(got, promised, rel_tol=1e-9) else f"is {got}, not {promised}")


order, split, size = ask("order", "job.yaml"), ask("split", "ordered.yaml"), ask("size", "--deadline", "68h", "split.yaml")
check("the ordered job's step:", ask("predict", "ordered.yaml")["step_s"], order["found"]["forecast_s"])
check("its mean step:", ask("explain", "ordered.yaml")["mean_step_s"], order["found"]["step_s"])
check("samples a second with the mini-batches of split:",
      split["found"]["global_batch"] / ask("explain", "split.yaml")["mean_step_s"], split["found"]["samples_per_s"])
check("the mix's mean step:", ask("explain", "mix.yaml")["mean_step_s"], size["best"]["step_s"])
check("as fast as all cards in size:", ask("explain", "split.yaml")["mean_step_s"], size["all_available"]["step_s"])
check("waiting in size:", ask("predict", "split.yaml")["step_s"] / ask("explain", "split.yaml")["mean_step_s"] - 1, size["waiting"])
print("the mix is done", "in time" if ask("predict", "mix.yaml")["epoch"]["total_s"] <= 72 * 3600 else "too late")
