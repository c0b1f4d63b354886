"""LinOSS over sequences as long as its paper's longest, 49,920 steps: in little memory, and backwards on the grid with the same bits."""

import resource
import unittest

from tool import ToolTest, main, read_safetensors

STEPS, MEBIBYTES = 50000, 64
LAYER = {"cell": "linoss", "units": 16, "oscillators": 32}


def experiment(**layer):
    return {"name": "long", "data": {"task": "random", "length": STEPS, "input": 6, "output": 1, "train": 2},
            "model": {"layers": [{"layer": "linear", "units": 16}, {**LAYER, **layer}, {**LAYER, **layer}], "readout": {"at": "mean"}},
            "loss": "mse", "optimizer": {"type": "adam", "lr": 0.001}, "train": {"epochs": 1, "batch": 2, "keep": "last"}}


class LinossTest(ToolTest):
    def trained(self, name, experiment, memory):
        self.run_tool("train", self.write(f"{name}.json", experiment), "--out", name, "--quiet", "--threads", "2", "--set", f"train.memory={memory}")
        return read_safetensors((self.folder / name / "weights.safetensors").read_bytes())[1]

    def test_50000_steps_train_in_64_mebibytes_and_backwards_with_the_same_bits(self):
        backwards = self.trained("backwards", experiment(method="imex", arithmetic="grid"), '"reversible"')
        implicit = self.trained("implicit", experiment(), '{"budget": "24MiB"}')
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        self.assertLess(most, MEBIBYTES)
        self.assertGreater(most, 4)
        self.assertEqual(self.trained("full", experiment(method="imex", arithmetic="grid"), '"full"'), backwards)
        self.assertNotEqual(implicit, backwards)
        self.assertGreater(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, MEBIBYTES)


if __name__ == "__main__":
    main()
