"""Tables of many sequences with a class or a number each, from the file to predictions with names."""

import csv
import io
import json
import math
import shutil
import subprocess
import unittest
import zipfile

from tool import ToolTest, changed, main, npy_shape, npy_values, rows_of

EXPERIMENT = {
    "name": "runs",
    "data": {"task": "sequences", "path": "runs.csv", "sequence": "id", "time": "t", "input": ["a", "b"], "target": "label"},
    "model": {"layers": [{"cell": "gru", "units": 6}]},
    "loss": "cross_entropy",
    "metrics": ["accuracy", "f1[fault]", "recall[well, nearly]"],
    "optimizer": {"type": "adam", "lr": 0.02},
    "train": {"epochs": 25, "batch": 8},
}
CLASSES = ["fault", "ok", "well, nearly"]


def target(i):
    return CLASSES[0] if i % 4 == 0 else CLASSES[2] if i % 4 == 1 else CLASSES[1]


def table(count=60, targets=target, last="label"):
    """Sequences of 5 to 11 rows, rows of different ones among each other, the last ones first."""
    rows = []
    for i in range(count):
        rise = CLASSES.index(target(i)) - 1
        rows += [(f"s{i}", n, 3 + rise * n + 0.1 * math.sin(7 * i + n), 100 + i % 3, targets(i)) for n in range(5 + i % 7)]
    rows.sort(key=lambda row: (-row[1], row[0]))
    out = io.StringIO()
    csv.writer(out).writerows([("id", "t", "a", "b", last), *rows])
    return out.getvalue()


C_CLASSES = """#include <stdio.h>
#include "model.c"
int main(void) {
  for (int i = 0; i < model_CLASSES; ++i) puts(model_class_names[i]);
  return model_INPUTS != 4;
}
"""


