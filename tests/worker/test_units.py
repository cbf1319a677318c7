"""The worker's parts by themselves."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import torch

from launching import LOOP

from foretrain_worker import clock, datasets, describe, layers, operators, procio, rounds, sockets
from foretrain_worker.iteration import Backward, Bucket, Iteration
from foretrain_worker.record import Record, Spec
from foretrain_worker.tape import Tape


class Sockets(unittest.TestCase):
    def test_count_every_payload_byte_and_no_other(self):
        counter = sockets.SocketCounter()
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            with socket.create_connection(server.getsockname()) as client, server.accept()[0] as accepted:
                counter.refresh()
                before = counter.snapshot()
                self.assertIsNotNone(sockets.TcpInfo().payload_sent(client.fileno()))
                self.assertEqual(sockets.sent_between(before, counter.snapshot()), 0)
                received = []
                reader = threading.Thread(target=self.read_all, args=(accepted, received))
                reader.start()
                client.sendall(b"x" * 3_000_001)
                client.shutdown(socket.SHUT_WR)
                reader.join()
                self.assertEqual(sum(received), 3_000_001)
                self.assertIn(sockets.sent_between(before, counter.snapshot()), (3_000_001, 3_000_002))
                self.assertEqual(counter.local_addresses(), {"127.0.0.1"})

    @staticmethod
    def read_all(connection, received):
        while True:
            data = connection.recv(1 << 20)
            if not data:
                return
            received.append(len(data))

    def test_what_waits_in_the_kernel_counts_as_sent(self):
        counter = sockets.SocketCounter()
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            server.bind(("127.0.0.1", 0))
            server.listen()
            with socket.create_connection(server.getsockname()) as client, server.accept()[0]:
                counter.refresh()
                before = counter.snapshot()
                client.setblocking(False)
                accepted = client.send(b"x" * 4_000_000)
                self.assertGreater(accepted, 100_000)
                self.assertEqual(sockets.sent_between(before, counter.snapshot()), accepted)

    def test_other_descriptors_are_not_counted(self):
        with tempfile.TemporaryFile() as file, socket.socket(socket.AF_UNIX) as local:
            self.assertIsNone(sockets.TcpInfo().payload_sent(file.fileno()))
            self.assertIsNone(sockets.TcpInfo().payload_sent(local.fileno()))
        self.assertIsNone(sockets.TcpInfo().payload_sent(9999))

    def test_the_interface_is_the_named_one_or_the_one_with_our_address(self):
        self.assertEqual(sockets.interface_of(set(), {"GLOO_SOCKET_IFNAME": "lo"}), "lo")
        self.assertEqual(sockets.interface_of({"127.0.0.1"}, {}), "lo")
        self.assertIsNone(sockets.interface_of(set(), {}))
        self.assertIsNone(sockets.interface_of(set(), {"GLOO_SOCKET_IFNAME": "none0,lo"}))
        self.assertEqual(len(sockets.interface_counters("lo")), 2)
        self.assertIsNone(sockets.interface_counters("none-such"))


class FakeDevice:
    """A device that is 1 ms behind for each event, and passes it when it is told to."""

    passed = 0
    recorded = 0

    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing
            self.number = None

        def record(self):
            FakeDevice.recorded += 1
            self.number = FakeDevice.recorded

        def query(self):
            return self.number <= FakeDevice.passed

        def synchronize(self):
            FakeDevice.passed = max(FakeDevice.passed, self.number)

        def elapsed_time(self, other):
            assert self.query() and other.query()
            return float(other.number - self.number)


class Clocks(unittest.TestCase):
    def test_a_device_is_timed_by_its_own_events_read_when_they_are_passed(self):
        FakeDevice.passed = FakeDevice.recorded = 0
        device = clock.DeviceClock(FakeDevice)
        begin, middle, end = device.mark(), device.mark(), device.mark()
        self.assertFalse(device.is_ready(end))
        self.assertEqual(FakeDevice.passed, 0)
        self.assertAlmostEqual(device.seconds(begin, end), 2e-3)
        self.assertTrue(device.is_ready(middle))
        self.assertLessEqual(device.host(begin), device.host(end))

    def test_stages_on_a_device_add_up_to_its_step(self):
        FakeDevice.passed = FakeDevice.recorded = 0
        device = clock.DeviceClock(FakeDevice)
        tape = Tape()
        for stage in ("wait", "rest", "forward", "backward", "rest", "optimizer", "rest"):
            tape.switch(stage, device.mark())
        call = Backward(tape.stages[3][1])
        bucket = Bucket(0, "net", 100, device.mark())
        bucket.done = device.mark()
        call.buckets.append(bucket)
        call.end = tape.stages[4][1]
        tape.add("backward", call)
        line = Iteration(1, tape, device.mark(), None, {}).line(device, 0.0)
        parts = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")
        self.assertAlmostEqual(sum(line[part] for part in parts), line["step_s"])
        self.assertAlmostEqual(line["forward_s"], 1e-3)
        self.assertAlmostEqual(line["buckets"][0]["done_s"] - line["buckets"][0]["ready_s"], 1e-3)

    def test_a_device_is_found_by_its_kind(self):
        class Torch:
            npu = FakeDevice

        self.assertEqual(clock.clock_of(Torch, "npu")[0].name, "device")
        self.assertEqual(clock.clock_of(torch, "cpu")[0].name, "cpu")
        makeshift, note = clock.clock_of(Torch, "mlu")
        self.assertEqual(makeshift.name, "cpu")
        self.assertIn("torch.mlu", note)


class Tapes(unittest.TestCase):
    def test_a_cut_parts_stages_and_events(self):
        tape = Tape()
        tape.switch("wait", 0.0)
        tape.add("batch", 1)
        tape.switch("forward", 1.0)
        tape.switch("rest", 3.0)
        tape.add("edge")
        position = tape.switch("wait", 4.0)
        tape.add("batch", 2)
        head = tape.cut(position)
        self.assertEqual(head.seconds_by_stage(clock.CpuClock(), 4.0), {"wait": 1.0, "forward": 2.0, "rest": 1.0})
        self.assertEqual((head.named("batch"), tape.named("batch")), ([1], [2]))
        self.assertEqual((len(head.named("edge")), len(tape.named("edge"))), (1, 0))
        self.assertEqual(tape.stages, [("wait", 4.0)])

    def test_several_synchronised_backward_calls_are_put_one_after_the_other(self):
        tape = Tape()
        tape.switch("backward", 0.0)
        for begin_s in (0.0, 10.0):
            call = Backward(begin_s)
            call.first_operator = begin_s + 0.25
            bucket = Bucket(0, "net", 8, begin_s + 1.0)
            bucket.done = begin_s + 2.0
            call.buckets.append(bucket)
            call.end = begin_s + 3.0
            tape.add("backward", call)
        line = Iteration(1, tape, 13.0, None, {}).line(clock.CpuClock(), 0.0)
        self.assertEqual([bucket["ready_s"] for bucket in line["buckets"]], [1.0, 4.0])
        self.assertEqual([bucket["done_s"] for bucket in line["buckets"]], [2.0, 5.0])
        self.assertEqual((line["first_backward_s"], line["backward_compute_s"]), (0.25, 4.0))


class FakeGroup:
    """Four ranks whose all-reduces end after a millisecond, but for the one that comes when `n_left` have ended."""

    def __init__(self, n_left):
        self.n_left, self.sizes, self.n_enough = n_left, set(), 0

    def size(self):
        return 4

    def allreduce(self, tensors):
        self.sizes.update(tensor.numel() * tensor.element_size() for tensor in tensors)
        self.n_enough += int(tensors[0][0])
        return self

    def wait(self, timeout):
        time.sleep(0.001)
        self.n_left -= 1
        if self.n_left < 0 or timeout.total_seconds() != 7:
            raise RuntimeError("a rank is gone")


class Rounds(unittest.TestCase):
    def test_a_ring_of_four_goes_round_in_six(self):
        group = FakeGroup(1000000)
        line = rounds.measure(group, 0.5, 7, rounds.ALWAYS)
        self.assertEqual((line["computes_s"], line["sleeps_s"]), rounds.ALWAYS)
        self.assertEqual(group.sizes, {4 * line["message_bytes"], 4 * line["large_message_bytes"]})
        self.assertGreaterEqual(group.n_enough, 4)
        self.assertEqual(group.n_enough % 4, 1, "four runs a turn, and the end")
        self.assertTrue(0.001 / 6 <= line["idle_s"] < 0.01, line)
        self.assertTrue(0.001 / 6 <= line["busy_s"] < 0.01, line)
        self.assertTrue(0.001 / 6 <= line["large_idle_s"] <= line["large_busy_s"] < 0.01, line)

    def test_a_rank_that_is_gone_is_no_hang(self):
        for n_left in (0, 5):
            with self.assertRaisesRegex(RuntimeError, "a rank is gone"):
                rounds.measure(FakeGroup(n_left), 0.5, 7, rounds.ALWAYS)

    def test_computing_sleeps_as_training_does(self):
        began_s, ran_s = time.monotonic(), time.thread_time()
        computed = rounds.compute_beside(lambda: time.sleep(0.5) or "done", rounds.Duty(0.001, 0.05), 1)
        wall_s, ran_s = time.monotonic() - began_s, time.thread_time() - ran_s
        self.assertEqual(computed.result, "done")
        self.assertLess(ran_s, 0.5 * wall_s)
        self.assertLess(computed.awake_s, wall_s - 0.04)
        always = rounds.compute_beside(lambda: time.sleep(0.1), rounds.ALWAYS, 1)
        self.assertGreater(always.awake_s, 0.09)

    def test_training_that_never_runs_sleeps_as_long_as_it_may(self):
        computed = rounds.compute_beside(lambda: time.sleep(0.3), rounds.Duty(0.0, 0.001), 1)
        self.assertEqual(computed.n_products, 1)

    def test_what_products_take_longer_is_lost(self):
        alone = rounds.Computed(None, 100, 2.0)
        self.assertAlmostEqual(rounds.Computed(None, 100, 3.0).lost_s(alone), 1)
        self.assertAlmostEqual(rounds.Computed(None, 50, 4.0).lost_s(alone), 3)
        mean = rounds.Mean()
        mean.add(rounds.Ran(2, 4, 0.5), 3.0)
        mean.add(rounds.Ran(2, 6, 0.3), -1.0)
        self.assertAlmostEqual(mean.round_s(), 0.08)
        self.assertAlmostEqual(mean.lost_s(), 2 / 14)
        mean.add(rounds.Ran(2, 2, 0.2), -3.0)
        self.assertEqual(mean.lost_s(), 0)

    def test_activity_ends_where_a_bucket_was_last_ready(self):
        activity = rounds.Activity()
        self.assertEqual(activity.duty(), rounds.ALWAYS)
        activity.begin()
        activity.end()
        self.assertEqual(activity.duty(), rounds.ALWAYS)
        activity.begin()
        for _ in range(4):
            time.sleep(0.1)
        activity.until()
        self.compute()
        activity.end()
        self.assertGreater(activity.duty().sleeps_s, 0.05)
        self.assertLess(activity.duty().computes_s, 0.01)
        activity.forget()
        activity.begin()
        self.compute()
        activity.until()
        activity.end()
        self.assertLess(activity.duty().sleeps_s, 0.1 * activity.duty().computes_s)

    @staticmethod
    def compute():
        until_s = time.process_time() + 0.1
        while time.process_time() < until_s:
            pass


class Operators(unittest.TestCase):
    @staticmethod
    def event(name, start_s, end_s, thread=1):
        return operators.Event(name, thread, start_s, end_s, end_s - start_s)

    def test_a_nanosecond_tells_a_child_from_a_successor(self):
        class Node:
            def __init__(self, name, start_ns, end_ns, children=()):
                self.name, self.start_tid, self.children = name, 1, list(children)
                self.start_time_ns, self.end_time_ns = 1795964308028398000 + start_ns, 1795964308028398000 + end_ns
                self.duration_time_ns = end_ns - start_ns

        nodes = [
            Node("foretrain::mark/iteration", 0, 10), Node("foretrain::mark/forward", 20, 30),
            Node("aten::item", 1000, 1101, [Node("aten::_local_scalar_dense", 1100, 1101)]),
            Node("aten::add", 1101, 1102),
        ]
        ((forward, _),) = operators.split_iterations(operators._events_of_tree(nodes))
        self.assertEqual([name for name, _ in forward], ["aten::item", "aten::add"])

    def test_outermost_ones_of_each_stage_and_iteration(self):
        event = self.event
        mark = "foretrain::mark/"
        one = [
            event(mark + "iteration", 0.0, 0.0), event(mark + "forward", 0.1, 0.1),
            event("DistributedDataParallel.forward", 1.0, 3.0), event("aten::conv2d", 1.1, 2.0),
            event("aten::convolution", 1.2, 1.9), event("aten::relu", 2.1, 2.5), event("aten::add", 2.2, 2.3, thread=9),
            event(mark + "backward", 4.0, 4.0), event("aten::ones_like", 4.1, 4.2),
            event("autograd::engine::evaluate_function: ReluBackward0", 5.0, 6.0, thread=2),
            event("ReluBackward0", 5.1, 5.9, thread=2), event(mark + "rest", 7.0, 7.0), event("aten::add", 7.5, 7.6),
        ]
        iterations = operators.split_iterations(one)
        self.assertEqual(len(iterations), 1)
        forward, backward = iterations[0]
        self.assertEqual([name for name, _ in forward], ["aten::conv2d", "aten::relu"])
        self.assertEqual([name for name, _ in backward], ["ReluBackward0"])
        self.assertAlmostEqual(forward[0][1], 0.9)

    def test_mean_and_deviation_by_index_and_name(self):
        held = [(([("a", 1.0), ("b", 2.0)], []), (9.0, False)), (([("a", 3.0), ("c", 5.0)], []), (8.0, False))]
        line = operators.operators_line(held)
        self.assertEqual(
            [(each["index"], each["name"], each["count"], each["mean_s"]) for each in line["forward"]],
            [(0, "a", 2, 2.0), (1, "b", 1, 2.0), (1, "c", 1, 5.0)],
        )
        self.assertAlmostEqual(line["forward"][0]["sd_s"], 2**0.5)
        self.assertEqual((line["n_iterations"], line["step_s"]), (2, [9.0, 8.0]))


class Draw(unittest.TestCase):
    def draw(self, data, types, n_samples, seed=7):
        """Indices of each rank."""
        shares = [datasets.share_of(data, types, rank, n_samples) for rank in range(len(types))]
        return [datasets.draw_indices(n_samples, start, n_each, seed) for start, n_each in shares]

    def test_disjoint_seeded_and_not_the_first(self):
        fast = {"samples_per_device": 100, "samples_before": 0}
        slow = {"samples_per_device": 50, "samples_before": 200}
        shares = self.draw(fast, ["fast"] * 2, 1000) + self.draw(slow, ["slow"] * 3, 1000)
        together = [index for share in shares for index in share]
        self.assertEqual([len(share) for share in shares], [100, 100, 50, 50, 50])
        self.assertEqual(len(set(together)), 350)
        self.assertTrue(all(0 <= index < 1000 for index in together))
        self.assertEqual(shares[:2], self.draw(fast, ["fast"] * 2, 1000))
        self.assertNotEqual(shares[:2], self.draw(fast, ["fast"] * 2, 1000, seed=8))
        self.assertGreater(max(together), 900)

    def test_ranks_of_a_mixed_ring_count_within_their_type(self):
        slow = {"samples_per_device": 50, "samples_before": 200}
        self.assertEqual(datasets.share_of(slow, ["fast", "fast", "slow", "slow"], 3, 1000), (250, 50))

    def test_all_is_shared_where_no_amount_is_given(self):
        first = {"devices_before": 0, "devices_in_all": 3}
        last = {"devices_before": 2, "devices_in_all": 3}
        shares = self.draw(first, ["fast"] * 2, 90) + self.draw(last, ["slow"], 90)
        self.assertEqual(sorted(sum(shares, [])), list(range(90)))

    def test_too_small_says_by_how_much(self):
        with self.assertRaisesRegex(datasets.DataError, "has 150 samples; 2 devices of 100 samples each need 200: 50 too few"):
            datasets.share_of({"samples_per_device": 100}, ["a", "a"], 0, 150)
        with self.assertRaisesRegex(datasets.DataError, "2 devices of 100 samples each after 300 for other types need 500: 50 too few"):
            datasets.share_of({"samples_per_device": 100, "samples_before": 300}, ["a", "a"], 0, 450)

    def test_bytes_become_samples(self):
        self.assertEqual(datasets.samples_per_device({"bytes_per_device": 1e9, "sample_bytes": 110e3}), 9090)
        self.assertEqual(datasets.samples_per_device({"samples_per_device": 12, "bytes_per_device": 1}), 12)
        self.assertIsNone(datasets.samples_per_device(None))


class Layers(unittest.TestCase):
    def test_sizes_are_inferred(self):
        model, shape = layers.build_model(
            [3, 32, 32],
            [
                {"kind": "conv2d", "out": 16, "kernel": 3, "padding": 1, "activation": "relu"}, {"kind": "batch_norm2d"},
                {"kind": "max_pool2d", "kernel": 2}, {"kind": "adaptive_avg_pool2d", "size": [4, 4]},
                {"kind": "flatten"}, {"kind": "dropout", "p": 0.5}, {"kind": "linear", "out": 10, "bias": False},
                {"kind": "log_softmax"},
            ],
        )
        self.assertEqual(shape, (10,))
        self.assertEqual(sum(each.numel() for each in model.parameters()), 3 * 16 * 9 + 16 + 32 + 16 * 16 * 10)

    def test_every_kind_can_be_built(self):
        inputs = {"conv1d": [4, 20], "batch_norm1d": [4], "embedding": [7], "lstm": [7, 8], "transformer_encoder_layer": [7, 8]}
        options = {
            "integer": 2, "number": 0.25, "boolean": True, "integer or pair": 2,
        }
        for kind, layer in layers.LAYERS.items():
            with self.subTest(kind=kind):
                given = {name: 1 if name == "padding" else options[type_name] for name, type_name, _ in layer.keys}
                for least in (given, {name: given[name] for name, _, required in layer.keys if required}):
                    layers.build_model(inputs.get(kind, [4, 8, 8]), [dict(least, kind=kind)])

    def test_every_activation_loss_and_optimizer_can_be_built(self):
        for name in layers.ACTIVATIONS:
            layers.build_model([8], [{"kind": "linear", "out": 4, "activation": name}, {"kind": name}])
        for name in layers.LOSSES:
            target = torch.tensor([1, 0]) if name in layers.CLASS_LOSSES else torch.zeros(2, 3)
            self.assertEqual(layers.build_loss(name)(torch.zeros(2, 3), target).dim(), 0)
        for name, (_, keys) in layers.OPTIMIZERS.items():
            given = {"number": 0.1, "boolean": False}
            parameters = [torch.nn.Parameter(torch.zeros(1))]
            layers.build_optimizer({"kind": name}, parameters)
            layers.build_optimizer(dict({key: given[type_name] for key, type_name in keys.items()}, kind=name), parameters)

    def test_mistakes_are_named(self):
        cases = [
            ([{"kind": "conv2d", "out": 4}], "layer 1: conv2d needs 'kernel'"),
            ([{"kind": "linear", "out": 4, "activation": "rellu"}], "layer 1: unknown activation 'rellu'"),
            ([{"kind": "flatten"}, {"kind": "dense"}], "layer 2: unknown kind of layer 'dense'"),
            ([{"kind": "linear", "out": 4, "units": 3}], "layer 1: linear has no key 'units'"),
            ([{"kind": "conv2d", "out": 4, "kernel": 9}], r"layer 1 \(conv2d\) does not fit an input of 3x8x8"),
        ]
        for typed, message in cases:
            with self.assertRaisesRegex(layers.LayerError, message):
                layers.build_model([3, 8, 8], typed)
        with self.assertRaisesRegex(layers.LayerError, "unknown loss 'cross'"):
            layers.build_loss("cross")
        with self.assertRaisesRegex(layers.LayerError, "sgd has no setting 'beta'"):
            layers.build_optimizer({"kind": "sgd", "beta": 1}, [torch.nn.Parameter(torch.zeros(1))])

    def test_the_tables_are_listed_as_json(self):
        listed = json.loads(subprocess.run([sys.executable, LOOP, "--list-layers"], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(listed, layers.tables())
        self.assertEqual(listed["layers"]["conv2d"]["out"], {"type": "integer", "required": True})


class Describe(unittest.TestCase):
    def observe(self, model, *inputs):
        observer = describe.LayerObserver(model)
        with observer.watching():
            output = model(*inputs)
        return output, observer.lines()

    @unittest.skipUnless(importlib.util.find_spec("torchvision"), "torchvision is not installed")
    def test_resnet18_with_ten_classes(self):
        import torchvision

        model = torchvision.models.resnet18(num_classes=10)
        output, lines = self.observe(model, torch.zeros(2, 3, 32, 32))
        line = describe.module_line("net", model, lines)
        self.assertEqual(line["parameters"], 11_181_642)
        self.assertEqual(sum(layer["parameters"] for layer in lines), 11_181_642)
        self.assertEqual(line["parameter_bytes"], {"float32": 4 * 11_181_642})
        self.assertEqual(line["gradient_bytes"], {"float32": 4 * 11_181_642})
        self.assertEqual(line["buffer_bytes"], 4 * 2 * 4800 + 8 * 20)
        kinds = [layer["kind"] for layer in lines]
        self.assertEqual((kinds.count("Conv2d"), kinds.count("BatchNorm2d"), kinds.count("Linear")), (20, 20, 1))
        self.assertEqual((lines[0]["name"], lines[0]["activation"]), ("conv1", "relu"))
        self.assertEqual(lines[0]["output_shapes"], [[2, 64, 16, 16]])
        self.assertEqual((lines[-1]["name"], lines[-1]["activation"]), ("fc", None))
        loss = torch.nn.functional.cross_entropy(output, torch.tensor([0, 1]))
        self.assertEqual(describe.loss_of_graph(loss), "cross_entropy")
        self.assertFalse(any(module._forward_hooks for module in model.modules()))

    def test_parameters_of_layers_that_are_not_called_are_there(self):
        model = torch.nn.MultiheadAttention(8, 2)
        x = torch.zeros(3, 1, 8)
        _, lines = self.observe(model, x, x, x)
        self.assertEqual(sum(layer["parameters"] for layer in lines), sum(each.numel() for each in model.parameters()))

    def test_losses_by_their_graph(self):
        x = torch.zeros(2, 3, requires_grad=True)
        functional = torch.nn.functional
        cases = {
            "nll": functional.nll_loss(x, torch.tensor([0, 1])), "mse": functional.mse_loss(x, torch.ones(2, 3)),
            "l1": functional.l1_loss(x, torch.ones(2, 3)) * 0.5, "bce": functional.binary_cross_entropy(x.sigmoid(), torch.ones(2, 3)),
            "bce_with_logits": functional.binary_cross_entropy_with_logits(x, torch.ones(2, 3)) / 4 + 1,
            "SumBackward0": x.sum(),
        }
        for name, loss in cases.items():
            self.assertEqual(describe.loss_of_graph(loss), name)
        self.assertIsNone(describe.loss_of_graph(x))


class Records(unittest.TestCase):
    def test_lines_wait_for_the_header_and_the_file_for_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            record = Record(folder)
            record.note("early")
            record.note("early")
            record.open(3, {"rank": 3})
            part = os.path.join(folder, "rank3.jsonl.part")
            self.assertEqual(os.stat(part).st_mode & 0o777, 0o600)
            with open(part, encoding="utf-8") as file:
                self.assertEqual([json.loads(line)["kind"] for line in file], ["header", "note"])
            record.complete(5)
            self.assertEqual(os.listdir(folder), ["rank3.jsonl"])

    def test_a_specification_of_another_format_is_refused(self):
        with self.assertRaisesRegex(ValueError, "foretrain.spec/2"):
            Spec({"format": "foretrain.spec/2", "record_dir": "/tmp"})
        spec = Spec({
            "format": "foretrain.spec/1", "record_dir": "/tmp", "device_type": "a", "types_by_rank": ["a", "b"],
            "batch": 4, "batch_by_rank": [4, 8],
        })
        self.assertEqual((spec.type_of(1), spec.batch_of(1), spec.batch_of(2)), ("b", 8, 4))

    def test_a_full_disk_leaves_room_for_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            record = Record(folder)
            record.open(3, {"rank": 3})
            record.write({"kind": "iteration", "i": 1})
            record.write_over({"kind": "error", "text": "No space left on device"})
            with open(os.path.join(folder, "rank3.jsonl.part"), encoding="utf-8") as file:
                self.assertEqual([json.loads(line)["kind"] for line in file], ["header", "error"])

    def test_reads_of_this_process_are_counted(self):
        before = procio.total_counts([])
        with open(__file__, "rb") as file:
            size = len(file.read())
        self.assertGreaterEqual(procio.total_counts([])[1] - before[1], size)
        self.assertIsNone(procio.read_counts(pid=2**22 + 1))


if __name__ == "__main__":
    unittest.main()
