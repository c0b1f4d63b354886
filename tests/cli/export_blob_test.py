"""lagtape export --to blob and the C file that runs it: the numbers of the stream, what is damaged, and how small a program is."""

import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import unittest

from export_models import cell_models, experiment, layer_models, time_columns
from tool import ToolTest, main, npy, npy_values, slow

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "tools/stream/blob_stream.c"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", f"-I{SOURCE.parent}"]
STEPS = 200
# Runs the model of the first argument twice over the numbers of standard input, and prints the second time's; 3: no whole model.
PROGRAM = """#include <blob_stream.h>
#include <stdio.h>
#include <stdlib.h>
static char *content_of(FILE *file, size_t *bytes) {
  char *content = (char *)malloc(1 << 24);
  *bytes = fread(content, 1, 1 << 24, file);
  return (char *)realloc(content, *bytes ? *bytes : 1);
}
int main(int count, char **arguments) {
  size_t bytes, given;
  FILE *file = fopen(arguments[count - 1], "rb");
  char *model = content_of(file, &bytes);
  float *in = (float *)(void *)content_of(stdin, &given), out[4096];
  fclose(file);
  const size_t memory = lagtape_blob_memory(model, bytes);
  if (memory == 0 || memory > 1 << 28) return 3;
  const int inputs = lagtape_blob_inputs(model), outputs = lagtape_blob_outputs(model);
  if (outputs > 4096) return 4;
  void *stream = malloc(memory);
  lagtape_blob_begin(stream, model);
  for (int run = 0; run < 2; ++run) {
    lagtape_blob_reset(stream);
    for (size_t n = 0; n + (size_t)inputs <= given / 4; n += (size_t)inputs) {
      lagtape_blob_step(stream, in + n, out);
      if (run) fwrite(out, 4, (size_t)outputs, stdout);
    }
  }
  free(stream);
  free(model);
  free(in);
  return 0;
}
"""


