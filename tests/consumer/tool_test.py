"""The tool takes a model that a C++ program made like any other: inspects it, predicts with it, streams it.

usage: tool_test.py LAGTAPE MODEL.safetensors
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL, MODEL = sys.argv[1:3]


def run(*arguments, **options):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, **options)


class ModelFromCpp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_inspect_shows_its_layers_and_its_definition(self):
        shown = json.loads(run("inspect", MODEL, "--json", check=True).stdout)
        self.assertEqual([layer["name"] for layer in shown["layers"]], ["tau_gru", "readout"])
        self.assertEqual(shown["params"], 1233)
        self.assertEqual(shown["experiment"]["model"]["layers"][0]["units"], 16)
        self.assertEqual(shown["experiment"]["loss"], "mse")
        self.assertIn("step of tau_gru", run("inspect", MODEL, check=True).stdout)

    def test_it_predicts_the_wave_and_streams_the_same_numbers(self):
        wave = [math.sin(0.4 * step) for step in range(51)]
        source = self.folder / "wave.csv"
        source.write_text("".join(f"{value}\n" for value in wave[:50]))
        answers = []
        for streamed in ([], ["--stream"]):
            target = self.folder / "answer.csv"
            result = run("predict", MODEL, "--input", source, "--output", target, *streamed)
            self.assertEqual(result.returncode, 0, result.stderr)
            answers.append(target.read_text())
        self.assertEqual(answers[0], answers[1])
        values = [float(line) for line in answers[0].splitlines()]
        self.assertLess(max(abs(value - expected) for value, expected in zip(values[20:], wave[21:])), 0.2)

    def test_what_needs_data_says_that_it_has_none(self):
        result = run("eval", MODEL)
        self.assertEqual(result.returncode, 2)
        self.assertIn("was made in C++ or imported, and names no data", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
