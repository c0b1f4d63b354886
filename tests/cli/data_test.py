"""Data of the user's own, from files to a trained model and back to arrays."""

import json
import math
import re
import shutil
import struct
import unittest
import zipfile

from tool import ToolTest, changed, main, make_safetensors, npy, npy_shape, npy_values, read_safetensors, slow

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

# Words of the training reviews: film 8, good 4, bad 4, plot 2, the most frequent first, equal ones by their letters.
REVIEWS = {
    "name": "reviews",
    "data": {"task": "imdb", "path": "reviews", "vectors": "glove.txt", "train": 6, "valid": 2, "test": 8},
    "model": {"layers": [{"layer": "embedding", "units": 3, "padding": 0}, {"cell": "lstm", "units": 4}]},
    "loss": "binary_cross_entropy",
    "metrics": ["accuracy"],
    "optimizer": {"type": "sgd", "lr": 1e-30},
    "train": {"epochs": 2, "batch": 3},
}
VECTORS = "the 9 9 9\nfilm 1 2 3\nplot 0.5 -1 0.25\ngood -4 5 -6\n"
OF_THE_FILE = {0: (0, 0, 0), 1: (0, 0, 0), 2: (1, 2, 3), 4: (-4, 5, -6), 5: (0.5, -1, 0.25)}


