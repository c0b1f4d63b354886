"""The optimizer `ridge`: the read-out that is best, in one pass, and nothing else of the model changed."""

import json
import struct
import unittest

from tool import ToolTest, changed, main, read_safetensors, slow

EXPERIMENT = {"name": "echo", "data": {"task": "mackey_glass", "train": 32, "valid": 16, "test": 16},
              "model": {"layers": [{"cell": "echo_state", "units": 60}], "readout": {"units": 1, "at": "every_step"}},
              "loss": "mse", "metrics": ["rmse"], "optimizer": {"type": "ridge"}, "train": {"epochs": 1, "batch": 8, "precision": "f64"}}


class RidgeTest(ToolTest):
    def trained(self, name, **values):
        self.run_tool("train", self.write(f"{name}.json", changed(EXPERIMENT, **values)), "--out", name, "--quiet")
        header, buffer = read_safetensors((self.folder / name / "weights.safetensors").read_bytes())
        tensors = {key: buffer[slice(*tensor["data_offsets"])] for key, tensor in header.items() if key != "__metadata__"}
        return tensors, json.loads(self.run_tool("eval", name, "--json", "--split", "train")[0])["loss"]

    @slow
    def test_it_is_better_than_any_training_of_the_same_states(self):
        ridge, loss = self.trained("ridge")
        adam, higher = self.trained("adam", optimizer={"type": "adam", "lr": 0.01}, train__epochs=60)
        self.assertLess(loss, higher)
        self.assertLess(loss, 0.001)
        self.assertEqual({key for key in ridge if ridge[key] != adam[key]}, {"readout.W", "readout.W.bias"})
        more, penalised = self.trained("more", optimizer={"type": "ridge", "alpha": 1})
        self.assertGreater(penalised, loss)
        self.assertEqual({key for key in ridge if ridge[key] != more[key]}, {"readout.W", "readout.W.bias"})
        weights = [struct.unpack("<60d", one["readout.W"]) for one in (self.trained("again", train__batch=32)[0], ridge)]
        self.assertLess(max(abs(a - b) for a, b in zip(*weights)), 1e-6 * max(map(abs, weights[1])))  # sums in another order

    def test_other_losses_are_refused(self):
        self.write("other.json", changed(EXPERIMENT, loss="huber"))
        error = self.run_tool("train", "other.json", "--quiet", code=2)[1]
        self.assertIn('[ridge] it is for the loss "mse"', error)


if __name__ == "__main__":
    main()
