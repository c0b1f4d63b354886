"""Mixed precision: layers whose products multiply numbers in bf16, with one answer as in every other precision."""

import json
import os
import pathlib
import subprocess
import unittest
from unittest import mock

from tool import ToolTest, changed, main, npy, npy_values, read_safetensors

EXPERIMENT = {
    "name": "half",
    "seed": 3,
    "data": {"task": "random", "length": 53, "input": 3, "output": 2, "train": 20, "valid": 6, "test": 6},
    "model": {"layers": [{"cell": "tau_gru", "units": 24, "tau": 5}, {"cell": "lstm", "units": 17}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 4, "batch": 10, "precision": "bf16", "keep": "last"},
}


def processor_flags():
    info = pathlib.Path("/proc/cpuinfo")
    return set(info.read_text().split()) if info.exists() else set()


class Bf16Test(ToolTest):
    def tensors(self, run):
        header, buffer = read_safetensors(self.weights(run))
        header.pop("__metadata__")
        return {name: (tensor["dtype"], buffer[slice(*tensor["data_offsets"])]) for name, tensor in header.items()}

    def trained(self, run, *args, experiment=EXPERIMENT):
        self.train(run, *args, experiment=experiment)
        return self.tensors(run)

    def test_threads_plans_and_resuming_change_no_bit(self):
        whole = self.trained("whole", "--threads", 1)
        self.assertEqual({dtype for dtype, _ in whole.values()}, {"F32"})
        self.assertEqual(self.trained("threads", "--threads", 3), whole)
        for plan in ("full", "states", "checkpoint"):
            self.assertEqual(self.trained(plan, "--set", f"train.memory={plan}"), whole, plan)
        self.trained("resumed", "--set", "train.epochs=2")
        self.assertNotEqual(self.tensors("resumed"), whole)
        self.assertEqual(self.trained("resumed", "--resume"), whole)
        self.assertNotEqual(self.trained("f32", "--set", "train.precision=f32"), whole)

    @unittest.skipUnless({"fma", "avx512dq"} <= processor_flags(), "compares two SIMD levels that this machine does not have")
    def test_the_instruction_and_its_emulation_train_the_same_weights(self):
        found = []
        for level in ("avx2", "avx512"):
            with mock.patch.dict(os.environ, LAGTAPE_SIMD=level):
                found.append(self.trained(level))
        self.assertEqual(*found)

    def test_a_stream_a_batch_and_a_row_give_the_same_predictions(self):
        self.train("run", experiment=EXPERIMENT)
        rows = [((7 * i) % 23 - 11) / 16 for i in range(4 * 30 * 3)]
        self.write("batch.npy", npy((4, 30, 3), rows))
        self.write("row.npy", npy((30, 3), rows[:90]))
        predicted = {}
        for name, file, args in (("batch", "batch", []), ("stream", "batch", ["--stream"]), ("row", "row", []),
                                 ("row of a stream", "row", ["--stream"])):
            self.run_tool("predict", "run", "--input", f"{file}.npy", "--output", "y.npy", *args)
            predicted[name] = npy_values((self.folder / "y.npy").read_bytes())
        self.assertEqual(predicted["stream"], predicted["batch"])
        self.assertEqual(predicted["row"], predicted["batch"][:60])
        self.assertEqual(predicted["row of a stream"], predicted["row"])

    def test_it_streams_without_rounding_when_asked(self):
        self.train("run", experiment=EXPERIMENT)
        header, buffer = read_safetensors(self.weights("run"))
        header["__metadata__"]["experiment"] = header["__metadata__"]["experiment"].replace('"bf16"', '"f32"')
        text = json.dumps(header).encode()
        self.write("single.safetensors", len(text).to_bytes(8, "little") + text + buffer)
        self.write("row.npy", npy((30, 3), [((7 * i) % 23 - 11) / 16 for i in range(90)]))
        found = {}
        for name, model, weights in (("own", "run", "own"), ("half", "run", "bf16"), ("f32", "run", "f32"), ("single", "single.safetensors", "own")):
            _, said = self.run_tool("predict", model, "--input", "row.npy", "--output", "y.npy", "--stream", "--weights", weights)
            found[name] = npy_values((self.folder / "y.npy").read_bytes())
            self.assertEqual("the outputs differ from those in the model's precision" in said, name == "f32", name)
        self.assertEqual(found["half"], found["own"])
        self.assertEqual(found["f32"], found["single"])
        self.assertNotEqual(found["f32"], found["own"])

    def test_it_learns_nearly_what_f32_learns(self):
        losses = []
        for precision in ("f32", "bf16"):
            self.train(precision, "--set", f"train.precision={precision}", experiment=EXPERIMENT)
            rows = (self.folder / precision / "metrics.jsonl").read_text().splitlines()
            losses.append([json.loads(row)["train_loss"] for row in rows])
        for single, half in zip(*losses):
            self.assertNotEqual(single, half)
            self.assertLess(abs(single - half), 0.01 * single)

    def test_what_the_commands_say_of_it(self):
        self.write("half.json", EXPERIMENT)
        out, _ = self.run_tool("check", "half.json", "--gradients")
        self.assertIn("without the rounding of products to bf16", out)
        out, _ = self.run_tool("check", "half.json", "--gradients", "--json")
        self.assertTrue(json.loads(out)["without_rounding"])
        out, _ = self.run_tool("check", "half.json", "--gradients", "--json", "--set", "train.precision=f32")
        self.assertNotIn("without_rounding", json.loads(out))
        out, _ = self.run_tool("inspect", "half.json", "--json")
        self.assertEqual(json.loads(out)["experiment"]["train"]["precision"], "bf16")
        _, err = self.run_tool("check", "half.json", "--set", "train.precision=bf15", code=2)
        self.assertIn("'bf16'", err)
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        out, _ = self.run_tool("eval", "run", "--json")
        self.assertGreater(json.loads(out)["rmse"], 0)

    def test_it_is_exported_as_a_model_of_f32_or_not_at_all(self):
        lstm = {"layers": [{"cell": "lstm", "units": 17}], "readout": {"at": "every_step"}}
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1, model=lstm))
        for form, ending in (("c99", "c"), ("onnx", "onnx"), ("onnx-step", "onnx"), ("torch", "safetensors"), ("keras", "json")):
            command = ["export", "run", "--to", form, "--output", f"{form}.{ending}"]
            _, err = self.run_tool(*command, code=2)
            self.assertIn("run: the model was trained in bf16", err)
            self.assertIn("--precision f32", err)
            self.assertIn("--set train.precision=f32", err)
            self.assertFalse((self.folder / f"{form}.{ending}").exists())
            self.run_tool(*command, "--precision", "f32")
        main_file = '#include "c99.c"\nint main(void) { return c99_self_test(); }\n'
        self.write("main.c", main_file)
        subprocess.run(["cc", "-std=c99", "-O2", "-Dc99_SELF_TEST", "main.c", "-o", "model", "-lm"], cwd=self.folder, check=True)
        self.assertEqual(subprocess.run([self.folder / "model"]).returncode, 0)
        _, err = self.run_tool("export", "run", "--to", "c99", "--output", "other.c", "--precision", "f64", code=2)
        self.assertIn("trained in bf16", err)


if __name__ == "__main__":
    main()