class WordVectorsTest(ToolTest):
    def setUp(self):
        super().setUp()
        for part in ("train", "test"):
            for number in range(4):
                self.write(f"reviews/{part}/pos/{number}_9.txt", "good film" + " plot" * (number < 2))
                self.write(f"reviews/{part}/neg/{number}_2.txt", "bad film")
        self.write("glove.txt", VECTORS)
        self.experiment = self.write("reviews.json", REVIEWS)

    def table_of(self, run):
        """The rows of the embedding in a run's weights."""
        header, buffer = read_safetensors(self.weights(run))
        begin, end = header["layers.0.E"]["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", buffer[begin:end])
        return [values[i:i + 3] for i in range(0, len(values), 3)]

    def test_words_begin_with_their_vectors_and_the_others_as_without_a_file(self):
        _, err = self.run_tool("train", self.experiment, "--out", "run")
        self.assertIn("vectors: 3 of 4 words", err)
        self.assertIn("vectors: 3 of 4 words", self.run_tool("check", self.experiment)[1])
        self.train("drawn", experiment=changed(REVIEWS, data={
            key: value for key, value in REVIEWS["data"].items() if key != "vectors"}))
        drawn = self.table_of("drawn")
        self.assertEqual(self.table_of("run"), [OF_THE_FILE.get(row, drawn[row]) for row in range(6)])
        self.assertTrue(all(drawn[1]))

    def test_only_the_first_step_needs_the_file(self):
        learns = ("--set", "optimizer.lr=0.1", "--quiet")
        self.run_tool("train", self.experiment, "--out", "whole", "--set", "train.epochs=3", *learns)
        self.run_tool("train", self.experiment, "--out", "run", *learns)
        (self.folder / "glove.txt").unlink()
        self.run_tool("eval", "run")
        self.run_tool("inspect", self.experiment)
        self.write("x.csv", "2\n3\n")
        self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
        self.run_tool("train", "run", "--resume", "--set", "train.epochs=3", "--quiet")
        self.assertEqual(self.weights("run"), self.weights("whole"))
        before = self.snapshot()
        self.assertIn("glove.txt: no such file", self.run_tool("train", self.experiment, "--out", "new", code=2)[1])
        self.assertEqual(self.snapshot(), before)

    def test_vectors_that_do_not_fit(self):
        for title, sets, vectors, words in [
            ("another width", ["/model/layers/0/units=4"], VECTORS, ["glove.txt: line 1: ", "a word and 4 numbers, the units", "got a word and 3"]),
            ("a word for padding", ["/model/layers/0/padding=2"], VECTORS, ["/data/vectors: layers.0.E: row 2 is padding"]),
            ("a line cut short", [], VECTORS + "bad 1 2", ["glove.txt: line 5: expected a word and 3 numbers, as in the first line, got 3 fields"]),
            ("no number", [], VECTORS + "bad 1 2 nan", ["glove.txt: line 5: ", "'nan'"]),
            ("no word of the reviews", [], "the 9 9 9\n", ["glove.txt: has none of the 4 words"]),
            ("no name", ["data.vectors="], VECTORS, ["/data/vectors: expected a path"]),
        ]:
            with self.subTest(title):
                self.write("glove.txt", vectors)
                before = self.snapshot()
                sets = [word for text in sets for word in ("--set", text)]
                for command in (("train", self.experiment, "--out", "run"), ("check", self.experiment)):
                    err = self.run_tool(*command, *sets, code=2)[1]
                    for word in words:
                        self.assertIn(word, err)
                self.assertEqual(self.snapshot(), before)

    def test_a_table_knows_vectors_by_their_name_and_not_by_their_place(self):
        self.write("task/lstm.json", changed(REVIEWS, data__path="../reviews", data__vectors="../glove.txt"))
        self.write("task/table.json", {"title": "reviews", "source": "none", "metric": "accuracy", "unit": "accuracy",
                                       "rows": [{"name": "LSTM", "model": "lstm"}]})
        self.run_tool("table", "task", "--results", "results.jsonl", "--quiet")
        shutil.rmtree(self.folder / "runs")

        def state(*args):
            shown = self.run_tool("table", "task", "--results", "results.jsonl", "--show", "--json", *args)[0]
            return json.loads(shown)["rows"][0]["runs"][0]["state"]

        self.assertEqual(state(), "done")
        self.assertEqual(state("--set", "data.vectors=elsewhere/glove.txt"), "done")
        self.assertEqual(state("--set", "data.vectors=other.txt"), "missing")


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

    def test_the_whole_of_a_new_recording_is_scored(self):
        self.train("run", experiment=SERIES)
        rows = [(2 * math.sin(0.5 * n), n, math.cos(0.2 * n)) for n in range(41)]  # two windows of 20, too short to be cut
        self.write("new.csv", "load,day,heat\n" + "\n".join(",".join(map(repr, row)) for row in rows) + "\n")
        found = json.loads(self.run_tool("eval", "run", "--data", "new.csv", "--split", "all", "--json")[0])
        self.write("x.npy", npy((2, 20, 2), [row[i] for row in rows[:40] for i in (0, 2)]))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
        predicted = npy_values((self.folder / "y.npy").read_bytes())
        squares = [(value - row[0]) ** 2 for value, row in zip(predicted, rows[1:], strict=True)]
        self.assertGreater(found["rmse"], 0.1)
        self.assertAlmostEqual(found["rmse"], math.sqrt(sum(squares) / 40), places=5)

    def test_new_data_without_a_column_are_refused(self):
        experiment = changed(SERIES, data={"task": "series", "path": "own.csv", "window": 20})
        self.train("run", experiment=experiment)
        self.write("new.csv", "load\n" + "0.5\n" * 41)
        message = self.run_tool("eval", "run", "--data", "new.csv", "--split", "all", code=2)[1]
        self.assertIn("new.csv: /data/input: unknown column 'day'. Known: load", message)

    def test_new_data_with_targets_at_other_steps_are_refused(self):
        self.run_tool("data", self.write("series.json", changed(SERIES, model__readout__at="last_step")), "--out", "once.npz")
        self.run_tool("data", self.write("series.json", SERIES), "--out", "own.npz")
        self.train("run", experiment=ARRAYS)
        message = self.run_tool("eval", "run", "--data", "once.npz", code=2)[1]
        self.assertIn("run: its model reads out at every step. The data have one target per sequence.", message)

    def test_sequences_that_never_end_are_not_scored(self):
        self.train("run", experiment=changed(SERIES, data={"task": "adding", "length": 10, "valid": 2, "test": 2},
                                             model__readout__at="last_step", train={"steps": 1, "batch": 4}))
        self.assertIn("expected valid or test", self.run_tool("eval", "run", "--split", "all", code=2)[1])

    def test_targets_of_any_size_are_learned(self):
        rows = [f"{1000 + 50 * math.sin(0.3 * n):.6f}" for n in range(400)]
        self.write("own.csv", "load\n" + "\n".join(rows) + "\n")
        self.train("run", experiment=changed(SERIES, data__input=["load"], train__epochs=60))
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.assertLess(found["rmse"], 10)  # always the mean: 35
        self.assertAlmostEqual(found["loss"] * 1250, found["rmse"] ** 2, delta=0.02 * found["rmse"] ** 2)
        self.write("x.csv", "\n".join(rows[:20]) + "\n")
        self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
        whole = (self.folder / "y.csv").read_text()
        self.assertLess(abs(float(whole.split()[-1]) - float(rows[20])), 20)
        self.run_tool("predict", "run", "--input", "x.csv", "--output", "stream.csv", "--stream")
        self.assertEqual((self.folder / "stream.csv").read_text(), whole)
        lines = (self.folder / "x.csv").read_bytes()
        self.assertEqual(self.run_tool("predict", "run", "--input", "-", "--output", "-", stdin=lines)[0], whole)

    def test_predict_finds_its_columns_by_their_names(self):
        self.train("run", experiment=SERIES)

        def predicted(header, *columns):
            rows = [",".join(f"{math.sin(0.1 * n + c):.6f}" for c in columns) for n in range(20)]
            self.write("x.csv", header + "\n".join(rows) + "\n")
            self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv")
            lines = (self.folder / "y.csv").read_text().split()
            if not header:
                return lines
            self.assertEqual(lines[0], "row,horizon,prediction,truth")
            return [line.split(",")[2] for line in lines[1:]]

        plain = predicted("", 1, 2)
        self.assertEqual(predicted("load,heat\n", 1, 2), plain)
        self.assertEqual(predicted("heat,day,load\n", 2, 7, 1), plain)
        self.assertEqual(predicted("load,heat,load\n", 1, 2, 9), plain)
        self.assertNotEqual(predicted("heat,load\n", 1, 2), plain)
        for header, message in (("load,heta\n", "x.csv: /data/input: unknown column 'heat'; did you mean 'heta'?"),
                                ("", "x.csv: expected 2 numbers on each line: load, heat, got 1 on each")):
            self.write("x.csv", header + ",".join("1" for _ in header.split(",")) + "\n")
            self.assertIn(message, self.run_tool("predict", "run", "--input", "x.csv", "--output", "y.csv", code=2)[1])

    def test_a_model_without_data_predicts(self):
        self.train("run", experiment=SERIES)
        header, tensors = read_safetensors((self.folder / "run/weights.safetensors").read_bytes())
        experiment = json.loads(header["__metadata__"]["experiment"])
        del experiment["data"]
        header["__metadata__"]["experiment"] = json.dumps(experiment)
        self.write("bare.safetensors", make_safetensors(header, tensors))
        self.write("x.csv", "1,2\n" * 20)
        for weights in ("run", "bare.safetensors"):
            self.run_tool("predict", weights, "--input", "x.csv", "--output", f"{weights}.csv")
        self.assertEqual((self.folder / "bare.safetensors.csv").read_text(), (self.folder / "run.csv").read_text())

    def test_a_run_does_not_go_on_with_other_data(self):
        self.train("run", experiment=SERIES)
        self.write("own.csv", (self.folder / "own.csv").read_text().replace("\n", "\n9,9,9\n", 1))
        message = self.run_tool("train", "run", "--resume", "--set", "train.epochs=3", code=2)[1]
        self.assertIn("trained with data of other means and scales", message)

    def test_a_run_from_before_targets_were_scaled_goes_on_where_they_still_are_not(self):
        for scaled in (False, True):
            run = f"run-{scaled}"
            self.train(run, experiment=changed(SERIES, data__normalize_target=scaled))
            path = self.folder / run / "checkpoint/state.safetensors"
            header, tensors = read_safetensors(path.read_bytes())
            self.assertIn('"input_mean":[', header["__metadata__"].pop("normalization"))
            path.write_bytes(make_safetensors(header, tensors))
            message = self.run_tool("train", run, "--resume", "--set", "train.epochs=3", "--quiet", code=2 if scaled else 0)[1]
            self.assertEqual("the run is from before targets were scaled" in message, scaled)

    def test_numbers_that_the_precision_cannot_tell_apart_are_warned_of(self):
        self.write("own.csv", "load\n" + "\n".join(str(1700000000 + n % 40) for n in range(400)) + "\n")
        path = self.write("series.json", changed(SERIES, data__input=["load"]))
        warning = self.run_tool("train", path, "--out", "run")[1]
        self.assertIn("warning: input 'load' has mean 1.7e+09 and scale 11.5", warning)
        self.assertIn("warning: target 'load'", warning)
        exact = self.run_tool("train", path, "--out", "exact", "--set", "train.precision=f64")[1]
        self.assertNotIn("warning", exact)

    def test_targets_of_0_and_1_stay_as_they_are(self):
        rows = [f"{math.sin(0.3 * n):.6f},{int(math.sin(0.3 * n) > 0.5)}" for n in range(400)]
        self.write("own.csv", "load,high\n" + "\n".join(rows) + "\n")
        binary = changed(SERIES, data__input=["load"], data__target=["high"], loss="binary_cross_entropy", metrics=["accuracy"])
        self.train("run", experiment=binary)
        filled = json.loads((self.folder / "run/experiment.json").read_text())
        self.assertIs(filled["data"]["normalize_target"], False)
        wrong = self.write("wrong.json", changed(binary, data__normalize_target=True))
        message = self.run_tool("train", wrong, "--out", "other", code=2)[1]
        self.assertIn("/data/normalize_target: needs the loss mse", message)

    def test_tokens_that_data_writes_are_tokens_of_arrays(self):
        experiment = changed(REVIEWS, optimizer__lr=0.1,
                             data={"task": "random", "length": 6, "tokens": 5, "input": 1, "classes": 2, "train": 12, "valid": 3})
        self.run_tool("data", self.write("tokens.json", experiment), "--out", "own.npz")
        arrays = changed(experiment, data={"task": "arrays", "path": "own.npz", "tokens": 5, "classes": 2})
        self.train("run", experiment=experiment)
        self.train("again", experiment=arrays)
        weights = [read_safetensors(self.weights(run))[1] for run in ("run", "again")]
        self.assertEqual(*weights)

    def test_what_data_writes_is_read_back_as_arrays(self):
        self.run_tool("data", self.write("series.json", SERIES), "--out", "own.npz")
        written = self.arrays("own.npz")
        self.assertEqual(npy_shape(written["train_x.npy"])[1:], (20, 2))
        self.assertEqual(npy_shape(written["valid_y.npy"])[1:], (20, 1))
        self.run_tool("data", self.write("arrays.json", ARRAYS), "--out", "again.npz")
        self.assertEqual(self.arrays("again.npz"), written)

    def test_texts_in_arrays_and_folders_of_recordings_get_their_advice(self):
        header = b"{'descr': '<U1', 'fortran_order': False, 'shape': (4,), }"
        text = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n" + "abab".encode("utf-32-le")
        with zipfile.ZipFile(self.folder / "own.npz", "w") as archive:
            archive.writestr("train_x.npy", text)
        self.refused(["expected numbers, got texts, dtype '<U1'", "np.unique"], "check", self.write("arrays.json", ARRAYS))
        (self.folder / "many").mkdir()
        self.refused(["many: is a folder. Its files are named by", "many/*.csv"],
                     "check", self.write("series.json", changed(SERIES, data__path="many")))

    def test_ragged_arrays_of_objects_get_the_advice_to_pad_them(self):
        with zipfile.ZipFile(self.folder / "own.npz", "w") as archive:
            archive.writestr("train_x.npy", npy((2,), [0.0, 0.0]).replace(b"'<f8'", b"'|O' "))
        message = self.run_tool("check", self.write("arrays.json", ARRAYS), code=2)[1]
        self.assertIn("expected numbers, got objects, as NumPy makes them of sequences of different lengths. Pad them", message)

    def test_arrays_that_are_nearly_all_padding_are_refused(self):
        text = "@problemName P\n@timeStamps false\n@univariate true\n@classLabel true a b\n@data\n"
        text += "1:a\n" * 30_000 + ",".join("1" * 60_000) + ":b\n"
        for split in ("TRAIN", "TEST"):
            self.write(f"long/P_{split}.ts", text)
        path = self.write("long.json", changed(
            WORDS, data={"task": "ts", "path": "long", "name": "P"}, model={"layers": [{"cell": "rnn", "units": 2}]}, metrics=[]))
        before = self.snapshot()
        err = self.run_tool("data", path, "--out", "long.npz", code=2)[1]
        self.assertRegex(err, r"train: the arrays would take .* GiB: \d+ sequences of 1 number at each of 60000 steps, .*; 99.9 % of that is padding")
        self.assertEqual(self.snapshot(), before)

    @slow
    def test_many_recordings_are_joined_once(self):
        for i in range(2_000):
            self.write(f"many/{i:04}.npy", npy((1_000, 1), [i, i + 1] * 500))
        path = self.write("many.json", changed(SERIES, data={"task": "series", "path": "many/*.npy", "split": "series", "window": 500}))
        with self.within(10):
            self.run_tool("check", path)
            self.run_tool("data", path, "--out", "many.npz")
        x = npy_values(self.arrays("many.npz")["train_x.npy"])
        self.assertEqual(len(x) % 500, 0)
        self.assertEqual(len(set(x)), 1401)

    def test_too_many_words_of_a_column_are_refused(self):
        words = [f"w{i}" for i in range(5_000)]
        self.write("words.csv", "word,v\n" + "".join(f"{word},{i % 7}\n" for i, word in enumerate(words)))
        path = self.write("experiment.json", changed(SERIES, data={
            "task": "series", "path": "words.csv", "input": ["word", "v"], "target": ["v"], "categories": {"word": words}, "window": 20}))
        err = self.run_tool("check", path, code=2)[1]
        self.assertIn("words.csv: column 'word': 5000 words make as many inputs in each of 5000 rows, at most 4096 are", err)

    @slow
    def test_many_columns_are_found_by_their_names(self):
        names = [f"c{i}" for i in range(60_000)]
        self.write("wide.csv", ",".join(names) + "\n" + (",".join(["1", "2", "3"] * 20_000) + "\n") * 2)
        path = self.write("experiment.json", changed(SERIES, data={
            "task": "series", "path": "wide.csv", "input": names, "target": ["c0"], "window": 20}))
        with self.within(4):
            self.run_tool("check", path, code=2)

    def test_a_path_that_is_given_is_where_the_user_is(self):
        self.run_tool("data", self.write("series.json", SERIES), "--out", "own.npz")
        path = self.write("elsewhere/arrays.json", ARRAYS)
        self.assertIn("elsewhere/own.npz", self.run_tool("train", path, "--out", "run", code=2)[1])
        self.run_tool("train", path, "--out", "run", "--set", "data.path=own.npz")
        whole = json.dumps({**ARRAYS["data"], "normalize": False})
        self.run_tool("train", path, "--out", "again", "--set", f"data={whole}", "--set", "train.epochs=1")

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
                           ("imdb", "84125825 bytes"), ("imdb", "glove.6B.zip"), ("imdb", "string, default null")):
            self.assertIn(part, " ".join(self.run_tool("list", "tasks", task)[0].split()))
        self.assertNotIn("files", self.run_tool("list", "tasks", "adding")[0])


