"""Data of the user's own, from files to a trained model and back to arrays."""

import json
import math
import unittest
import zipfile

from tool import ToolTest, changed, main, npy, npy_shape

SERIES = {
    "name": "own",
    "data": {"task": "series", "path": "own.csv", "input": ["load", "heat"], "target": ["load"], "window": 20},
    "model": {"layers": [{"cell": "lstm", "units": 4}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 2, "batch": 4},
}
ARRAYS = changed(SERIES, data={"task": "arrays", "path": "own.npz"})
WORDS = {
    "name": "words",
    "data": {"task": "ptb", "path": "text", "level": "char"},
    "model": {"layers": [{"layer": "embedding", "units": 3}, {"cell": "lstm", "units": 4}], "readout": {"at": "every_step"}},
    "loss": "cross_entropy",
    "metrics": ["bits_per_character", "perplexity"],
    "train": {"epochs": 2, "batch": 3, "truncate": 10},
}


class DataTest(ToolTest):
    def setUp(self):
        super().setUp()
        rows = [f"{math.sin(0.3 * n):.6f},{n % 7},{math.cos(0.3 * n):.6f}" for n in range(400)]
        self.write("own.csv", "load,day,heat\n" + "\n".join(rows) + "\n")

    def arrays(self, name):
        with zipfile.ZipFile(self.folder / name) as archive:
            return {entry: archive.read(entry) for entry in archive.namelist()}

    def test_a_series_of_the_users_own_trains_and_predicts_in_its_own_units(self):
        self.train("run", experiment=SERIES)
        self.assertIn("rmse", json.loads(self.run_tool("eval", "run", "--json")[0]))
        self.write("x.npy", npy((5, 2), [0.5] * 10))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
        self.assertEqual(npy_shape((self.folder / "y.npy").read_bytes()), (5, 1))

    def test_what_data_writes_is_read_back_as_arrays(self):
        self.run_tool("data", self.write("series.json", SERIES), "--out", "own.npz")
        written = self.arrays("own.npz")
        self.assertEqual(npy_shape(written["train_x.npy"])[1:], (20, 2))
        self.assertEqual(npy_shape(written["valid_y.npy"])[1:], (20, 1))
        self.run_tool("data", self.write("arrays.json", ARRAYS), "--out", "again.npz")
        self.assertEqual(self.arrays("again.npz"), written)

    def test_one_stream_of_text_is_carried_through_an_epoch(self):
        for part in ("train", "valid", "test"):
            self.write(f"text/ptb.{part}.txt", " a b b a \n b a a \n" * 20)
        self.train("run", experiment=WORDS)
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.assertAlmostEqual(found["perplexity"], math.exp(found["loss"]), places=5)
        self.assertAlmostEqual(found["bits_per_character"], found["loss"] / math.log(2), places=5)
        self.run_tool("data", self.write("words.json", WORDS), "--out", "words.npz")
        self.assertEqual(npy_shape(self.arrays("words.npz")["train_x.npy"])[0], 3)

    def test_data_that_tell_their_shape_late_decide_where_the_model_reads(self):
        self.run_tool("data", self.write("series.json", SERIES), "--out", "own.npz")
        undecided = changed(ARRAYS, model={"layers": [{"cell": "lstm", "units": 4}]})
        self.train("run", experiment=undecided)
        found = json.loads(self.run_tool("inspect", "run", "--json")[0])
        self.assertEqual(found["params"], 4 * 4 * (4 + 2 + 2) + 4 + 1)
        self.assertIn("rmse", json.loads(self.run_tool("eval", "run", "--json")[0]))
        wrong = self.write("wrong.json", changed(undecided, model__readout={"at": "last_step"}))
        self.assertIn("/model/readout/at", self.run_tool("train", wrong, "--out", "other", code=2)[1])

    def test_the_list_says_where_files_come_from(self):
        for task, part in (("mnist", "f68b3c2dcbeaaa9fbdd348bbdeb94873"), ("ts", "no checksum is known"),
                           ("imdb", "84125825 bytes")):
            self.assertIn(part, self.run_tool("list", "tasks", task)[0])
        self.assertNotIn("files", self.run_tool("list", "tasks", "adding")[0])


if __name__ == "__main__":
    main()
