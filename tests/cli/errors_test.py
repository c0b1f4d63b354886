"""Wrong input: one message that names the place, what was found and what was expected; exit code 2; nothing written."""

import json
import pathlib

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, npy, slow

NAN = float("nan")


def with_layer(**options):
    return changed(EXPERIMENT, model__layers=[{"cell": "tau_gru", "units": 8, "tau": 5, **options}])


def with_step(*equations):
    """An experiment whose cell is given by those equations."""
    cell = {
        "hyper": {"tau": 3},
        "weights": {"W": ["units", "units"], "U": ["units", "input"], "b": ["units"]},
        "state": {"h": "units"},
        "step": list(equations),
        "output": "h'",
    }
    return changed(EXPERIMENT, cells={"own": cell}, model__layers=[{"cell": "own", "units": 8}])


def without(experiment, *path):
    result = changed(experiment)
    place = result
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return result


# Each row: a description of the error, the experiment, and texts that the message must contain.
EXPERIMENTS = [
    ("a misspelt key", changed(EXPERIMENT, optimiser={"type": "adam"}), ["optimiser", "optimizer"]),
    ("a misspelt key of the data", changed(EXPERIMENT, data__trian=3), ["/data/trian", "train"]),
    ("a misspelt key of a layer", with_layer(unit=3), ["/model/layers/0/unit", "units"]),
    ("a misspelt key of the read-out", changed(EXPERIMENT, model__readout__unit=1), ["/model/readout/unit", "units"]),
    ("a misspelt key of train", changed(EXPERIMENT, train__epoch=1), ["/train/epoch", "epochs"]),
    ("a misspelt option of the optimizer", changed(EXPERIMENT, optimizer__learning=1), ["/optimizer/learning"]),
    ("a misspelt cell", with_layer(cell="tau_grru"), ["/model/layers/0/cell", "tau_grru", "tau_gru"]),
    ("a misspelt task", changed(EXPERIMENT, data__task="mackey_gloss"), ["/data/task", "mackey_glass"]),
    ("a misspelt loss", changed(EXPERIMENT, loss="mce"), ["/loss", "mse"]),
    ("a misspelt metric", changed(EXPERIMENT, metrics=["rmsee"]), ["/metrics/0", "rmse"]),
    ("a misspelt optimizer", changed(EXPERIMENT, optimizer__type="adamm"), ["/optimizer/type", "adam"]),
    ("a misspelt schedule", changed(EXPERIMENT, schedule={"type": "constnat"}), ["/schedule/type", "constant"]),
    ("a misspelt place to read", changed(EXPERIMENT, model__readout__at="every_stpe"), ["/model/readout/at", "every_step"]),
    ("a misspelt plan", changed(EXPERIMENT, train__memory="ful"), ["/train/memory", "full"]),
    ("a misspelt precision", changed(EXPERIMENT, train__precision="f23"), ["/train/precision", "f32"]),
    ("a misspelt keep", changed(EXPERIMENT, train__keep="bset"), ["/train/keep", "best"]),
    ("an average that never begins", changed(EXPERIMENT, train__average={}), ["/train/average", "patience"]),
    ("an average that begins before the start", changed(EXPERIMENT, train__average={"latest": -1}), ["/train/average/latest", "-1"]),
    ("an average that waits for a valid set", changed(EXPERIMENT, data__valid=0, train__average={"patience": 2}), ["/train/average", "valid"]),
    ("text for a number", changed(EXPERIMENT, train__epochs="ten"), ["/train/epochs", "integer"]),
    ("a fraction for a whole number", changed(EXPERIMENT, train__epochs=1.5), ["/train/epochs", "integer"]),
    ("a number for a list", changed(EXPERIMENT, model__layers=3), ["/model/layers"]),
    ("a list for an object", changed(EXPERIMENT, model=[]), ["/model"]),
    ("a number for a name", changed(EXPERIMENT, name=3), ["/name"]),
    ("a name with a slash", changed(EXPERIMENT, name="a/b"), ["/name"]),
    ("a name that leaves its folder", changed(EXPERIMENT, name=".."), ["/name"]),
    ("a negative seed", changed(EXPERIMENT, seed=-1), ["/seed"]),
    ("tau below zero", with_layer(tau=-1), ["/model/layers/0/tau", "-1"]),
    ("no units", with_layer(units=0), ["/model/layers/0/units", "0"]),
    ("units beyond any memory", with_layer(units=10**12), ["/model/layers/0/units"]),
    ("no batch", changed(EXPERIMENT, train__batch=0), ["/train/batch", "0"]),
    ("a negative learning rate", changed(EXPERIMENT, optimizer__lr=-0.1), ["/optimizer/lr", "-0.1"]),
    ("epochs beyond counting", changed(EXPERIMENT, train__epochs=2**62), ["/train/epochs"]),
    ("a batch beyond any memory", changed(EXPERIMENT, train__batch=2**62), ["/train/batch"]),
    ("a training set that ends never", changed(CLASSIFIER, data__train=2**63 - 1), ["/data/train"]),
    ("an empty name", changed(EXPERIMENT, name=""), ["/name"]),
    ("a name like an option", changed(EXPERIMENT, name="-x"), ["/name"]),
    ("an empty budget", changed(EXPERIMENT, train__memory={"plan": "auto", "budget": ""}), ["/train/memory/budget"]),
    ("an empty path", changed(CLASSIFIER, data={"task": "mnist", "path": ""}), ["/data/path"]),
    ("a path beyond the system's length", changed(CLASSIFIER, data={"task": "mnist", "path": "a" * 300}, model__readout__units=10),
     ["aaaa"]),
    ("segments of sequences that are read as a mean", changed(CLASSIFIER, train__truncate=5, model__readout__at="mean"), ["/train/truncate", "mean"]),
    ("targets that are no classes", changed(EXPERIMENT, loss="binary_cross_entropy", metrics=[]), ["/loss", "0 or 1"]),
    ("no layers", changed(EXPERIMENT, model__layers=[]), ["/model/layers"]),
    ("a missing model", without(EXPERIMENT, "model"), ["/model"]),
    ("a missing task", without(EXPERIMENT, "data", "task"), ["/data/task"]),
    ("a missing cell", changed(EXPERIMENT, model__layers=[{"units": 8}]), ["/model/layers/0"]),
    ("a read-out wider than the target", changed(EXPERIMENT, model__readout__units=2), ["/model/readout/units", "2", "1"]),
    ("a read-out once for targets at every step", changed(EXPERIMENT, model__readout__at="last_step"), ["/model/readout/at"]),
    ("a loss for classes", changed(EXPERIMENT, loss="cross_entropy"), ["/loss", "cross_entropy"]),
    ("a loss for numbers", changed(CLASSIFIER, loss="mse"), ["/loss", "mse"]),
    ("a budget that is too small", changed(EXPERIMENT, train__memory={"plan": "auto", "budget": "1KiB"}),
     ["budget of 1.0 KiB (1024 bytes)", "needs"]),
    ("a size for a plan", changed(EXPERIMENT, train__memory="600KiB"), ["/train/memory", '{"budget": "600KiB"}']),
    ("a budget that is no size", changed(EXPERIMENT, train__memory={"plan": "auto", "budget": "much"}), ["/train/memory/budget", "much"]),
    ("all errors of a file at once", changed(EXPERIMENT, loss="mce", train__batch=0), ["/loss", "/train/batch"]),
    ("a missing data folder", changed(CLASSIFIER, data={"task": "mnist", "path": "gone"}, model__readout__units=10), ["gone"]),
    ("JSON that stops", '{"name": "small", ', ["line 1", "column"]),
    ("JSON with a key twice", '{"name": "a",\n "name": "b"}', ["line 2", "name"]),
    ("an empty file", "", ["line 1"]),
    ("no JSON at all", b"\x93NUMPY\x00\xff", ["an array of NumPy"]),
    ("a list for the experiment", "[]", ["object"]),
    ("a search for the experiment", {"experiment": "good.json", "ranges": {"/seed": {"choices": [1, 2]}}},
     ["experiment.json: expected an experiment. This is the file of a search, which `lagtape search` takes."]),
    ("nesting without end", "[" * 200000, ["line 1"]),
]

