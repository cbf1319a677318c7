"""The built-in loop: a job's entry function, and typed layers."""

import os
import tempfile
import unittest

import torch

from launching import LOOP, SCRIPTS, Launch

import loop

LAYERS = {
    "kind": "layers",
    "input": [3, 16, 16],
    "layers": [
        {"kind": "conv2d", "out": 8, "kernel": 3, "activation": "relu"}, {"kind": "batch_norm2d"},
        {"kind": "flatten"}, {"kind": "linear", "out": 4},
    ],
    "loss": "cross_entropy",
    "optimizer": {"kind": "adamw", "lr": 0.001},
}
ENTRY = {"kind": "entry", "file": os.path.join(SCRIPTS, "entry_model.py"), "function": "build", "args": {"width": 32}}


class Loop(unittest.TestCase):
    def train(self, n=2, **spec):
        with Launch([LOOP], n=n, **spec) as launch:
            self.assertEqual(launch.wait(), [0] * n, launch.output())
            return [launch.record(rank) for rank in range(n)]

    def test_an_entry_function_trains_on_each_devices_draw(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = os.path.join(folder, "seen")
            model = dict(ENTRY, args={"width": 32, "seen": seen})
            data = {"samples_per_device": 48, "workers": 0}
            records = self.train(model=model, data=data, batch=16, batch_by_rank=[16, 16])
            indices = []
            for rank in range(2):
                with open("%s.%d" % (seen, records[rank].lines[0]["pid"]), encoding="utf-8") as file:
                    indices.append({int(line) for line in file})
        self.assertEqual([len(each) for each in indices], [48, 48])
        self.assertEqual(indices[0] & indices[1], set())
        record = records[0]
        self.assertEqual(record.lines[-1]["reason"], "window complete")
        self.assertEqual(record.one("model")["optimizers"][0]["kind"], "SGD")
        self.assertEqual([line["i"] for line in record.iterations if line["edge"]], [1, 3, 4, 6, 7, 9, 10, 12])

    def test_typed_layers_train_on_synthetic_data(self):
        record = self.train(n=1, model=LAYERS, batch=8, batch_by_rank=[8])[0]
        model = record.one("model")
        self.assertEqual([layer["kind"] for layer in model["modules"][0]["layers"]][:3], ["Conv2d", "ReLU", "BatchNorm2d"])
        self.assertEqual(model["modules"][0]["layers"][0]["activation"], "relu")
        self.assertEqual(model["loss"], "cross_entropy")
        self.assertEqual(model["optimizers"], [{"kind": "AdamW", "settings": model["optimizers"][0]["settings"]}])
        self.assertEqual({line["samples"] for line in record.iterations}, {8})
        self.assertTrue(any("synthetic" in note for note in record.notes))

    def test_typed_layers_train_on_class_folders(self):
        from PIL import Image

        with tempfile.TemporaryDirectory() as folder:
            for name in ("cats", "dogs"):
                os.mkdir(os.path.join(folder, name))
                for number in range(40):
                    Image.new("RGB", (20, 30), (number, 0, 0)).save(os.path.join(folder, name, "%d.png" % number))
            data = {"dir": folder, "samples_per_device": 40, "workers": 1}
            record = self.train(n=1, model=LAYERS, data=data, batch=8, batch_by_rank=[8])[0]
        self.assertEqual(record.one("loader")["workers"], 1)
        self.assertFalse(any("synthetic" in note for note in record.notes))
        self.assertGreater(record.one("io")["read_chars"], 40 * 50)

    def test_typed_layers_train_on_tensors(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.save((torch.randn(64, 3, 16, 16), torch.randint(0, 4, (64,))), os.path.join(folder, "train.pt"))
            record = self.train(n=1, model=LAYERS, data={"dir": folder}, batch=8, batch_by_rank=[8])[0]
        self.assertEqual([line["i"] for line in record.iterations if line["edge"]], [1, 8, 9])

    def test_mistakes_are_refused_in_the_users_words(self):
        error = "a device is given 20 samples, less than one mini-batch of 32"
        with Launch([LOOP], n=1, model=ENTRY, data={"samples_per_device": 20}) as launch:
            self.assertEqual(launch.wait(), [97], launch.output())
            self.assertEqual(launch.partial_record().lines[-1], {"kind": "error", "text": error})

    def test_an_entry_function_must_be_there_and_give_all(self):
        with self.assertRaisesRegex(loop.EntryError, "%s has no function make" % ENTRY["file"]):
            loop.load_entry(dict(ENTRY, function="make"))
        with self.assertRaisesRegex(loop.EntryError, "must return model, loss, optimizer and data set"):
            loop.load_entry(dict(ENTRY, function="Numbered", args={"seen": None}))


if __name__ == "__main__":
    unittest.main()
