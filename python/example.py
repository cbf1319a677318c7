"""Questions to a forecast, as in a notebook: `python3 example.py ../examples/resnet50-200/job.yaml`.

What decides the step, what other numbers of the first type would do, and the cheapest mix that is done in time.
"""

import sys

import foretrain

DAY_S = 24 * 3600


def show_forecast(forecast):
    deciding = forecast["deciding"]
    print(f"A step takes {forecast['step_s']:.4f} s; {deciding['device']} decides it, by its {deciding['stage']}.")
    print(f"The whole training takes {forecast['epoch']['total_s'] / DAY_S:.1f} days.\n")


def show_counts(job, name):
    columns = foretrain.sweep(job, {f"{name}.count": [0, 50, 100, 200]})["columns"]
    print(f"{name:>8} {'step s':>8} {'days':>6}")
    for count, step_s, total_s in zip(columns[f"{name}.count"], columns["step_s"], columns["total_s"]):
        print(f"{count:8.0f} {step_s:8.4f} {total_s / DAY_S:6.1f}")


def show_size(job, deadline):
    try:
        best = foretrain.size(job, deadline=deadline)["best"]
        print(f"\nDone in {deadline}: {best['count']}, in {best['total_s'] / DAY_S:.1f} days.")
    except foretrain.Error as error:
        print(f"\nNot to be done in {deadline}: {error}")


def main(job):
    forecast = foretrain.predict(job)
    show_forecast(forecast)
    show_counts(job, forecast["types"][0]["name"])
    show_size(job, "14d")
    show_size(job, "1h")


if __name__ == "__main__":
    main(sys.argv[1])