# Equations, and texts that the message must contain; columns count from 1.
EQUATIONS = [
    ("a stray operator", ["h' = tanh(W @ h + * b)"], ["/cells/own/step/0: cell 'own': equation 1, column 19"]),
    ("several errors at once", ["z = sigmid(W @ h)", "u = np.tanh(b)", "h' = z + u * W"],
     ["/cells/own/step/0: ", "'sigmoid'", "/cells/own/step/1: ", "without a module: tanh(a)"]),
    ("a missing bracket", ["h' = tanh(W @ h + U @ x + b"], ["equation 1, column"]),
    ("an unknown name", ["h' = tanh(W @ h + U @ x + bb)"], ["equation 1, column 27", "bb"]),
    ("an unknown function", ["h' = tahn(W @ h + U @ x + b)"], ["equation 1, column 6", "tahn", "tanh"]),
    ("shapes that do not multiply", ["h' = tanh(U @ h + W @ h + b)"], ["equation 1, column", "[8, 1]", "[8]"]),
    ("shapes that do not add", ["h' = tanh(W @ h + U @ x + b) + concat(x, x)"], ["equation 1, column", "[8]", "[2]"]),
    ("a lag into the future", ["h' = tanh(W @ h[tau] + U @ x + b)"], ["equation 1, column"]),
    ("a state that is never set", ["z = tanh(W @ h + U @ x + b)"], ["h'"]),
    ("a name set twice", ["z = W @ h + b", "z = U @ x", "h' = z"], ["equation 2, column 1", "z"]),
]

