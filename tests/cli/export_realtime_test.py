"""Exported C under the sanitizer for real-time code (clang 20 or later): a step, with times, with products of whole numbers, or out of
bytes, calls nothing that allocates, locks or waits. Skipped, and said, where no such compiler is."""

import pathlib
import shutil
import subprocess
import unittest

from export_models import cell_models, experiment
from tool import RECORDING, ToolTest, changed, main, slow

BLOB = pathlib.Path(__file__).resolve().parents[2] / "tools/stream/blob_stream.c"
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
HEADER
static float in[1024], out[1024];
static void *volatile taken;
static void step(void) __attribute__((nonblocking));
static void step(void) {
  STEP;
}
int main(void) {
  BEGIN;
  for (int n = 0; n < 200; ++n) step();
  return taken != NULL;
}
"""
C_FILE = {"HEADER": '#include "model.c"\nstatic model_state state;', "STEP": "model_step(&state, in, out)", "BEGIN": "model_init(&state)"}
BYTES = {"HEADER": f'#include "{BLOB}"\nstatic int model[1 << 16];\nstatic void *stream;', "STEP": "lagtape_blob_step(stream, in, out)",
         "BEGIN": 'FILE *file = fopen("model.blob", "rb");\n  stream = malloc(lagtape_blob_memory(model, fread(model, 1, sizeof model, file)));\n'
                  "  lagtape_blob_begin(stream, model)"}
CLANG = next((name for number in range(40, 19, -1) if (name := shutil.which(f"clang-{number}"))), shutil.which("clang"))


def works():
    """Whether the compiler has the sanitizer and its libraries."""
    options = ["-fsanitize=realtime", "-x", "c", "-", "-o", "/dev/null"]
    return CLANG is not None and subprocess.run([CLANG, *options], input=b"int main(void) { return 0; }", capture_output=True).returncode == 0


@unittest.skipUnless(works(), "not found: clang 20 or later with -fsanitize=realtime (clang-22, libclang-rt-22-dev)")
class RealtimeTest(ToolTest):
    def outcome(self, parts, program="main"):
        """What a program of these parts says; one that is there is not built again."""
        if program != "main" and (self.folder / program).exists():
            return subprocess.run([f"./{program}"], cwd=self.folder, capture_output=True, text=True)
        text = PROGRAM
        for mark, part in parts.items():
            text = text.replace(mark, part)
        self.write("main.c", text)
        subprocess.run([CLANG, "-std=c99", "-O1", "-w", "-fsanitize=realtime", "main.c", "-o", program, "-lm"], cwd=self.folder, check=True)
        return subprocess.run([f"./{program}"], cwd=self.folder, capture_output=True, text=True)

    def check(self, *options):
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c", *options)
        done = self.outcome(C_FILE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check_all(self, whole):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=whole)
        self.check("--weights", "int8", "--arithmetic", "int8", "--functions", "fast")
        done = subprocess.run([self.tool, "export", "run", "--to", "blob", "--output", "model.blob"], cwd=self.folder, capture_output=True)
        if b"grid" in done.stderr:
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.outcome(BYTES, "bytes")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_step_is_free_of_calls_that_wait(self):
        self.check_all(experiment([{"cell": "tau_gru", "units": 5, "tau": 4}, {"cell": "lstm", "units": 4}]))
        self.check()
        done = self.outcome({**C_FILE, "STEP": "model_step(&state, in, out), taken = malloc(1)"})
        self.assertIn("malloc", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_step_with_times_is_free_of_them_too(self):
        self.write("own.csv", "t,y\n" + "".join(f"{100 * n},{n % 7}\n" for n in range(200)))
        self.train("run", experiment=changed(RECORDING, data__time_format="seconds", data__target=["y"], data__calendar=["hour"],
                                             data__window=20, train={"epochs": 1, "batch": 8}))
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        done = self.outcome({**C_FILE, "STEP": "model_step_at(&state, 0, 100, in, out)"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @slow
    def test_a_step_of_every_cell_is_free_of_them(self):
        for name, whole in cell_models():
            if name.endswith("-0"):
                with self.subTest(name):
                    self.check_all(whole)
                    self.check()


if __name__ == "__main__":
    main()
