#!/usr/bin/python3
"""Forecasts from sample traces are as near to what was measured as bench/accuracy/traces.py says."""

import sys
import unittest

from samples import FORETRAIN, ROOT, SHARED, KINETO, skip_unless_there

sys.path.insert(0, f"{ROOT}/bench/accuracy")
import traces  # noqa: E402  pylint: disable=wrong-import-position


class Forecasts(unittest.TestCase):
    """A trace of n devices is a check of consistency, mixed systems one of accuracy."""

    def test_a_trace_of_two_a100_is_forecast_as_it_ran(self):
        row = traces.consistency(FORETRAIN, "a100", [f"{KINETO}/hta_ddp_resnet50_2xA100_torch2.4_rank0.json.gz"])
        self.assertEqual(row.model, "timeline")
        self.assertLess(abs(row.forecast_s / row.own_s - 1), 0.05)

    def test_mixed_systems_are_forecast_from_traces_of_pairs(self):
        rows = list(traces.mixed_rows(FORETRAIN, SHARED))
        errors = [abs(row.forecast_s / row.truth_s - 1) for row in rows]
        self.assertEqual({row.model for row in rows}, {"timeline"})
        self.assertEqual(len(errors), 6)
        self.assertLess(sum(errors) / len(errors), 0.05)


if __name__ == "__main__":
    skip_unless_there()
    unittest.main()