ARGUMENTS = [
    ("an unknown command", ["trian"], ["trian"]),
    ("a word before a command", ["please", "train"], ["unknown command 'please'"]),
    ("no command", [], []),
    ("a command for help", ["help", "train"], ["`lagtape COMMAND --help`"]),
    ("an unknown option", ["train", "good.json", "--epochs", "3"], ["'--epochs'", "by --set, as in --set train.epochs=3."]),
    ("a missing file", ["train", "gone.json"], ["gone.json"]),
    ("a recording for an experiment", ["check", "load.csv"], ["load.csv: expected an experiment file. `lagtape new load.csv` writes one"]),
    ("a folder for an experiment", ["bench", "folder"], ["folder: expected an experiment file"]),
    ("no name of new data", ["eval", "folder", "--data", ""], ["--data: expected a name"]),
    ("no name of a forecast", ["forecast", "folder", "--input", "x.csv", "--steps", "2", "--output", ""], ["--output: expected a name"]),
    ("no name of a run", ["train", "good.json", "--out", ""], ["--out: expected a name"]),
    ("a folder for a file", ["train", "folder"], ["folder"]),
    ("too many threads", ["train", "good.json", "--threads", "2000"], ["--threads: expected an integer >= 1 and <= 1024, got '2000'"]),
    ("no thread", ["train", "good.json", "--threads", "0"], ["threads"]),
    ("a seed that only begins as a number", ["train", "good.json", "--seed", "1e3"], ["--seed", "integer"]),
    ("a seed beyond 64 bits", ["train", "good.json", "--seed", "9" * 300], ["--seed", "integer"]),
    ("a path beyond the system's length", ["predict", "a" * 5000, "--input", "-", "--output", "-"], []),
    ("an experiment for a run", ["eval", "good.json"], ["good.json", "train it first"]),
    ("a folder that is no run", ["eval", "folder"], ["folder", "weights.safetensors"]),
    ("two values for one set", ["train", "good.json", "--set", "train.epochs=1", "train.batch=1"], ["train.batch=1"]),
    ("threads that are no number", ["train", "good.json", "--threads", "many"], ["threads"]),
    ("a set without a value", ["train", "good.json", "--set", "train.epochs"], ["train.epochs"]),
    ("a set of an unknown key", ["train", "good.json", "--set", "train.epoch=1"], ["/train/epoch", "epochs"]),
    ("a set of a layer that is not there", ["train", "good.json", "--set", "/model/layers/3/units=2"], ["layers/3"]),
    ("a run below a file", ["train", "good.json", "--out", "good.json/run"], ["good.json/run"]),
    ("a run where nothing can be written", ["train", "good.json", "--out", "/proc/run"], ["/proc/run"]),
    ("an eval of no run", ["eval", "folder"], ["folder"]),
    ("an inspection of nothing", ["inspect", "gone"], ["gone"]),
    ("a check of nothing", ["check", "gone.json"], ["gone.json"]),
    ("arrays in a file of another kind", ["data", "good.json", "--out", "good.json"], ["--out: expected a name that ends in .npz, got 'good.json'"]),
    ("a chart in a file of another kind", ["data", "good.json", "--plot", "good.json"], ["--plot: expected a name that ends in .svg, .png or .pdf, got 'good.json'"]),
    ("a table's curves in a file of another kind", ["table", str(pathlib.Path(__file__).parents[2] / "tools/experiments/mackey_glass"), "--show", "--plot", "good.json"], [".svg"]),
    ("a chart without a name", ["analyze", "good.json", "--plot", ""], ["--plot: expected a name"]),
    ("seeds beyond the last one", ["train", "good.json", "--seed", str(2**63 - 1), "--seeds", "2", "--out", "s"],
     ["--seeds: there are fewer seeds from 9223372036854775807 on. Got 2."]),
    ("seeds without end", ["train", "good.json", "--seeds", "1000000000000", "--out", "s"], ["--seeds: expected", "1000"]),
    ("data below a file", ["data", "good.json", "--out", "good.json/data.npz"], ["good.json/data.npz"]),
    ("a list of an unknown kind", ["list", "cell"], ["cell", "cells"]),
    ("an unknown initializer to list", ["list", "initializers", "ortogonal"], ["ortogonal", "orthogonal"]),
    ("an unknown cell to list", ["list", "cells", "tau_grru"], ["unknown cell 'tau_grru'; did you mean 'tau_gru'?"]),
    ("a name without its kind to list", ["list", "lstm"], ["expected a kind before a name: `lagtape list cells lstm`"]),
    ("a table without a folder", ["table", "--only", "lem", "folder"], ["which table", "--only"]),
    ("a bench with a plan of no name", ["bench", "good.json", "--plan", ""], ["--plan", "name"]),
    ("a bench with an unknown plan", ["bench", "good.json", "--plan", "ful"], ["ful", "full"]),
]