@unittest.skipUnless(shutil.which("gcc"), "gcc is not installed")
class BlobTest(ToolTest):
    def build(self, *options, compiler="gcc", output="run_blob"):
        self.write("main.c", PROGRAM)
        done = subprocess.run([compiler, *STRICT, *options, "main.c", SOURCE, "-o", output, "-lm"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def run_blob(self, values, model="model.blob", program="./run_blob"):
        done = subprocess.run([program, model], cwd=self.folder, input=struct.pack(f"{len(values)}f", *values), capture_output=True,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        return done, struct.unpack(f"{len(done.stdout) // 4}f", done.stdout)

    def export(self, whole):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", "--seed", 1, experiment=whole)
        self.run_tool("export", "run", "--to", "blob", "--output", "model.blob")

    def check(self, name, whole, tolerance=2e-6):
        width = whole["data"].get("input", 1)
        draw = random.Random(3)
        values = [struct.unpack("f", struct.pack("f", draw.gauss(0, 1)))[0] for _ in range(STEPS * width)]
        for column in time_columns(whole):
            values[column::width] = [(1 + n % 8) / 8 for n in range(STEPS)]
        if "tokens" in whole["data"]:
            values = [float(i * i % whole["data"]["tokens"]) for i in range(STEPS)]
        self.write("x.npy", npy((STEPS, width), values))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", "--stream")
        wanted = npy_values((self.folder / "y.npy").read_bytes())
        done, got = self.run_blob(values)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(len(got) % STEPS, 0)
        self.assertGreater(max(map(abs, wanted)), 1e-3)
        error = max(abs(a - b) for a, b in zip(got[-len(wanted):], wanted, strict=True)) / max(1, max(map(abs, wanted)))
        self.assertLessEqual(error, tolerance, name)

    def models(self, names=None):
        for name, whole in [*cell_models(), *layer_models()]:
            if names is None or name in names:
                yield name, whole

    def test_some_cells_give_the_outputs_of_their_streams(self):
        self.build("-std=c99", "-O2")
        for name, whole in self.models({"tau_gru-0", "tarnn-0", "s4d-0"}):
            with self.subTest(name):
                self.export(whole)
                self.check(name, whole)
        tokens = experiment([{"layer": "embedding", "units": 4}, {"cell": "lstm", "units": 5}], inputs=1, at="mean")
        tokens["data"]["tokens"] = 7
        del tokens["data"]["input"]
        self.export(tokens)
        self.check("tokens", tokens)
        self.assertTrue(all(map(math.isnan, self.run_blob([7.0])[1])))

    @slow
    def test_every_cell_gives_the_outputs_of_its_stream(self):
        self.build("-x", "c++", "-std=c++11", "-O2", compiler="g++")
        taken = 0
        for name, whole in self.models():
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.train("run", "--seed", 1, experiment=whole)
                done = subprocess.run([self.tool, "export", "run", "--to", "blob", "--output", "model.blob"], cwd=self.folder,
                                      capture_output=True, text=True)
                if "grid" in done.stderr:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check(name, whole, 4e-5 if name.startswith("mlstm") else 4e-6)
                taken += 1
        self.assertGreater(taken, 80)

    def damaged(self, content, count, seed):
        draw = random.Random(seed)
        for n in range(count):
            if n % 2:
                yield content[:draw.randrange(len(content))]
                continue
            place = draw.randrange(min(len(content), 3000)) if n % 4 else draw.randrange(len(content))
            yield content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1:]

    def check_damaged(self, count):
        self.build("-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        self.export(experiment([{"cell": "tau_gru", "units": 3, "tau": 4}, {"cell": "lstm", "units": 2}]))
        content = (self.folder / "model.blob").read_bytes()
        refused = 0
        for n, changed in enumerate(self.damaged(content, count, 5)):
            (self.folder / "bad.blob").write_bytes(changed)
            done, _ = self.run_blob([0.1] * 60, "bad.blob")
            self.assertIn(done.returncode, (0, 3, 4), (n, done.stderr[-2000:]))
            refused += done.returncode == 3
            self.assertTrue(n % 2 == 0 or done.returncode == 3, "a part of a model was taken for a model")
        print(f"{refused} of {count} damaged models are refused, the others run", flush=True)
        self.assertGreater(refused, count // 2)

    def test_damaged_models_are_refused_or_run(self):
        self.check_damaged(24)

    @slow
    def test_many_damaged_models_are_refused_or_run(self):
        self.check_damaged(500)

    def test_a_program_with_an_lstm_is_small_and_needs_the_c_library_alone(self):
        self.build("-std=c99", "-O2", "-s", "-static", output="static")
        self.build("-std=c99", "-O2", "-s", output="shared")
        self.export(experiment([{"cell": "lstm", "units": 16}], inputs=1, outputs=1))
        sizes = [(self.folder / name).stat().st_size for name in ("static", "shared", "model.blob")]
        print(f"bytes of the static program, of the one that shares the C library, and of the model: {sizes}", flush=True)
        self.assertLess(sizes[1] + sizes[2], 64 << 10)
        needed = subprocess.check_output(["readelf", "-d", "shared"], cwd=self.folder, text=True)
        self.assertNotIn("libstdc++", needed)
        self.assertNotIn("libgomp", needed)

    def test_a_step_calls_nothing_but_functions_of_numbers(self):
        """So that it can neither allocate, nor lock, nor call the system."""
        subprocess.run(["gcc", "-std=c99", "-O2", "-c", SOURCE, "-o", "blob.o"], cwd=self.folder, check=True)
        called = {line.split()[-1] for line in subprocess.check_output(["nm", "-u", "blob.o"], cwd=self.folder, text=True).splitlines()}
        numbers = {name + "f" for name in ("tanh", "exp", "log1p", "log", "sqrt", "sin", "cos", "floor", "erf", "atan")}
        self.assertEqual(called - numbers - {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}, set())
        self.assertIn("tanhf", called)

    def test_what_a_blob_cannot_hold_is_refused_by_name(self):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=experiment([{"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}}]))
        self.assertIn("bidirectional", self.run_tool("export", "run", "--to", "blob", "--output", "a", code=2)[1])


if __name__ == "__main__":
    main()
