"""lagtape predict: the forms of input and output, and streams that give the bits of the whole sequence."""

import math
import unittest

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, npy, npy_shape, npy_values

ROWS, STEPS = 3, 50
WAVE = [1 + 0.3 * math.sin(0.2 * i) for i in range(ROWS * STEPS)]


class PredictTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))

    def predict(self, name, content, output, *args):
        path = self.write(name, content)
        self.run_tool("predict", "run", "--input", path, "--output", output, *args)
        return (self.folder / output).read_bytes()

    def test_a_sequence_and_a_batch_give_the_same_rows(self):
        batch = self.predict("batch.npy", npy((ROWS, STEPS, 1), WAVE), "batch_out.npy")
        self.assertEqual(npy_shape(batch), (ROWS, STEPS, 1))
        for row in range(ROWS):
            part = WAVE[row * STEPS:(row + 1) * STEPS]
            one = self.predict("one.npy", npy((STEPS, 1), part), "one_out.npy")
            self.assertEqual(npy_shape(one), (STEPS, 1))
            self.assertEqual(npy_values(one), npy_values(batch)[row * STEPS:(row + 1) * STEPS])
        self.assertGreater(len(set(npy_values(batch))), STEPS)

    def test_a_vector_is_a_sequence_of_a_model_with_one_input(self):
        column, vector = (self.predict("x.npy", npy(shape, WAVE[:STEPS]), "y.npy") for shape in ((STEPS, 1), (STEPS,)))
        self.assertEqual(vector, column)
        self.train("two", experiment=changed(CLASSIFIER, train__epochs=1))
        self.refused(["x.npy: expected [T, 2] or [B, T, 2], got [50]"], "predict", "two", "--input", "x.npy", "--output", "z.npy")

    def test_a_stream_gives_the_same_bytes(self):
        for name, content in (("batch.npy", npy((ROWS, STEPS, 1), WAVE)), ("one.npy", npy((STEPS, 1), WAVE[:STEPS]))):
            whole = self.predict(name, content, "whole.npy")
            self.assertEqual(self.predict(name, content, "stream.npy", "--stream"), whole)

    def test_csv_in_and_csv_out(self):
        lines = "".join(f"{value!r}\n" for value in WAVE[:STEPS])
        whole = self.predict("one.csv", lines, "whole.csv").decode()
        array = self.predict("one.npy", npy((STEPS, 1), WAVE[:STEPS]), "array.npy")
        rounded = [float(line) for line in whole.splitlines()]
        self.assertEqual(len(rounded), STEPS)
        for text, number in zip(rounded, npy_values(array)):
            self.assertAlmostEqual(text, number, delta=1e-6)
        self.assertEqual(self.predict("one.csv", lines, "stream.csv", "--stream").decode(), whole)

    def test_lines_on_stdin_and_stdout(self):
        lines = "".join(f"{value!r}\n" for value in WAVE[:STEPS])
        whole = self.predict("one.csv", lines, "whole.csv").decode()
        for extra in ((), ("--stream",)):
            out, _ = self.run_tool("predict", "run", "--input", "-", "--output", "-", *extra, stdin=lines.encode())
            self.assertEqual(out, whole)

    def test_the_inputs_of_a_recording_are_named_where_a_line_lacks_some(self):
        self.write("own.csv", "t,v,sky\n" + "".join(f"2024-01-{1 + n // 24:02} {n % 24:02}:00,{n % 5},{'ab'[n % 2]}\n" for n in range(300)))
        self.train("own", experiment=changed(EXPERIMENT, data={
            "task": "series", "path": "own.csv", "time": "t", "input": ["sky", "v"], "target": ["v"], "window": 20, "missing": "mask",
            "categories": {"sky": ["a", "b"]}, "calendar": ["hour"]}))
        self.refused(["stdin: line 1: expected 8 numbers (v, v is there, sky=a, sky=b, sine of hour, cosine of hour, sine of hour[+1], cosine of hour[+1]), got 2"],
                     "predict", "own", "--input", "-", "--output", "-", stdin=b"1,2\n")

    def test_a_stream_has_other_weights(self):
        wide = changed(EXPERIMENT, train__epochs=1, model__layers=[{"cell": "lstm", "units": 64}])
        self.train("wide", experiment=wide)
        path = self.write("one.npy", npy((STEPS, 1), WAVE[:STEPS]))
        near, said = {}, {}
        for weights in ("own", "f32", "bf16", "int8"):
            given = ("--calibrate", path) if weights == "int8" else ()
            _, said[weights] = self.run_tool("predict", "wide", "--input", path, "--output", "y.npy", "--stream", "--weights",
                                             weights, *given)
            near[weights] = npy_values((self.folder / "y.npy").read_bytes())
        self.assertEqual((said["own"], said["f32"], near["f32"]), ("", "", near["own"]))
        for weights in ("bf16", "int8"):
            error = math.sqrt(sum((a - b) ** 2 for a, b in zip(near["f32"], near[weights])) / sum(a * a for a in near["f32"]))
            self.assertTrue(0 < error < 0.1)
            self.assertEqual(said[weights], f"weights in {weights}: the outputs differ from those in the model's precision by "
                             f"{error:.2g} of their root mean square\n")
        self.assertNotEqual(near["bf16"], near["int8"])
        for args, message in ((("--weights", "int8"), "--weights int8: expected --calibrate FILE"),
                              (("--weights", "bf16", "--calibrate", path), "--calibrate: is for --weights int8"),
                              (("--weights", "int"), "--weights: unknown value 'int'; did you mean 'int8'")):
            found = self.run_tool("predict", "wide", "--input", path, "--output", "y.npy", "--stream", *args, code=2)[1]
            self.assertIn(message, found)
        self.train("narrow", experiment=changed(EXPERIMENT, train__epochs=1))
        found = self.run_tool("predict", "narrow", "--input", path, "--output", "y.npy", "--stream", "--weights", "int8", "--calibrate",
                              path, code=2)[1]
        self.assertTrue(found.startswith("lagtape: narrow: weights in int8 are for layers of 64 units and more"), found)
        found = self.run_tool("predict", "wide", "--input", "-", "--output", "-", "--stream", "--weights", "int8",
                              "--calibrate", "-", code=2)[1]
        self.assertIn("--calibrate and --input: one of them can read stdin. Got - for both.", found)

    def test_at_twice_the_rate_two_sequences_run_between_each_other(self):
        twice = [value for value in WAVE[:STEPS] for _ in (0, 1)]
        whole = npy_values(self.predict("one.npy", npy((STEPS, 1), WAVE[:STEPS]), "whole.npy"))
        for kind in ("linear", "cubic"):
            got = npy_values(self.predict("twice.npy", npy((2 * STEPS, 1), twice), "y.npy", "--stream", "--rate", "2",
                                          "--interpolation", kind))
            self.assertEqual(got[::2], whole)
            self.assertEqual(got[1::2], whole)
        lines = "".join(f"{value!r}\n" for value in twice)
        out, _ = self.run_tool("predict", "run", "--input", "-", "--output", "-", "--stream", "--rate", "2",
                               stdin=lines.encode())
        self.assertEqual(len(out.splitlines()), 2 * STEPS)

    def test_a_rate_that_no_stream_can_have(self):
        self.write("one.npy", npy((STEPS, 1), WAVE[:STEPS]))
        for rate in ("0", "0.49", "8.01", "-1"):
            _, message = self.run_tool("predict", "run", "--input", "one.npy", "--output", "y.npy", "--stream", f"--rate={rate}",
                                       code=2)
            self.assertIn("--rate: a recurrence runs at 0.5 to 8 times its rate. Got ", message)
        for extra, text in ((("--stream", "--rate", "2x"), "--rate: expected a finite number, got '2x'"),
                            (("--stream", "--rate", "nan"), "--rate: expected a finite number, got 'nan'"), (("--rate", "2"), "--stream"),
                            (("--stream", "--rate", "2", "--interpolation", "cubical"), "did you mean 'cubic'")):
            _, message = self.run_tool("predict", "run", "--input", "one.npy", "--output", "y.npy", *extra, code=2)
            self.assertIn(text, message)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_a_stream_answers_each_line_before_the_next(self):
        process = self.start("predict", "run", "--input", "-", "--output", "-", "--stream", stdin=-1)
        self.addCleanup(process.communicate)
        for value in WAVE[:5]:
            process.stdin.write(f"{value!r}\n".encode())
            process.stdin.flush()
            self.assertTrue(math.isfinite(float(process.stdout.readline())))

    def test_classifiers_give_logits_or_probabilities(self):
        self.train("classes", experiment=CLASSIFIER)
        path = self.write("x.npy", npy((2, 20, 2), WAVE[:80]))
        self.run_tool("predict", "classes", "--input", path, "--output", "logits.npy")
        self.run_tool("predict", "classes", "--input", path, "--output", "p.npy", "--probabilities")
        logits = npy_values((self.folder / "logits.npy").read_bytes())
        data = (self.folder / "p.npy").read_bytes()
        self.assertEqual(npy_shape(data), (2, 3))
        for row in range(2):
            exps = [math.exp(value) for value in logits[3 * row:3 * row + 3]]
            for value, exp in zip(npy_values(data)[3 * row:3 * row + 3], exps):
                self.assertAlmostEqual(value, exp / sum(exps), delta=1e-6)


if __name__ == "__main__":
    main()
