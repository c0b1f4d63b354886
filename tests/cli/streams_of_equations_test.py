"""Cells of equations whose products have several widths, or multiply products: a stream of one row, which runs other
code, gives the bits of the whole sequence, in f32, bf16 and int8, at every level of instructions."""

from tool import CLASSIFIER, ToolTest, changed, main, npy, slow

STEPS = (
    ["v = P @ s", "s' = 0.5 * s + tanh(R @ v + A @ s + U @ x)"],
    ["v = P @ s", "w = Q @ s", "s' = tanh(U @ x + S @ w + R @ v)"],
    ["v = A @ s", "s' = tanh(v + B @ v + U @ x)"],
    ["v = P @ s + P @ z", "s' = tanh(A @ s + R @ v + U @ x)", "z' = 0.5 * z + tanh(B @ z + R @ v + A @ s' + U @ x)"],
)
SHAPES = {"A": ["units", "units"], "B": ["units", "units"], "P": [4, "units"], "Q": [65, "units"], "R": ["units", 4],
          "S": ["units", 65], "U": ["units", "input"]}


def experiment(step, units, precision):
    text = " ".join(step)
    cell = {"weights": {name: shape for name, shape in SHAPES.items() if f"{name} @" in text},
            "state": {name: "units" for name in "sz" if f"{name}'" in text}, "step": step, "output": "s'"}
    return changed(CLASSIFIER, cells={"own": cell}, model__layers=[{"cell": "own", "units": units}],
                   model__readout={"units": 3, "at": "every_step"}, train__precision=precision)


class StreamsOfEquationsTest(ToolTest):
    def predicted(self, run, *options):
        self.run_tool("predict", run, "--input", "x.npy", "--output", "y.npy", *options)
        return (self.folder / "y.npy").read_bytes()

    def check_streams(self, precisions, sizes):
        self.write("x.npy", npy((1, 20, 2), [(i * 7 % 20) / 10 - 1 for i in range(40)]))
        for precision in precisions:
            for number, step in enumerate(STEPS):
                for units in sizes:
                    with self.subTest(step=number, units=units, precision=precision):
                        path = self.write("e.json", experiment(step, units, precision))
                        run = f"{precision}-{number}-{units}"
                        self.run_tool("train", path, "--out", run, "--quiet")
                        whole = self.predicted(run)
                        self.assertEqual(whole, self.predicted(run, "--stream"))
                        self.assertEqual(whole, self.predicted(run, "--stream", "--simd", "avx2"))
                        for weights in (["bf16"], ["int8", "--calibrate", "x.npy"])[:1 if units < 64 else 2]:
                            rounded = self.predicted(run, "--stream", "--weights", *weights)
                            self.assertEqual(rounded, self.predicted(run, "--stream", "--weights", *weights, "--simd", "avx2"))

    def test_streams_of_97_units_have_the_bits_of_the_sequence(self):
        self.check_streams(["f32"], [97])

    @slow
    def test_streams_have_the_bits_of_the_sequence(self):
        self.check_streams(["f32", "bf16"], [16, 64, 97])


if __name__ == "__main__":
    main()