class SequencesTest(ToolTest):
    @unittest.skipUnless(shutil.which("gcc"), "gcc is not installed")
    def test_the_program_in_c_has_the_names_of_classes_and_inputs(self):
        odd = ['a "b" \\', "what??)", "g\u00fcnstig"]
        self.write("runs.csv", table(targets=lambda i: odd[CLASSES.index(target(i))]))
        self.train("run", experiment=changed(EXPERIMENT, data__missing="mask", train__epochs=1, metrics=["accuracy"]))
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        text = (self.folder / "model.c").read_text()
        self.assertIn("   in[2]: a is there: 1 where there is a number, else 0\n", text)
        self.assertIn("   out[1]: logit of ", text)
        self.write("main.c", C_CLASSES)
        for compiler in (["gcc", "-std=c99"], ["g++", "-x", "c++", "-std=c++11"]):
            subprocess.run([*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "-o", "model", "-lm"], cwd=self.folder, check=True)
            self.assertEqual(subprocess.check_output(["./model"], cwd=self.folder, text=True).split("\n")[:-1], sorted(odd))

    def setUp(self):
        super().setUp()
        self.write("runs.csv", table())

    def rows(self, name):
        return rows_of((self.folder / name).read_text())

    def test_classes_keep_their_names_from_the_table_to_the_predictions(self):
        self.train("run", experiment=EXPERIMENT)
        scores = json.loads(self.run_tool("eval", "run", "--confusion", "--json")[0])
        self.assertEqual([row["name"] for row in scores["classes"]], CLASSES)
        self.assertEqual(scores["f1[fault]"], scores["classes"][0]["f1"])
        self.assertEqual(scores["recall[well, nearly]"], scores["classes"][2]["recall"])
        self.assertEqual(sum(map(sum, scores["confusion"])), 9)
        self.assertGreater(scores["accuracy"], 0.8)
        text = self.run_tool("eval", "run", "--confusion")[0]
        self.assertRegex(text, r"\n +fault +ok  *well, nearly +precision")
        self.assertRegex(text, r"\nwell, nearly +\d")
        self.run_tool("report", "run", "--output", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn("<th>well, nearly</th>", page)
        self.assertIn("f1[fault]", page)

        # A table of two classes, whose numbers would be others.
        self.write("new.csv", "id,b,a,t,note\n" + "".join(
            f"{name},100,{3 + rise * n},{n},x\n" for name, rise in (("up", 1), ("level", 0)) for n in range(7)))
        self.run_tool("predict", "run", "--input", "new.csv", "--output", "p.csv", "--probabilities")
        rows = self.rows("p.csv")
        self.assertEqual([(row["id"], row["prediction"]) for row in rows], [("up", "well, nearly"), ("level", "ok")])
        self.assertEqual(list(rows[0]), ["id", "prediction", *(f"p[{name}]" for name in CLASSES)])
        for row in rows:
            odds = {name: float(row[f"p[{name}]"]) for name in CLASSES}
            self.assertAlmostEqual(sum(odds.values()), 1, places=5)
            self.assertEqual(max(odds, key=odds.get), row["prediction"])
        for ending in ("json", "npz"):
            self.run_tool("predict", "run", "--input", "new.csv", "--output", f"p.{ending}", "--probabilities")
        found = json.loads((self.folder / "p.json").read_text())
        self.assertEqual({name: [row[name] for row in rows] for name in ("id", "prediction")}, {name: found[name] for name in ("id", "prediction")})
        self.assertEqual([float(row["p[ok]"]) for row in rows], found["p[ok]"])
        with zipfile.ZipFile(self.folder / "p.npz") as archive:
            self.assertEqual(sorted(archive.namelist()), sorted(f"{name}.npy" for name in rows[0]))
            self.assertEqual([round(value, 6) for value in npy_values(archive.read("p[ok].npy"))], [round(value, 6) for value in found["p[ok]"]])
        self.refused(["--output: expected a name that ends in .csv, .json or .npz, got 'p.txt'"], "predict", "run", "--input", "new.csv", "--output", "p.txt")
        self.run_tool("predict", "run", "--input", "new.csv", "--output", "p.npy")
        self.assertEqual(npy_shape((self.folder / "p.npy").read_bytes()), (2, 3))
        one = "a,b\n" + "".join(f"{3 + n},100\n" for n in range(7))
        self.write("one.csv", one)
        self.run_tool("predict", "run", "--input", "one.csv", "--output", "one.npy")
        logits = npy_values((self.folder / "p.npy").read_bytes())[:3]
        for found, expected in zip(npy_values((self.folder / "one.npy").read_bytes()), logits):
            self.assertAlmostEqual(found, expected, places=5)

        # The truth is beside the predictions, and the share that is right is the accuracy.
        self.run_tool("predict", "run", "--input", "runs.csv", "--output", "all.csv")
        rows = self.rows("all.csv")
        self.assertEqual({row["id"]: row["truth"] for row in rows}, {f"s{i}": target(i) for i in range(60)})
        all_scores = json.loads(self.run_tool("eval", "run", "--data", "runs.csv", "--split", "all", "--json")[0])
        self.assertAlmostEqual(sum(row["truth"] == row["prediction"] for row in rows) / 60, all_scores["accuracy"])
        self.write("few.csv", "id,t,a,b,label\nq,1,3,100,ok\n")
        self.assertIn("accuracy", self.run_tool("eval", "run", "--data", "few.csv", "--split", "all")[0])
        self.assertEqual(self.run_tool("predict", "run", "--input", "few.csv", "--output", "-")[0].splitlines()[0],
                         "id,prediction,truth")

        # Exported files name the classes.
        self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
        self.assertIn("out[0]: logit of fault\n   out[1]: logit of ok\n   out[2]: logit of well, nearly\n", (self.folder / "model.c").read_text())
        for kind in ("onnx", "onnx-step"):
            self.run_tool("export", "run", "--to", kind, "--output", "model.onnx")
            self.assertIn(b"Outputs: logit of fault, logit of ok, logit of well, nearly.", (self.folder / "model.onnx").read_bytes())

        # Targets are not needed, and may be of a class that the model does not know; they are for a score.
        self.write("odd.csv", "id,t,a,b,label\nq,1,3,100,ok\nz,1,3,100,broken\nz,2,3,100,\n")
        _, err = self.run_tool("predict", "run", "--input", "odd.csv", "--output", "odd-p.csv")
        self.assertIn("1 sequence has a class that the model does not know, the first in line 3: 'broken'", err)
        self.assertEqual([(row["id"], row["truth"]) for row in self.rows("odd-p.csv")], [("q", "ok"), ("z", "broken")])
        self.refused(["odd.csv: line 3, column 5 (label): unknown class 'broken'"], "eval", "run", "--data", "odd.csv", "--split", "all")
        self.refused(["unknown column 'label'", "Sequences without targets are predicted by `lagtape predict`"],
                     "eval", "run", "--data", "new.csv", "--split", "all")

    def test_words_are_inputs_of_their_own(self):
        rows = "".join(f"s{i},{n},{n % 3},{('rise', 'fall')[i % 2] if n == 2 else '' if n == 4 else 'flat'},{('ok', 'fault')[i % 2]}\n" for i in range(40) for n in range(6))
        self.write("runs.csv", "id,t,a,move,label\n" + rows)
        words = changed(EXPERIMENT, metrics=["accuracy"], data__input=["a", "move"], data__categories={"move": ["fall", "flat", "rise"]}, data__missing="mask")
        self.train("run", experiment=words)  # only the word tells the classes apart
        self.assertEqual(json.loads(self.run_tool("eval", "run", "--json")[0])["accuracy"], 1)
        self.write("more.csv", "id,t,a,move\nx,0,1,flat\nx,1,2,up\n")
        self.refused(["more.csv: line 3, column 4 (move): unknown word 'up'"], "predict", "run", "--input", "more.csv", "--output", "-")
        for change, problem in (({"data__missing": "error"}, "line 6, column 4 (move): is missing, expected a word"),
                                ({"data__categories": {"moves": ["flat"]}}, "/data/categories: the column 'moves' is not in \"input\""), ({"data__categories": None}, 'Columns of words are named in "categories"')):
            self.refused([problem], "check", self.write("e.json", changed(words, **change)))

    def test_two_columns_tell_sequences_apart(self):
        rows = [line.split(",", 1) for line in table().splitlines()[1:]]
        self.write("runs.csv", "subject,trial,t,a,b,label\n" + "".join(f"p{int(name[1:]) // 7},{int(name[1:]) % 7},{rest}\n" for name, rest in rows))
        self.train("run", experiment=changed(EXPERIMENT, data__sequence=["subject", "trial"]))
        self.run_tool("predict", "run", "--input", "runs.csv", "--output", "p.csv")
        self.assertEqual({(row["subject"], row["trial"]): row["truth"] for row in self.rows("p.csv")},
                         {(f"p{i // 7}", str(i % 7)): target(i) for i in range(60)})
        for sequence, words in (([], ["/data/sequence: expected the name of a column, or a list"]), (["subject", "t"], ["\"sequence\" names too"]),
                                (None, ["/data/sequence: is missing"])):
            self.write("e.json", changed(EXPERIMENT, data__sequence=sequence))
            self.refused(words, "check", "e.json")

    def test_groups_of_sequences_are_in_one_set(self):
        rows = [line.split(",", 1) for line in table().splitlines()[1:]]
        person = lambda name: f"p{int(name[1:]) * 7 % 11}"
        self.write("runs.csv", "subject,trial,t,a,b,label\n" + "".join(f"{person(name)},{name},{rest}\n" for name, rest in rows))
        experiment = changed(EXPERIMENT, data__sequence="trial", data__group="subject")
        said = self.run_tool("check", self.write("e.json", experiment))[1]
        self.assertRegex(said, r"groups: \d+ of train, \d of valid, \d of test")
        splits = []
        for seed in (0, 0, 1):
            self.run_tool("data", self.write("e.json", changed(experiment, data__split_seed=seed)), "--out", "d.npz")
            with zipfile.ZipFile(self.folder / "d.npz") as archive:
                splits.append([npy_values(archive.read(f"{part}_x.npy")) for part in ("train", "valid", "test")])
        self.assertEqual(splits[0], splits[1])
        self.assertNotEqual(splits[0], splits[2])
        self.write("runs.csv", (self.folder / "runs.csv").read_text().replace("p3,", "p4,", 1))
        self.refused(["sequence 's", "is of the groups 'p4' and 'p3', expected one for each sequence"], "check", "e.json")
        self.write("e.json", changed(experiment, data__group="label"))
        self.refused(['/data/group: names the column \'label\', which "target" names too.'], "check", "e.json")
        self.run_tool("train", self.write("e.json", changed(EXPERIMENT, data__sequence="trial")), "--out", "run", "--quiet")
        self.refused(["lagtape: run: expected a model that was trained on a recording"], "eval", "run", "--horizon", "2")

    def test_numbers_are_predicted_in_their_units(self):
        self.write("runs.csv", table(targets=lambda i: 1000 + 50 * CLASSES.index(target(i))))
        self.train("run", experiment=changed(EXPERIMENT, loss="mse", metrics=["rmse"]))
        self.assertLess(json.loads(self.run_tool("eval", "run", "--json")[0])["rmse"], 20)
        self.run_tool("predict", "run", "--input", "runs.csv", "--output", "p.csv")
        rows = self.rows("p.csv")
        self.assertEqual(list(rows[0]), ["id", "prediction", "truth"])
        error = sum((float(row["prediction"]) - float(row["truth"])) ** 2 for row in rows) / len(rows)
        self.assertLess(error, 20 ** 2)
        self.refused(["probabilities are those of classes"], "predict", "run", "--input", "runs.csv", "--output", "q.csv",
                     "--probabilities")

    def test_one_logit_has_the_names_of_two_classes(self):
        self.write("runs.csv", table(targets=lambda i: "yes" if i % 4 else "no"))
        self.train("run", experiment=changed(EXPERIMENT, loss="binary_cross_entropy", metrics=["accuracy", "f1[no]"]))
        self.run_tool("predict", "run", "--input", "runs.csv", "--output", "p.csv", "--probabilities")
        rows = self.rows("p.csv")
        self.assertEqual(list(rows[0]), ["id", "prediction", "p[no]", "p[yes]", "truth"])
        for row in rows:
            self.assertAlmostEqual(float(row["p[no]"]) + float(row["p[yes]"]), 1, places=5)
            self.assertEqual(row["prediction"], "yes" if float(row["p[yes]"]) > 0.5 else "no")

    def test_a_run_is_resumed_checked_and_moved(self):
        self.train("run", experiment=EXPERIMENT)
        _, out = self.run_tool("check", "experiment.json")
        self.assertIn("classes fault: ", out)
        self.assertIn("well, nearly: ", out)
        self.run_tool("train", "experiment.json", "--out", "run", "--resume", "--set", "train.epochs=26", "--quiet")
        self.assertEqual(json.loads((self.folder / "run/experiment.json").read_text())["data"]["target"], "label")
        (self.folder / "run").rename(self.folder / "moved")
        self.assertIn("recall[well, nearly]", self.run_tool("eval", "moved/weights.safetensors")[0])
        experiment = changed(EXPERIMENT, metrics=["f1[falt]"])
        self.write("experiment.json", experiment)
        self.refused(["/metrics/0: unknown class 'falt'; did you mean 'fault'?"], "train", "experiment.json", "--out", "r")
        self.write("experiment.json", changed(EXPERIMENT, metrics=["f1[fault"]))
        self.refused(["/metrics/0: unknown metric 'f1[fault'"], "train", "experiment.json", "--out", "r")

    def test_what_is_wrong_is_one_message(self):
        head = "id,t,a,b,label\n"
        for content, words in (
                (head + "x,1,1,1,ok\ny,1,1,1,no\nx,1,2,1,ok\n", ["runs.csv", "lines 2 and 4: both are of sequence 'x' at 1"]),
                (head + "x,1,1,1,ok\ny,1,1,1,no\nx,2,2,1,no\n", ["lines 2 and 4: sequence 'x' has the targets 'ok' and 'no'"]),
                (head + "x,1,one,1,ok\n", ["line 2, column 3 (a): expected a finite number", "one"]),
                (head + "x,1,,1,ok\n", ['line 2, column 3 (a): is missing, expected a finite number', '"missing"']),
                (head + "x,1,1,1,ok\ny,1,1,1,ok\n", ["expected at least two classes"]),
                ("id,t,a,b,lable\nx,1,1,1,ok\n", ["unknown column 'label'; did you mean 'lable'?"]),
                ("1,2,3,4,5\n", ["its columns have no names"])):
            with self.subTest(words=words):
                self.write("runs.csv", content)
                self.write("experiment.json", EXPERIMENT)
                self.refused(words, "train", "experiment.json", "--out", "r")
        self.write("runs.csv", table())
        self.write("experiment.json", changed(EXPERIMENT, loss="mse", metrics=[]))
        self.refused(["(label): expected a finite number", '"cross_entropy"'], "train", "experiment.json", "--out", "r")
        self.write("runs.csv", head + "x,1,1,1,3\ny,1,1,1,-999\n")
        self.write("experiment.json", changed(EXPERIMENT, loss="mse", metrics=[], data__missing_codes=[-999]))
        self.refused(["(label): is missing, expected the target of sequence 'y'"], "train", "experiment.json", "--out", "r")


if __name__ == "__main__":
    main()