TOKENS = {
    "name": "tokens",
    "data": {"task": "random", "length": 8, "tokens": 5, "classes": 2, "train": 4, "valid": 2, "test": 2},
    "model": {"layers": [{"layer": "embedding", "units": 3}, {"cell": "gru", "units": 4}],
              "readout": {"units": 2, "at": "last_step"}},
    "loss": "cross_entropy",
    "train": {"epochs": 1, "batch": 4},
}

# Inputs of predict for the trained run, whose input width is 1.
INPUTS = [
    ("a missing file", "gone.npy", None, ["gone.npy"]),
    ("another width", "x.npy", npy((5, 2), [1.0] * 10), ["x.npy", "2", "1"]),
    ("too many axes", "x.npy", npy((1, 1, 5, 1), [1.0] * 5), ["x.npy"]),
    ("a truncated array", "x.npy", npy((5, 1), [1.0] * 5)[:-8], ["x.npy"]),
    ("an array that claims to be huge", "x.npy", npy((2**40, 1), [1.0]), ["x.npy"]),
    ("another kind of file", "x.npy", b"PK\x03\x04" + bytes(60), ["x.npy"]),
    ("a number that is not one", "x.npy", npy((3, 1), [1.0, NAN, 2.0]), ["x.npy"]),
    ("a number beyond f32", "x.npy", npy((3, 1), [1.0, 1e300, 2.0]), ["x.npy", "[1, 0]", "f32"]),
    ("an empty table", "x.csv", "", ["x.csv"]),
    ("text in a table", "x.csv", "1\n2\nthree\n", ["x.csv", "line 3"]),
    ("nan in a table", "x.csv", "1\nnan\n", ["x.csv", "line 2"]),
    ("a table of another width", "x.csv", "1,2\n3,4\n", ["x.csv: expected 1 number on each line, got 2 on each"]),
    ("a row of another length", "x.csv", "1\n2,3\n", ["x.csv", "line 2"]),
    ("an unknown ending", "x.txt", "1\n", ["x.txt", ".npy", ".csv"]),
]


class ErrorsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("good.json", EXPERIMENT)
        (self.folder / "folder").mkdir()

    def test_experiments(self):
        for title, experiment, words in EXPERIMENTS:
            with self.subTest(title):
                path = self.write("experiment.json", experiment)
                self.refused(words, "train", path, "--out", "run")

    def test_comments_that_never_end(self):
        self.write("experiment.json", "/* " * 400_000 + json.dumps(EXPERIMENT))
        with self.within(5):
            self.refused(["experiment.json: line 1, column 1: "], "check", "experiment.json")

    @slow
    def test_many_names(self):
        path = self.write("experiment.json", changed(
            CLASSIFIER, metrics=[f"{name}_{i}" for name in ("f1", "recall", "precision") for i in range(80_000)]))
        with self.within(10):
            self.run_tool("check", path, code=2)
        path = self.write("experiment.json", changed(
            EXPERIMENT, data={"task": "series", "path": "none.csv", "input": list(range(160_000)), "window": 2}))
        with self.within(6):
            self.run_tool("check", path, code=2)

    def test_equations(self):
        for title, equations, words in EQUATIONS:
            with self.subTest(title):
                self.write("experiment.json", with_step(*equations))
                self.refused(["experiment.json", "cell 'own'", *words], "train", "experiment.json", "--out", "run")

    def test_arguments(self):
        for title, args, words in ARGUMENTS:
            with self.subTest(title):
                self.refused(words, *args)

    def test_inputs_of_predict(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        for title, name, content, words in INPUTS:
            for extra in ((), ("--stream",)):
                with self.subTest(title, extra=extra):
                    if content is not None:
                        self.write(name, content)
                    self.refused(words, "predict", "run", "--input", name, "--output", "y.npy", *extra)
        with self.subTest("an output below a file"):
            self.write("x.csv", "1\n2\n")
            self.refused(["good.json/y.npy"], "predict", "run", "--input", "x.csv", "--output", "good.json/y.npy")
        with self.subTest("probabilities of a model of numbers"):
            self.refused(["probabilities"], "predict", "run", "--input", "x.csv", "--output", "y.csv", "--probabilities")
        with self.subTest("an unknown split"):
            self.refused(["tset", "test"], "eval", "run", "--split", "tset")

    def test_lines_of_a_stream(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        for title, line in (("text", b"one\n"), ("another width", b"1,2\n"), ("nan", b"nan\n")):
            with self.subTest(title):
                self.refused(["line 1"], "predict", "run", "--input", "-", "--output", "-", "--stream", stdin=line)
        for extra in ((), ("--stream",)):
            with self.subTest("an empty line", extra=extra):
                out, err = self.run_tool("predict", "run", "--input", "-", "--output", "-", *extra, stdin=b"1\n \n2\n", code=2)
                self.assertEqual((out.count("\n"), err), (1, "lagtape: stdin: line 2: expected 1 number, got 0\n"))
        self.refused(["stdin: expected 1 number on each line, got 2 on each"], "predict", "run", "--input", "-", "--output", "y.csv",
                     stdin=b"1,2\n")

    def test_names_in_files_of_others_do_not_act_on_a_terminal(self):
        name = "a\x1b[31m\u202e\x9b7m\x7f"
        shown = r"a\x1b[31m\u202e\u009b7m\u007f"
        self.write("d.csv", f"{name},b\n" + "".join(f"{i % 7 / 7},{i % 5 / 5}\n" for i in range(100)))
        own = {"weights": {"W": ["units", "units"], "U": ["units", "input"]}, "state": {"h": "units"},
               "step": ["h' = tanh(W @ h + U @ x)"], "output": "h"}
        experiment = changed(EXPERIMENT, cells={name: own}, model__layers=[{"cell": name, "units": 2}], train__epochs=1)
        series = changed(EXPERIMENT, data={"task": "series", "path": "d.csv", "input": [name, "b"], "target": [name], "window": 8},
                         train__epochs=1)
        for field in ("readout", "metrics"):
            series.pop(field, None)
        series["model"]["readout"] = {"at": "last_step"}
        self.train("own", experiment=experiment)
        self.train("series", experiment=series)
        self.write("task/small.json", changed(EXPERIMENT, train__epochs=1))
        self.write("task/table.json", {"title": name, "source": name, "metric": "rmse", "unit": name,
                                       "rows": [{"name": name, "model": "small", "note": name}]})
        for args in (("inspect", "own"), ("inspect", "own/weights.safetensors"), ("analyze", "own"), ("table", "task"),
                     ("eval", "series", "--horizon", "2"), ("table", "task", "--json"), ("inspect", "own", "--json"),
                     ("eval", "series", "--horizon", "2", "--json")):
            with self.subTest(args):
                out, err = self.run_tool(*args)
                for text in (out, err):
                    self.assertEqual([c for c in text if c != "\n" and not c.isprintable()], [])
                if "--json" in args:
                    self.assertIn(json.dumps(name), json.dumps(json.loads(out)))
                else:
                    self.assertIn(shown, out)

    def test_a_long_word_is_cut_between_characters(self):
        self.refused(["xé", "éé... cannot read"], "check", "x" + "é" * 400)

    def test_paths_that_are_not_utf8(self):
        raw = b"\xff".decode("utf8", "surrogateescape")
        self.write("e.json", EXPERIMENT)
        self.train(f"run{raw}")
        self.write(f"{raw}/e.json", changed(EXPERIMENT, train__init="run"))
        self.write(f"{raw}/d.json", changed(EXPERIMENT, data={"task": "series", "path": "d.csv"}))
        for words, *args in ((["--init: a path that is not UTF-8"], "train", "e.json", "--init", f"run{raw}", "--out", "x"),
                             (["/train/init: a path that is not UTF-8"], "train", f"{raw}/e.json", "--out", "x"),
                             (["/data/path: a path that is not UTF-8"], "check", f"{raw}/d.json"),
                             (["--set data.path=\\xff"], "check", "e.json", "--set", f"data.path={raw}")):
            with self.subTest(args):
                self.refused(words, *args)
        self.run_tool("eval", f"run{raw}")

    def test_no_output_replaces_an_input(self):
        self.write("d.csv", "a\n" + "".join(f"{i % 7 / 7}\n" for i in range(100)))
        series = changed(EXPERIMENT, data={"task": "series", "path": "d.csv", "input": ["a"], "window": 8}, train__epochs=1)
        self.train("run", experiment=series)
        (self.folder / "same.csv").symlink_to("d.csv")
        self.write("w.csv", (self.folder / "run/weights.safetensors").read_bytes())
        self.write("arrays.json", changed(EXPERIMENT, data={"task": "arrays", "path": "d.npz"}))
        self.run_tool("data", "run/experiment.json", "--out", "d.npz")
        (self.folder / "same.npz").symlink_to("d.npz")
        for words, *args in (
            (["--output ./d.csv: is an input of this command"], "predict", "run", "--input", "d.csv", "--output", "./d.csv"),
            (["--output same.csv: is an input"], "forecast", "run", "--input", "d.csv", "--steps", "2", "--output", "same.csv"),
            (["weights.safetensors: is an input"], "export", "run", "--to", "c99", "--output", "run/weights.safetensors"),
            (["w.csv: is an input"], "predict", "w.csv", "--input", "d.csv", "--output", "w.csv"),
            (["w.csv: is an input"], "forecast", "run", "--runs", "w.csv", "--input", "d.csv", "--steps", "2", "--output", "w.csv"),
            (["--out ./same.npz: is an input"], "data", "arrays.json", "--out", "./same.npz"),
        ):
            with self.subTest(args):
                self.refused(words, *args)

    def test_tokens_beyond_the_vocabulary(self):
        self.train("run", experiment=TOKENS)
        self.write("x.csv", "1\n2\n5\n")
        for extra in ((), ("--stream",)):
            with self.subTest(extra=extra):
                self.refused(["x.csv: the number at [2, 0]: expected a token, one of 0..4, got 5"], "predict", "run", "--input",
                             "x.csv", "--output", "y.csv", *extra)
        self.write("good.csv", "1\n2\n")
        self.refused(["x.csv: the number at [2, 0]: expected a token"], "predict", "run", "--input", "good.csv", "--output", "y.csv",
                     "--stream", "--weights", "int8", "--calibrate", "x.csv")
        self.refused(["0..4", "5", "line 3"], "predict", "run", "--input", "-", "--output", "-", stdin=b"1\n2\n5\n")

    def test_a_stream_that_cannot_be(self):
        layers = [{"layer": "bidirectional", "cell": {"cell": "gru", "units": 2}}]
        self.write("both.json", changed(EXPERIMENT, model__layers=layers))
        self.refused(["both.json: a bidirectional layer reads"], "bench", "both.json", "--stream")

    def test_files_in_place_of_an_experiment(self):
        for name, content, words in (("page.json", b"<!DOCTYPE html><html>", "an HTML page"),
                                     ("pointer.json", b"version https://git-lfs.github.com/spec/v1", "a pointer of Git LFS"),
                                     ("w.pt", b"PK\x03\x04 w/data.pkl", "a file of torch.save")):
            with self.subTest(name):
                self.write(name, content)
                self.refused([f"{name}: expected JSON; it seems to be {words}"], "inspect", name)


if __name__ == "__main__":
    main()
