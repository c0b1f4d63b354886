"""Expectations of a training: early ends, other models to begin with, dry runs, tables, a look at the data."""

import csv
import fcntl
import json
import math
import os
import pty
import re
import struct
import subprocess
import termios
import unittest
import zipfile

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, npy, read_safetensors

STILL = changed(EXPERIMENT, optimizer={"type": "sgd", "lr": 1e-30}, train__epochs=20, train__batch=1)
SERIES = changed(EXPERIMENT, data={"task": "series", "path": "own.csv", "window": 20}, train__epochs=1)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def fields_of(message):
    """The fields of a protocol buffer: (number, value), where bytes stay bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            at += size
            yield key >> 3, message[at - size:at]


def events_of(data):
    """(step, values by tag, version) of each record, with its checksums tried."""
    while data:
        length, = struct.unpack("<Q", data[:8])
        event = data[12:12 + length]
        for crc, content in ((data[8:12], data[:8]), (data[12 + length:16 + length], event)):
            plain = crc32c(content)
            assert struct.unpack("<I", crc)[0] == ((plain >> 15 | plain << 17) + 0xA282EAD8) & 0xFFFFFFFF
        fields, values = dict(fields_of(event)), {}
        for _, value in fields_of(fields.get(5, b"")):
            one = dict(fields_of(value))
            values[one[1].decode()] = struct.unpack("<f", one[2])[0]
        yield fields.get(2, 0), values, fields.get(3, b"").decode()
        data = data[16 + length:]


class TrainingOptionsTest(ToolTest):
    def lines(self, run):
        return [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]

    def test_a_run_ends_early_and_says_so(self):
        path = self.write("experiment.json", changed(STILL, train__patience=3))
        out, _ = self.run_tool("train", path, "--out", "run")
        self.assertIn("stopped     early", out)
        self.assertEqual(len(self.lines("run")), 4)
        self.assertIs(json.loads((self.folder / "run/summary.json").read_text())["stopped_early"], True)
        before = self.weights("run")
        self.run_tool("train", "run", "--resume", "--quiet")
        self.assertEqual(self.weights("run"), before)
        self.assertEqual(len(self.lines("run")), 4)

    def test_the_table_has_the_rows_of_the_lines_also_of_a_resumed_run(self):
        self.train("run", experiment=EXPERIMENT)
        self.run_tool("train", "run", "--resume", "--set", "train.epochs=5", "--quiet")
        with open(self.folder / "run/metrics.csv", newline="") as file:
            table = list(csv.DictReader(file))
        lines = self.lines("run")
        self.assertEqual(len(table), 5)
        self.assertEqual([list(row) for row in table], [list(line) for line in lines])
        self.assertEqual([{key: float(value) for key, value in row.items()} for row in table], lines)

    def test_tensorboard_reads_the_evaluations(self):
        path = self.write("experiment.json", EXPERIMENT)
        self.run_tool("train", path, "--out", "run", "--tensorboard", "--quiet")
        self.run_tool("train", "run", "--resume", "--set", "train.epochs=5", "--tensorboard", "--quiet")
        found = list(events_of((self.folder / "run/events.out.tfevents.0.lagtape").read_bytes()))
        self.assertEqual(found[0][2], "brain.Event:2")
        expected = [{"step": line["step"], "train/loss": line["train_loss"], "valid/loss": line["valid_loss"],
                     "valid/rmse": line["valid_rmse"]} for line in self.lines("run")]
        self.assertEqual(len(found), 6)
        for (step, values, _), line in zip(found[1:], expected, strict=True):
            self.assertEqual(step, line.pop("step"))
            for tag, value in line.items():
                self.assertEqual(values[tag], struct.unpack("<f", struct.pack("<f", value))[0])

    def test_a_link_in_a_run_folder_is_not_followed(self):
        path = self.write("experiment.json", EXPERIMENT)
        self.run_tool("train", path, "--out", "run", "--quiet")
        kept = self.folder / self.write("kept", "mine")
        (self.folder / "run/events.out.tfevents.0.lagtape").symlink_to(kept)
        _, message = self.run_tool("train", "run", "--resume", "--set", "train.epochs=5", "--tensorboard", "--quiet", code=2)
        self.assertIn("run/events.out.tfevents.0.lagtape: cannot write: it is a link", message)
        self.assertEqual(kept.read_text(), "mine")

    def test_tensorboards_own_reader_reads_the_evaluations(self):
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("tensorboard is not installed: its own reader was not tried")
        self.run_tool("train", self.write("experiment.json", EXPERIMENT), "--out", "run", "--tensorboard", "--quiet")
        events = EventAccumulator(str(self.folder / "run"))
        events.Reload()
        self.assertEqual([event.step for event in events.Scalars("valid/rmse")], [line["step"] for line in self.lines("run")])
        for event, line in zip(events.Scalars("valid/rmse"), self.lines("run"), strict=True):
            self.assertAlmostEqual(event.value, line["valid_rmse"], places=6)

    def test_keys_that_come_later_are_columns_too(self):
        self.train("run", experiment=changed(EXPERIMENT, train__average={"latest": 2}, train__epochs=4))
        with open(self.folder / "run/metrics.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([row["averaged"] for row in table], [str(line.get("averaged", "")) for line in self.lines("run")])
        self.assertEqual([row["average_begins"] for row in table], ["", "true", "", ""])

    def test_a_dry_run_writes_nothing(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=40))
        before = self.snapshot()
        found = json.loads(self.run_tool("train", path, "--dry-run", "--json")[0])
        self.assertEqual((found["updates"], found["steps"]), (3, 80))
        self.assertIn("nothing was written", self.run_tool("train", path, "--dry-run")[0])
        self.assertEqual(self.snapshot(), before)

    def drawn(self, columns, **environment):
        """The output of a training on a terminal of so many columns."""
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=12))
        terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        running = subprocess.Popen([self.tool, "train", path, "--out", f"run{columns}{len(environment)}{''.join(environment.values())}"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=other, env={**os.environ, **environment})
        os.close(other)
        text = b""
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        self.assertEqual(running.wait(), 0)
        return [frame for frame in re.split(r"\r\n|\r\x1b\[K", text.decode()) if re.search(r"step \d+/", frame)]

    def test_progress_fits_the_terminal(self):
        for columns in (120, 60, 30):
            lines = self.drawn(columns, NO_COLOR="1")
            self.assertGreater(len(lines), 0)
            for line in lines:
                self.assertLess(len(line), columns)
                self.assertIn("step ", line)
                self.assertNotIn("\x1b", line)
            if columns != 60:
                self.assertEqual(any(line.startswith(("#", ".")) for line in lines), columns == 120)
        self.assertTrue(any(line.startswith("\x1b[32m") for line in self.drawn(120, NO_COLOR="")))

    def test_no_line_is_redrawn_where_there_is_no_terminal(self):
        _, err = self.run_tool("train", self.write("experiment.json", EXPERIMENT))
        self.assertNotIn("\r", err)
        self.assertEqual(len(re.findall(r"^ +\d+ +\d+ ", err, re.MULTILINE)), 3)

    def test_a_line_of_an_epoch_fits_80_columns_with_any_number_of_metrics(self):
        metrics = ["rmse", "mse", "nrmse", "mae", "mape", "smape", "r2", "esr"]
        for count in (0, 1, 3, 8):
            experiment = self.write("experiment.json", changed(EXPERIMENT, metrics=metrics[:count]))
            _, err = self.run_tool("train", experiment, "--out", f"run{count}")
            lines = err.splitlines()
            head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["epoch", "step"])
            table = lines[head:head + 4]
            self.assertLess(max(map(len, table)), 80)
            # Numbers end below the end of their column's name, and a star marks what is kept.
            ends = [match.end() for match in re.finditer(r"\S+", table[0])]
            for line in table[1:]:
                self.assertEqual([match.end() for match in re.finditer(r"[^\s*]+", line)], ends, line)
            self.assertTrue(table[1].endswith(" *"))
            rows = self.lines(f"run{count}")
            self.assertEqual(table[1].split()[3], f"{rows[0]['valid_loss']:.4g}")
            shown = table[0].split()
            left_out = [name for name in metrics[:count] if name not in shown]
            self.assertEqual("metrics.jsonl also has: " + ", ".join(left_out) in err, bool(left_out))
            self.assertEqual(bool(left_out), count == 8)

    def test_a_folder_with_a_hash_is_numbered(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=1))
        for number in (1, 2):
            self.assertIn(f"runs/try-{number}\n", self.run_tool("train", path, "--out", "runs/try-#", "--quiet")[0])
        self.assertIn("runs/try-2\n", self.run_tool("train", path, "--out", "runs/try-#", "--quiet", "--resume")[0])
        self.assertFalse((self.folder / "runs/try-3").exists())

    def test_runs_lists_what_was_trained(self):
        (self.folder / "here").mkdir()
        self.assertIn("no runs in 'here'", self.run_tool("runs", "here")[0])
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=1))
        self.run_tool("train", path, "--quiet")
        self.run_tool("train", path, "--quiet", "--seed", "4")
        found = json.loads(self.run_tool("runs", "--json")[0])
        self.assertEqual([run["run"] for run in found], ["runs/small-0", "runs/small-4"])
        summary = json.loads((self.folder / "runs/small-4/summary.json").read_text())
        self.assertEqual(found[1]["test"], summary["test"]["rmse"])
        text = self.run_tool("runs")[0]
        self.assertIn("tau_gru", text)
        self.assertIn(f"{summary['valid']['rmse']:.4g}", text)
        (self.folder / "runs/small-4/summary.json").unlink()
        self.assertIn("stopped", self.run_tool("runs")[0])
        self.assertIn("cannot read", self.run_tool("runs", "nowhere", code=2)[1])

    def test_version_is_a_command(self):
        found = json.loads(self.run_tool("version", "--json")[0])
        self.assertEqual("lagtape " + found["version"], self.run_tool("--version")[0].strip())
        self.assertIn(found["simd"], found["levels"])

    def test_several_seeds_are_trained_and_go_on_where_they_stopped(self):
        experiment = changed(EXPERIMENT, train__epochs=1)
        path = self.write("experiment.json", experiment)
        found = json.loads(self.run_tool("train", path, "--seeds", "3", "--seed", "5", "--quiet", "--json")[0])
        self.assertEqual([run["run"] for run in found["runs"]], [f"runs/small-{seed}" for seed in (5, 6, 7)])
        losses = []
        for seed in (5, 6, 7):
            self.assertEqual(self.train(f"alone{seed}", "--seed", seed, experiment=experiment), self.weights(f"runs/small-{seed}"))
            losses.append(json.loads((self.folder / f"alone{seed}/summary.json").read_text())["test"]["loss"])
        mean = sum(losses) / 3
        self.assertAlmostEqual(found["test"]["loss"]["mean"], mean)
        self.assertAlmostEqual(found["test"]["loss"]["deviation"], math.sqrt(sum((loss - mean) ** 2 for loss in losses) / 2))
        self.run_tool("train", path, "--seeds", "2", "--out", "out/run", "--quiet")
        before = [self.weights(f"out/run-{seed}") for seed in (0, 1)]
        out = self.run_tool("train", path, "--seeds", "3", "--out", "out/run", "--quiet", "--resume")[0]
        self.assertEqual([self.weights(f"out/run-{seed}") for seed in (0, 1)], before)
        self.assertIn("out/run-2  loss ", out)
        self.assertIn("test    loss ", out)
        self.assertIn("is one run", self.run_tool("train", "out/run-0", "--seeds", "2", "--resume", code=2)[1])

    def test_other_settings_than_those_of_a_run_are_told_their_way(self):
        self.train("run", experiment=EXPERIMENT)
        message = self.run_tool("train", self.write("other.json", changed(EXPERIMENT, optimizer__lr=0.5)), "--out", "run",
                                "--resume", code=2)[1]
        self.assertIn("/optimizer/lr", message)
        self.assertIn("give another folder, by --out; `lagtape train --init` begins with this run's weights", message)

    def test_numbers_that_are_none_are_found_in_arrays_before_a_training(self):
        x = [0.5] * 24
        for name, x, y, words in (("x", x[:7] + [math.nan] + x[8:], [1.0] * 4, "train_x: numbers must be finite. Got nan in sequence 1, step 0, number 1"),
                                  ("y", x, [1.0, math.inf, 1.0, 1.0], "train_y: numbers must be finite. Got inf in sequence 1, step 0, number 0")):
            with zipfile.ZipFile(self.folder / "own.npz", "w") as archive:
                archive.writestr("train_x.npy", npy((4, 3, 2), x))
                archive.writestr("train_y.npy", npy((4, 1), y))
            path = self.write("arrays.json", changed(EXPERIMENT, data={"task": "arrays", "path": "own.npz"}, model__readout={"at": "last_step"}))
            with self.subTest(name):
                self.assertIn("own.npz: " + words, self.run_tool("check", path, code=2)[1])

    def test_a_learning_rate_is_found(self):
        path = self.write("experiment.json", EXPERIMENT)
        found = json.loads(self.run_tool("train", path, "--find-lr", "rates.svg", "--json")[0])
        lowest = found["rates"][found["losses"].index(min(found["losses"]))]
        self.assertAlmostEqual(found["suggested_lr"], lowest / 10)
        self.assertGreater(lowest, 1e-3)
        self.assertLess(min(found["losses"]), found["losses"][0] / 4)
        self.assertEqual(found["rates"][0], 1e-6)
        self.assertIn("learning rate", (self.folder / "rates.svg").read_text())
        self.assertFalse((self.folder / "runs").exists())
        self.assertIn("expected a name that ends in .svg", self.run_tool("train", path, "--find-lr", "rates.jpg", code=2)[1])

    def test_a_training_begins_with_another_model(self):
        self.train("first", experiment=EXPERIMENT)
        _, err = self.run_tool("train", self.write("experiment.json", changed(EXPERIMENT, seed=4, optimizer__lr=1e-30)),
                               "--init", "first", "--out", "second")
        self.assertIn("init: 18 of 18 parameters begin with those of ", err)
        self.assertEqual(*(read_safetensors(self.weights(run))[1] for run in ("first", "second")))
        kept = json.loads((self.folder / "second/experiment.json").read_text())
        self.assertEqual(kept["train"]["init"], "../first")
        _, err = self.run_tool("train", self.write("wide.json", changed(EXPERIMENT, model__layers=[
            {"cell": "lstm", "units": 8}])), "--init", "first", "--out", "third")
        self.assertIn("init: 2 of ", err)
        self.assertIn("; drawn: layers.0.", err)
        before = self.snapshot()
        self.assertIn("none", self.run_tool("train", "experiment.json", "--init", "none", "--out", "fourth", code=2)[1])
        self.assertEqual(self.snapshot(), before)

    def test_frozen_parameters_stay(self):
        self.train("first", experiment=EXPERIMENT)
        frozen = [{"match": "layers.*", "lr_factor": 0}]
        self.write("experiment.json", changed(EXPERIMENT, optimizer__groups=frozen))
        self.run_tool("train", "experiment.json", "--init", "first", "--out", "second", "--quiet")
        tensors = []
        for run in ("first", "second"):
            header, buffer = read_safetensors(self.weights(run))
            tensors.append({name: buffer[slice(*entry["data_offsets"])] for name, entry in header.items() if name[0] != "_"})
        same = {name for name in tensors[0] if tensors[0][name] == tensors[1][name]}
        self.assertEqual(same, {name for name in tensors[0] if name.startswith("layers.")})

    def test_one_batch_is_learned_by_heart(self):
        path = self.write("experiment.json", changed(CLASSIFIER, train__epochs=300, optimizer__lr=0.02))
        out = json.loads(self.run_tool("train", path, "--overfit", "1", "--json", "--quiet")[0])
        self.assertEqual(out["valid"]["accuracy"], 1)
        self.assertTrue((self.folder / "runs/classes-0-overfit/summary.json").exists())

    def test_check_looks_at_the_data(self):
        rows = [f"{math.sin(0.3 * n):.5f},5,{1e4 * math.cos(0.3 * n):.3f}" for n in range(2000)]
        self.write("own.csv", "a,b,c\n" + "\n".join(rows) + "\n")

        def check(**changes):
            return self.run_tool("check", self.write("experiment.json", changed(SERIES, **changes)))[1]

        err = check(data__target=["c"], data__input=["a", "b"])
        self.assertIn("data: train 77 sequences, valid 14 sequences, test 14 sequences; up to 20 steps", err)
        self.assertIn("warning: input 'b' is 0 at every step: it carries no information", err)
        self.assertNotIn("targets are of the size", err)
        self.assertIn("warning: targets are of the size", check(data__target=["c"], data__normalize_target=False))
        self.assertIn("warning: input 'a' is target 'a' of the same step", check(data__target=["a"], data__horizon=0))
        self.assertNotIn("of the same step", check(data__target=["a"]))

    def test_check_names_a_few_of_many_equal_columns(self):
        columns = 300
        self.write("own.csv", ",".join(f"c{i}" for i in range(columns)) + "\n" + (",".join("1" * columns) + "\n") * 24)
        path = self.write("experiment.json", changed(
            SERIES, data={"task": "series", "path": "own.csv", "window": 2}, model__readout={"at": "every_step"}))
        err = self.run_tool("check", path)[1]
        self.assertIn("warning: input 'c9' is 0 at every step: it carries no information\n", err)
        self.assertIn("warning: 300 inputs in all are the same at every step: they carry no information\n", err)
        self.assertIn("warning: input 'c0' is target 'c9' of the same step", err)
        self.assertIn("warning: 90000 pairs of an input and a target in all are the same at every step\n", err)
        self.assertLess(err.count("\n"), 40)

    def test_check_finds_rare_classes(self):
        experiment = changed(CLASSIFIER, data__classes=2, model__readout={"at": "last_step"}, data__train=20)
        self.assertIn("data: classes 0: ", self.run_tool("check", self.write("experiment.json", experiment))[1])
        self.run_tool("data", "experiment.json", "--out", "own.npz")

    def test_options_that_the_data_do_not_allow(self):
        for sets, words in (
                (["train.sampling=balanced"], "/train/sampling: only sequences with one class each"),
                (["train.sampling=rare"], "/train/sampling: unknown"),
                (["train.warmup=500"], "/train/warmup: it counts steps of sequences with a target at every step"),
                (["train.patience=2", "data.valid=0"], "/train/patience: it counts evaluations of valid"),
                (["schedule={\"type\": \"plateau\", \"patience\": 0}"], "/schedule/patience")):
            with self.subTest(words):
                path = self.write("experiment.json", EXPERIMENT)
                sets = [word for text in sets for word in ("--set", text)]
                self.assertIn(words, self.run_tool("check", path, *sets, code=2)[1])


if __name__ == "__main__":
    main()