class SequenceChartTest(ToolTest):
    def chart(self, data, **options):
        self.write("experiment.json", changed(SERIES, data=data, **options))
        self.run_tool("data", "experiment.json", "--plot", "sequence.svg")
        return (self.folder / "sequence.svg").read_text()

    def test_inputs_and_targets_of_the_first_sequence_are_drawn(self):
        drawn = self.chart({"task": "dde_response", "tau": 1, "step": 0.1, "span": 5})
        lines = re.findall(r'<polyline[^>]*points="([^"]*)"', drawn)
        self.assertEqual([len(line.split()) for line in lines], [51, 51])
        self.assertTrue({">input<", ">target<"} <= set(re.findall(r">\w+<", drawn)))
        # Up to t = tau the response to cos t is sin t: the target goes up and, beyond pi / 2, down.
        heights = [-float(point.split(",")[1]) for point in lines[1].split()]
        self.assertEqual(heights.index(max(heights[:25])), max(range(25), key=lambda i: (
            math.sin(i / 10) if i <= 10 else math.sin(i / 10) + math.cos(i / 10 - 1) - 1)))

    def test_inputs_have_the_names_of_their_columns(self):
        rows = [f"{i},{n},{i + n},{i - n},{i % 2}" for i in range(20) for n in range(3)]
        self.write("runs.csv", "\n".join(["run,step,ax,ay,bad", *rows]) + "\n")
        drawn = self.chart({"task": "sequences", "path": "runs.csv", "sequence": "run", "time": "step", "target": "bad",
                            "input": ["ax", "ay"]}, loss="cross_entropy", metrics=[], model={"layers": [{"cell": "gru", "units": 2}]})
        self.assertTrue({">ax<", ">ay<"} <= set(re.findall(r">\w+<", drawn)))

    def test_what_has_no_chart_is_told(self):
        self.write("words.json", changed(WORDS, data={"task": "random", "length": 5, "tokens": 3, "classes": 2}))
        self.assertIn("tokens", self.run_tool("data", "words.json", "--plot", "words.svg", code=2)[1])
        self.assertIn("--plot FILE", self.run_tool("data", "words.json", code=2)[1])
        self.assertFalse((self.folder / "words.svg").exists())


if __name__ == "__main__":
    main()
