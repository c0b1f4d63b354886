"""lagtape export: the form of the command, and what is refused."""

import shutil

from export_models import experiment
from tool import ToolTest, main


class ExportTest(ToolTest):
    def refused(self, *args):
        """The message of an export that must fail and leave no trace."""
        before = self.snapshot()
        _, message = self.run_tool("export", *args, code=2)
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(len(message.strip().splitlines()), 1, message)
        return message

    def setUp(self):
        super().setUp()
        self.train("run", experiment=experiment([{"cell": "gru", "units": 3}]))

    def test_the_names_come_from_the_file(self):
        for file, name in (("my_model.c", "my_model"), ("amp-2.1.c", "amp_2_1"), ("808.c", "m808"), ("double.h", "double")):
            self.run_tool("export", "run", "--to", "c99", "--output", file)
            self.assertIn(f"void {name}_step({name}_state *state,", (self.folder / file).read_text())

    def test_an_older_file_is_replaced(self):
        self.write("model.c", "old")
        self.run_tool("export", "run/weights.safetensors", "--to", "c99", "--output", "model.c")
        first = (self.folder / "model.c").read_bytes()
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        self.assertEqual((self.folder / "model.c").read_bytes(), first)
        self.assertGreater(len(first), 1000)

    def test_wrong_input_is_refused_by_name(self):
        self.write("below", "")
        rows = [
            (("gone", "--to", "c99", "--output", "a.c"), ["gone"]),
            (("experiment.json", "--to", "c99", "--output", "a.c"), ["experiment.json", "train it first"]),
            (("run", "--to", "c98", "--output", "a.c"), ["--to", "c98", "c99"]),
            (("run", "--to", "c99", "--output", "below/a.c"), ["below/a.c"]),
            (("run", "--to", "tflite", "--output", "a"), ["--to", "tflite", "LSTM alone", "c99 --weights int8"]),
            (("run", "--to", "onxx", "--output", "a.onnx"), ["--to", "onxx", "onnx"]),
            (("run", "--to", "onnx", "--output", "a.onnx", "--weights", "int8"), ["--weights", "c99", "onnx"]),
            (("run", "--to", "onnx-step", "--output", "a.onnx", "--precision", "f64"), ["--precision", "c99"]),
            (("run", "--to", "c99", "--output", "a.c", "--lengths"), ["--lengths", "onnx"]),
            (("run", "--to", "onnx", "--output", "a.onnx", "--lengths"), ["lengths", "reads once"]),
            (("run", "--to", "c99", "--output", "a.c", "--precision", "f16"), ["--precision", "f16", "f32"]),
            (("run", "--to", "c99", "--output", "a.c", "--weights", "int4"), ["--weights", "int4", "int8"]),
            (("run", "--to", "c99", "--output", "a.c", "--arithmetic", "int8"), ["--arithmetic", "--weights int8", "--weights float"]),
            (("run", "--to", "c99", "--output", "a.c", "--arithmetic", "int8", "--weights", "int16"), ["--weights int8", "--weights int16"]),
            (("run", "--to", "onnx", "--output", "a.onnx", "--arithmetic", "int8", "--weights", "int8"), ["c99"]),
            (("run", "--to", "c99", "--output", "a.c", "--functions", "quick"), ["--functions", "quick", "fast"]),
        ]
        for args, expected in rows:
            with self.subTest(args):
                message = self.refused(*args)
                for text in expected:
                    self.assertIn(text, message)

    def test_a_model_of_whole_sequences_is_refused(self):
        shutil.rmtree(self.folder / "run")
        self.train("run", experiment=experiment([{"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}}]))
        for form in ("c99", "onnx-step", "torch", "keras"):
            self.assertIn("bidirectional", self.refused("run", "--to", form, "--output", "a"))

    def test_a_model_whose_outputs_are_not_finite_is_refused(self):
        shutil.rmtree(self.folder / "run")
        growing = {"weights": {"U": ["units", "input"]}, "state": {"h": "units"}, "step": ["h' = exp(1e4 * abs(U @ x))"],
                   "output": "h'"}
        whole = experiment([{"cell": "growing", "units": 2}], cells={"growing": growing})
        whole["cells"]["growing"]["init"] = {"U": {"type": "constant", "value": 0.1}}
        path = self.write("growing.json", whole)
        self.run_tool("train", path, "--out", "run", "--quiet", code=3)
        self.assertIn("not finite", self.refused("run", "--to", "c99", "--output", "a.c"))


if __name__ == "__main__":
    main()
