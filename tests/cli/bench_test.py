"""Timing: what `lagtape bench` prints, the table of speed made from it on tiny sizes, and the peers where they are installed."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from import_models import keras_model
from tool import EXPERIMENT, ToolTest, changed, main, slow

TINY = changed(EXPERIMENT, data={"task": "random", "length": 40, "input": 1, "output": 1, "every_step": True},
               train={"epochs": 1, "batch": 4})


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


class StreamTest(ToolTest):
    def test_a_stream_is_timed_instead(self):
        path = self.write("experiment.json", TINY)
        found = json.loads(self.run_tool("bench", path, "--stream", "--steps", 200, "--repeats", 3, "--json")[0])
        self.assertEqual(found["stream_steps"], 200)
        times = found["stream_ns"]
        self.assertTrue(0 < times["min"] <= times["median"] <= times["max"])
        steps = found["step_ns"]
        self.assertTrue(0 < steps["median"] <= steps["p9999"] <= steps["largest"])
        self.assertEqual(sum(steps["bins"]), 600)
        middle = max(k for k in range(len(steps["bins"])) if sum(steps["bins"][:k]) < 300)  # the median's bin, by counting
        self.assertTrue(2 ** (middle - 1) <= steps["median"] < 2 ** middle or middle == 0)
        self.assertTrue(2 ** (len(steps["bins"]) - 2) <= steps["largest"] < 2 ** (len(steps["bins"]) - 1))
        self.assertEqual(found["predict_steps"], 1024)
        self.assertGreater(found["predict_us"]["min"], 0)
        self.assertNotIn("total_us", found)
        shown = self.run_tool("bench", path, "--stream", "--steps", 200, "--repeats", 1)[0]
        self.assertIn("ns per step", shown)
        self.assertIn("  steps by their time; the bars are logarithmic\n  below ", shown)
        bars = [line.split() for line in shown.splitlines() if line.startswith("  below ")]
        self.assertEqual(sum(int(bar[3]) for bar in bars), 200)
        self.assertTrue(all(("#" in bar[-1]) == (int(bar[3]) > 0) for bar in bars))

    def test_streams_of_other_weights_take_turns_with_the_own(self):
        path = self.write("experiment.json", changed(TINY, model__layers=[{"cell": "lstm", "units": 64}]))
        for weights in ("bf16", "int8"):
            args = ("bench", path, "--stream", "--steps", 200, "--repeats", 1, "--weights", weights)
            found = json.loads(self.run_tool(*args, "--json")[0])
            self.assertEqual(found["weights"], weights)
            self.assertGreater(found["weights_ns"]["min"], 0)
            self.assertEqual(found["weights_ratio"], found["weights_ns"]["median"] / found["stream_ns"]["median"])
            self.assertTrue(0 < found["weights_error"] < 0.1)
            self.assertRegex(self.run_tool(*args)[0], rf"\n{weights} .* ns per step")
        self.assertIn("did you mean 'bf16'", self.run_tool("bench", path, "--stream", "--weights", "bf17", code=2)[1])

    def test_a_stream_has_neither_plan_nor_threads(self):
        path = self.write("experiment.json", TINY)
        for args in (("--plan", "full"), ("--threads", 1), ("--subnormal",)):
            self.assertIn("--stream", self.run_tool("bench", path, "--stream", *args, code=2)[1])
        self.assertIn("--stream", self.run_tool("bench", path, "--steps", 5, code=2)[1])


@unittest.skipUnless(has("numpy", "scipy"), "NumPy and SciPy are not installed")
class SampleRatesTest(ToolTest):
    @slow
    def test_whole_rates_are_exact_and_others_are_measured(self):
        self.write("model", json.dumps(keras_model()))
        self.run_tool("import", "model", "--output", "run")
        done = subprocess.run([sys.executable, "-B", self.root / "tools/bench/sample_rates.py", self.tool, "run", "--json"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["rate"]: row for row in json.loads(done.stdout)}
        for rate in (96000, 192000):
            self.assertEqual((rows[rate]["linear"], rows[rate]["cubic"]), ("exact", "exact"))
        for rate in (72000, 88200):
            self.assertGreater(rows[rate]["cubic"], rows[rate]["linear"])
            self.assertGreater(rows[rate]["linear"], rows[rate]["unchanged"] + 10)
            self.assertGreater(rows[rate]["resampled"], 40)


class SubnormalTest(ToolTest):
    @slow
    def test_the_ratio_is_that_of_the_medians(self):
        path = self.write("experiment.json", TINY)
        found = json.loads(self.run_tool("bench", path, "--subnormal", "--repeats", 2, "--threads", 1, "--json")[0])
        self.assertAlmostEqual(found["subnormal_ratio"], found["subnormal_us"]["median"] / found["total_us"]["median"])
        self.assertIn("subnormal", self.run_tool("bench", path, "--subnormal", "--repeats", 1)[0])


class PrecisionTest(ToolTest):
    @slow
    def test_the_lstm_is_measured_in_bf16_too_where_there_is_the_instruction(self):
        path = self.write("experiment.json", TINY)
        in_bf16 = json.loads(self.run_tool("bench", path, "--repeats", 1, "--set", "train.precision=bf16", "--json")[0])
        in_f32 = json.loads(self.run_tool("bench", path, "--repeats", 1, "--json")[0])
        self.assertRegex(in_f32["onednn_version"], r"^\d+\.\d+")
        self.assertNotIn("onednn_bf16_lstm_us", in_f32)
        if "avx512_bf16" not in pathlib.Path("/proc/cpuinfo").read_text().split():
            self.assertNotIn("onednn_bf16_lstm_us", in_bf16)
            return
        self.assertEqual(in_bf16["onednn_bf16_ratio"], in_bf16["total_us"]["median"] / in_bf16["onednn_bf16_lstm_us"]["median"])
        self.assertIn(in_bf16["onednn_bf16_threads"], range(1, len(os.sched_getaffinity(0)) + 1))
        self.assertIn("in bf16", self.run_tool("bench", path, "--repeats", 1, "--set", "train.precision=bf16")[0])


class TableTest(ToolTest):
    """The experiments of the table, made tiny under the same names."""

    def setUp(self):
        super().setUp()
        self.bench = self.root / "tools" / "bench"
        for path in (self.bench / "experiments").glob("*.json"):
            experiment = json.loads(path.read_text())
            experiment["data"].update(length=24, train=2)
            experiment["train"]["batch"] = 2
            for layer in experiment["model"]["layers"]:
                layer.update(units=4 if "readout" in experiment["model"] else 2, **({"tau": 5} if "tau" in layer else {}))
            self.write(f"experiments/{path.name}", experiment)

    def table(self, *args, code=0):
        command = [sys.executable, "-B", self.bench / "table.py", self.tool, "--experiments", self.folder / "experiments",
                   "--repeats", "1", "--rounds", "1", "--stream-steps", "10", "--peer-repeats", "1", "--json", "table.json", *args]
        done = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows(self):
        return json.loads((self.folder / "table.json").read_text())["rows"]

    @slow
    def test_every_row_is_measured_or_says_why_not(self):
        shown = self.table().stdout
        rows = self.rows()
        self.assertEqual(len(rows), 45)
        for row in rows:
            with self.subTest(row["work"]):
                self.assertIn(f"| {row['work']} | {row['peer']} |", shown)
                if not row["available"]:
                    self.assertRegex(row["note"], "^(exit code 2: |this processor has no avx512_bf16)")
                    self.assertIn(row["note"].split("\n")[0], shown)
                    self.assertIsNone(row["met"])
                    continue
                self.assertGreater(row["ratio"], 0)
                if row["limit"] is None:
                    self.assertIsNone(row["met"])
                    continue
                within = row["ratio"] >= row["limit"] if row["at_least"] else row["ratio"] <= row["limit"]
                self.assertEqual(row["met"], within)
        available = {row["work"] for row in rows if row["available"]}
        self.assertLessEqual({"first row, products over time", "first row as equations in JSON", "first row, states, bytes",
                              "stream, LSTM and read-out, units 16", "first row, states and deltas subnormal"}, available)

    def test_a_refused_experiment_keeps_its_row_with_the_message(self):
        lem = json.loads((self.folder / "experiments/lem_psmnist.json").read_text())
        lem["model"]["layers"][0]["cell"] = "lemon"
        self.write("experiments/lem_psmnist.json", lem)
        shown = self.table("--only", "LEM").stdout
        self.assertIn("| not available |", shown)
        self.assertIn("unknown cell 'lemon'", shown)

    @slow
    def test_equations_that_are_another_program_do_not_meet_the_row(self):
        written = (self.folder / "experiments/written_tau_gru_psmnist.json").read_text()
        self.write("experiments/written_tau_gru_psmnist.json", written.replace("(u + a * z)", "(a * z + u)"))
        self.table("--only", "equations")
        row, = self.rows()
        self.assertEqual((row["note"], row["met"]), ("programs differ", False))

    def test_the_table_is_put_between_the_markers_of_a_page(self):
        page = self.write("page.md", "before\n<!-- table: written by table.py -->\nold\n<!-- end of table -->\nafter\n")
        shown = self.table("--only", "units 32", "--write", page).stdout
        self.assertEqual(page.read_text(), f"before\n<!-- table: written by table.py -->\n{shown}<!-- end of table -->\nafter\n")
        self.assertIn("expected the lines", self.table("--only", "units 32", "--write", self.write("other.md", ""), code=1).stderr)

    @slow
    def test_a_peer_whose_library_is_not_there_is_not_available(self):
        shutil.copytree(self.bench, self.folder / "bench")
        rows = self.folder / "bench" / "peer_rows.py"
        rows.write_text(rows.read_text().replace('("jax", (', '("no_such_library", ('))
        self.bench = self.folder / "bench"
        shown = self.table("--peers", "--only", "JAX").stdout
        self.assertEqual([row["available"] for row in self.rows()], [False] * 9)
        self.assertIn("no Python with no_such_library and numpy", shown)

    def peers(self, name):
        self.table("--peers", "--only", name)
        row, = self.rows()
        self.assertTrue(row["available"], row["note"])
        ours, theirs = row["details"].values()
        self.assertEqual(row["ratio"], ours["total_us"]["median"] / theirs["total_us"]["median"])
        self.assertLess(theirs["gradient_error"], 1e-3)

    @unittest.skipUnless(has("torch", "numpy"), "PyTorch is not installed")
    def test_torch_is_measured(self):
        self.peers("tau 20, PyTorch, eager")
        self.peers("batch 32, T 2000, PyTorch, nn.LSTM")

    @unittest.skipUnless(has("jax", "numpy"), "JAX is not installed")
    def test_jax_is_measured(self):
        self.peers("tau 20, JAX, scan")

    @unittest.skipUnless(has("jax", "numpy"), "JAX is not installed")
    def test_the_forward_pass_of_a_gru_is_measured_beside_jax(self):
        self.table("--peers", "--only", "one core, JAX, scan")
        row, = self.rows()
        ours, theirs = (1e-3 * side["steps"] * side["forward_us"]["median"] for side in row["details"].values())
        self.assertEqual((row["lagtape"], row["beside"], row["unit"]), (ours, theirs, "ms"))

    @unittest.skipUnless((pathlib.Path(sys.prefix) / "include/oneapi/dnnl/dnnl.hpp").exists(), "this Python has no oneDNN")
    def test_another_onednn_is_measured_beside_the_tools(self):
        self.table("--peers", "--only", "tau 65, oneDNN 3")
        row, = self.rows()
        self.assertRegex(row["note"], r"^oneDNN 3\.[\d.]+: [\d.e+]+ us, 2\.[\d.]+: ")


@unittest.skipUnless(has("numpy"), "NumPy is not installed")
class ReferenceTest(ToolTest):
    """The check that every peer passes before it is timed tells right from wrong."""

    def setUp(self):
        super().setUp()
        sys.path.insert(0, str(self.root / "tools" / "bench" / "peers"))
        self.addCleanup(sys.path.pop, 0)
        import peer
        import reference
        path = self.root / "tools" / "bench" / "experiments" / "tau_gru_psmnist.json"
        self.reference, self.case = reference, peer.small(peer.read_case(path))
        self.weights = peer.make_weights(self.case)
        self.data = peer.make_data(self.case)

    def gradients(self):
        import numpy as np
        weights = {name: value.astype(float) for name, value in self.weights.items()}
        result = {name: np.zeros_like(value) for name, value in weights.items()}
        for name, value in result.items():
            for place in np.ndindex(value.shape):
                direction = {name: np.zeros_like(value)}
                direction[name][place] = 1
                value[place] = self.reference.projected(self.case, weights, *self.data, direction)
        return result

    def check(self, loss, gradients):
        return self.reference.check(self.case, self.weights, *self.data, loss, gradients, each=True)

    @slow
    def test_right_gradients_pass_and_wrong_ones_do_not(self):
        loss = self.reference.loss(self.case, self.weights, *self.data)
        gradients = self.gradients()
        self.check(loss, gradients)
        for name in gradients:
            for wrong in (0 * gradients[name], 1.01 * gradients[name], -gradients[name]):
                with self.subTest(name), self.assertRaises(ValueError):
                    self.check(loss, {**gradients, name: wrong})
        swapped = gradients["W"][[0, 2, 1, 3]]
        with self.assertRaises(ValueError):
            self.check(loss, {**gradients, "W": swapped})
        with self.assertRaises(ValueError):
            self.check(1.001 * loss, gradients)


class RanksTest(ToolTest):
    def test_the_model_of_ranks_adds_compute_chain_and_broadcast(self):
        sys.path.insert(0, str(self.root / "tools" / "bench"))
        self.addCleanup(sys.path.pop, 0)
        import ranks
        network = {"latency_us": 1, "gb_per_second": 1}
        compute, sent = ranks.modelled(1.0, 10, [98304, 100], 4, network, 3e9)
        self.assertAlmostEqual(compute, 0.3)
        hops = [1 + 2 * 65.536, 1 + 2 * 32.768, 1 + 2 * 0.1]  # 3 slices are added at 3 GB/s
        self.assertAlmostEqual(1e6 * sent, sum(hops) + 2 * hops[0] + 2 * (1 + 98.304 + 1 + 0.1))
        self.assertEqual(ranks.modelled(1.0, 10, [98304, 100], 1, network, 3e9), (1.0, 0))


@unittest.skipUnless(has("numpy"), "NumPy is not installed")
class GradbenchTest(ToolTest):
    """The check of GradBench's lstm, and the program where it is built."""

    def setUp(self):
        super().setUp()
        sys.path.insert(0, str(self.root / "tools" / "bench" / "peers"))
        self.addCleanup(sys.path.pop, 0)
        import gradbench
        self.gradbench = gradbench
        gradbench.LARGEST_ERROR = 1e-8  # that of central differences
        self.data = gradbench.problem(2, 9, "")

    def central_differences(self):
        import numpy as np
        flat = np.concatenate([self.data[name].ravel() for name in ("main_params", "extra_params")])
        main = self.data["main_params"].size
        def objective(numbers):
            return self.gradbench.numpy_objective(self.data, numbers[:main].reshape(self.data["main_params"].shape),
                                                  numbers[main:].reshape(self.data["extra_params"].shape))
        step = 2e-3
        gradient = [(8 * (objective(flat + e) - objective(flat - e)) - objective(flat + 2 * e) + objective(flat - 2 * e))
                    / (12 * step) for e in step * np.eye(len(flat))]
        return objective(flat), np.array(gradient)

    @slow
    def test_right_results_pass_and_wrong_ones_do_not(self):
        objective, gradient = self.central_differences()
        self.gradbench.check(self.data, objective, gradient)
        one = gradient.copy()
        one[17] *= 1.001
        for wrong in (0 * gradient, -gradient, 1.0001 * gradient, one):
            with self.assertRaises(ValueError):
                self.gradbench.check(self.data, objective, wrong)
        with self.assertRaises(ValueError):
            self.gradbench.check(self.data, 1.0001 * objective, gradient)

    def test_the_text_has_the_bits_of_the_benchmarks_own(self):
        self.assertEqual(self.data["sequence"].shape, (9, 14))
        self.assertEqual(self.data["sequence"][-1].tolist(), [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1])

    def test_the_program_agrees_and_says_what_is_wrong(self):
        program = pathlib.Path(self.tool).with_name("lagtape_gradbench")
        if not program.exists():
            self.skipTest("lagtape_gradbench is not built")
        objective, gradient, times, _ = self.gradbench.by_lagtape(program, self.data, 2, self.folder)
        self.gradbench.check(self.data, objective, gradient)
        self.assertEqual(len(times), 2)
        path = self.write("lstm.json", {**{name: value.tolist() for name, value in self.data.items()}, "state": [[1.0]]})
        for function, message in (("objective", "state [1, 1]"), ("hessian", "sizes")):
            done = subprocess.run([program, path, function], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    main()
