"""The example of a model in a page: the exported C file as WebAssembly gives the numbers of predict, in node and in Chromium. What is not
installed is skipped, and said."""

import html
import math
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from export_models import experiment
from tool import ToolTest, main, npy, npy_values, slow

WEB = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/web"
STEPS = 60


def missing(*programs):
    absent = [program for program in programs if shutil.which(program) is None]
    if not pathlib.Path("/usr/lib/wasm32-wasi/libm.a").exists() and not pathlib.Path("/usr/lib/wasm32-wasi/libc.a").exists():
        absent.append("wasi-libc")
    return f"not found: {', '.join(absent)}" if absent else ""


class WebTest(ToolTest):
    def page(self):
        """Makes the page, and gives the outputs of predict for its inputs."""
        self.train("run", experiment=experiment([{"cell": "tau_gru", "units": 8, "tau": 5}, {"cell": "lstm", "units": 4}]))
        values = [round(math.sin(0.7 * i), 4) for i in range(STEPS * 3)]
        self.write("x.npy", npy((STEPS, 3), values))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", "--stream")
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        self.write("x.csv", "".join(",".join(map(str, values[3 * n:3 * n + 3])) + "\n" for n in range(STEPS)))
        done = subprocess.run([sys.executable, "-B", WEB / "page.py", "model.c", "page.html", "x.csv"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return npy_values((self.folder / "y.npy").read_bytes())

    def compare(self, text, wanted):
        got = [float(word) for word in re.split(r"[,\s]+", text.strip())]
        self.assertEqual(len(got), len(wanted))
        self.assertGreater(max(map(abs, wanted)), 1e-2)
        self.assertLessEqual(max(abs(a - b) for a, b in zip(got, wanted)), 2e-6)

    @unittest.skipIf(missing("clang", "wasm-ld", "node"), missing("clang", "wasm-ld", "node"))
    def test_node_gives_the_numbers_of_predict(self):
        wanted = self.page()
        script = """const { load } = require(process.argv[1]);
const fs = require("fs");
load(fs.readFileSync("page.wasm")).then((model) => {
  for (const run of [0, 1]) {
    model.reset();
    const rows = fs.readFileSync("x.csv", "utf8").trim().split("\\n").map((line) => model.step(line.split(",").map(Number)));
    if (run) console.log(rows.map((row) => row.join(",")).join("\\n"));
  }
});
"""
        done = subprocess.run(["node", "-e", script, WEB / "model.js"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.compare(done.stdout, wanted)

    @slow
    @unittest.skipIf(missing("clang", "wasm-ld", "chromium"), missing("clang", "wasm-ld", "chromium"))
    def test_chromium_gives_the_numbers_of_predict(self):
        wanted = self.page()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder / 'profile'}",
                   "--virtual-time-budget=10000", "--dump-dom", (self.folder / "page.html").as_uri()]
        text = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
        self.assertIn(f"{STEPS} steps", text)
        self.compare(html.unescape(re.search(r'<textarea id="answers"[^>]*>(.*?)</textarea>', text, re.S)[1]), wanted)
        self.assertEqual(len(re.findall("<polyline", text)), 2)


if __name__ == "__main__":
    main()
