"""On 64-bit ARM, emulated, the runtime has the bits of this machine: what models of every cell and layer predict and
stream. The commands of the documents build it, and the program that runs the models. Where the compiler or the emulator is
missing nothing is tested, which is said, and the exit code is 77. aarch64_test.py TOOL --device PROGRAM takes that program
as another build left it.
"""

import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

from export_models import both_ways_models, cell_models, experiment, layer_models
from tool import ToolTest, main, npy

NEEDED = ("aarch64-linux-gnu-g++", "qemu-aarch64", "cmake", "ninja")
PAGE = ToolTest.root / "tools/docs/building.md"
DEVICE, BUILT = ToolTest.root / "build/aarch64/device", False
STEPS = 48

FADING = {"weights": {"U": ["units", "input"]}, "state": {"h": "units", "k": "units"},
          "step": ["h' = 0.3 * h + U @ x", "k' = 0.1 * (k - h) + exp(10 * h' - 80) * tanh(h)"], "output": "h' + k'"}


def commands_of_the_page():
    return re.search(r"```sh aarch64\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


def obstacle():
    """Why nothing can be tested here, or nothing."""
    if absent := [program for program in NEEDED if shutil.which(program) is None]:
        return f"not found: {', '.join(absent)}"
    if "fma" not in pathlib.Path("/proc/cpuinfo").read_text().split():
        return "this machine has no fused multiply-add, so that its last bits are others"
    return ""


def numbers_of(data, kind):
    return struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data)


class Aarch64Test(ToolTest):
    @classmethod
    def setUpClass(cls):
        if BUILT:
            return
        build = subprocess.run(["bash", "-euc", commands_of_the_page()], cwd=cls.root, capture_output=True, text=True)
        if build.returncode != 0:
            raise AssertionError(f"the commands of the page fail: {build.stdout[-2000:]}{build.stderr[-2000:]}")

    def prepare(self, whole, inputs=None):
        """Trains a model for one update, and makes its inputs: in the run's precision, and as an array."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=whole)
        width, draw = whole["data"]["input"], random.Random(1)
        kind = "d" if whole["train"].get("precision") == "f64" else "f"
        values = inputs or [draw.gauss(0, 1) for _ in range(STEPS * width)]
        values = numbers_of(struct.pack(f"<{len(values)}{kind}", *values), kind)
        self.write("in", struct.pack(f"<{len(values)}{kind}", *values))
        self.write("x.npy", npy((len(values) // width, width), values))
        return kind

    def here(self, *options):
        """The bytes of what this machine computes."""
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", *options)
        content = (self.folder / "y.npy").read_bytes()
        return content[10 + struct.unpack("<H", content[8:10])[0]:]

    def there(self, *options, level="neon", code=0):
        """The bytes of what the emulated machine computes."""
        with open(self.folder / "in", "rb") as numbers:
            done = subprocess.run(["qemu-aarch64", DEVICE, "run/weights.safetensors", *options], cwd=self.folder, stdin=numbers,
                                  capture_output=True, timeout=600, env={**os.environ, "LAGTAPE_SIMD": level})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr.decode()

    def assert_same(self, name, found, expected, kind):
        """The bytes are those of this machine, which are finite and not all the same number."""
        values = numbers_of(expected, kind)
        self.assertTrue(len(set(values)) > 1 and all(abs(value) < 1e30 for value in values), name)
        self.assertEqual(len(found), len(expected), name)
        found = numbers_of(found, kind)
        differing = [f"{number}: {a!r}, here {b!r}" for number, (a, b) in enumerate(zip(found, values)) if a.hex() != b.hex()]
        self.assertEqual(differing[:3], [], f"{name}: {len(differing)} of {len(values)} differ")

    def compare(self, models, streams=True):
        count = 0
        for name, whole in models:
            with self.subTest(name):
                kind = self.prepare(whole)
                expected = self.here()
                self.assert_same(f"{name}, predicted", self.there("predict"), expected, kind)
                if streams:
                    found = self.there()  # a model that reads its last step out gives an output after each
                    self.assert_same(f"{name}, streamed", found[-len(expected):], self.here("--stream"), kind)
                count += 1
        print(f"{count} models have the same bits", flush=True)

    def test_every_cell_and_its_equations(self):
        self.compare(cell_models())

    def test_every_cell_in_doubles(self):
        self.compare((name, whole) for name, whole in cell_models(precision="f64") if name.endswith("-0"))

    def test_every_cell_in_bf16(self):
        self.compare((name, whole) for name, whole in cell_models(precision="bf16") if name.endswith("-0"))

    def test_layers_and_cells_of_ones_own(self):
        self.compare(layer_models())

    def test_models_that_read_from_both_ends(self):
        self.compare(both_ways_models(), streams=False)

    def test_wide_layers(self):
        layers = [{"cell": "tau_gru", "units": 70, "tau": 20}, {"cell": "lstm", "units": 33}]
        self.compare((precision, experiment(layers, precision=precision)) for precision in ("f32", "f64", "bf16"))

    def test_states_that_fade_below_the_normal_numbers(self):
        """They are flushed to zero here and there, at the same step."""
        for precision in ("f32", "bf16"):
            kind = self.prepare(experiment([{"cell": "fading", "units": 5}], cells={"fading": FADING}, precision=precision),
                                [1.0, -2.0, 0.5] + [0.0] * 3 * 150)
            expected = self.here("--stream")
            self.assert_same(precision, self.there(), expected, kind)

    def test_without_fused_multiply_add_the_bits_are_those_of_this_machine_without(self):
        for name, whole in cell_models():
            if name not in ("tau_gru-0", "lem-0", "lstm-0", "s4d-0", "unicornn-0"):
                continue
            with self.subTest(name):
                kind = self.prepare(whole)
                expected = self.here("--simd", "generic")
                self.assert_same(name, self.there("predict", level="generic"), expected, kind)
                # A difference in the last bits is seen.
                self.assertNotEqual(expected, self.here())

    def test_a_model_that_cannot_be_read_is_refused(self):
        self.prepare(experiment([{"cell": "gru", "units": 4}]))
        content = self.weights("run")
        (self.folder / "run/weights.safetensors").write_bytes(content[:-1])
        self.assertIn("weights.safetensors", self.there(code=2))
        (self.folder / "run/weights.safetensors").write_bytes(content)
        self.assertIn("unknown SIMD level of this machine 'avx2'", self.there(level="avx2", code=2))


if __name__ == "__main__":
    if reason := obstacle():
        print(f"skipped, not passed: {reason}", flush=True)
        sys.exit(77)
    if "--device" in sys.argv:
        at = sys.argv.index("--device")
        DEVICE, BUILT = pathlib.Path(sys.argv[at + 1]).resolve(), True
        del sys.argv[at:at + 2]
    main()
