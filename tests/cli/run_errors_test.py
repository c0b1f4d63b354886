"""Runs that are damaged: weights and checkpoints that are refused with one message."""

import fcntl
import os
import struct

from tool import EXPERIMENT, ToolTest, changed, main, make_safetensors, read_safetensors


def with_tensor(data, name, shape, values):
    header, buffer = read_safetensors(data)
    added = struct.pack(f"<{len(values)}f", *values)
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(buffer), len(buffer) + len(added)]}
    return make_safetensors(header, buffer + added)


def renamed(data, old, new):
    header, buffer = read_safetensors(data)
    return make_safetensors({new if name == old else name: value for name, value in header.items()}, buffer)


def transposed(data, name):
    header, buffer = read_safetensors(data)
    header[name]["shape"].reverse()
    return make_safetensors(header, buffer)


WEIGHTS = [
    ("none at all", lambda data: b"", ["got an empty file"]),
    ("a truncated file", lambda data: data[:-10], ["is cut off: it has ", " bytes, its header promises "]),
    ("a truncated header", lambda data: data[:99], ["is cut off: it has 99 bytes, its header alone takes "]),
    ("a header beyond the file", lambda data: struct.pack("<Q", 2**60) + data[8:], ["not a safetensors file"]),
    ("another kind of file", lambda data: b"PK\x03\x04" + bytes(60), ["it seems to be a zip archive: unpack it first"]),
    ("a file of torch.save", lambda data: b"PK\x03\x04 w/data.pkl" + bytes(60), ["a file of torch.save", "`lagtape import`"]),
    ("a format to come", lambda data: data.replace(b"lagtape-1", b"lagtape-2"), ["expected the format 'lagtape-1', got 'lagtape-2'. A newer lagtape wrote this file."]),
    ("weights of another program", lambda data: make_safetensors({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
     ["no lagtape model", "`lagtape import`"]),
    ("a tensor too many", lambda data: with_tensor(data, "layers.0.W9", [2], [1, 2]), ["layers.0.W9"]),
    ("a tensor of another name", lambda data: renamed(data, "layers.0.W1", "layers.0.W7"),
     ["tensor 'layers.0.W1' is missing, expected f32 [8, 8]; the nearest name in the file is 'layers.0.W7'"]),
    ("a number that is not one", lambda data: data[:-4] + struct.pack("<f", float("nan")), ["not finite"]),
    ("a tensor of another shape", lambda data: transposed(data, "readout.W"), ["readout.W", "[8, 1]", "[1, 8]"]),
]


class WeightsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("good.json", EXPERIMENT)

    def test_weights(self):
        data = self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        self.write("x.csv", "1\n2\n")
        for title, spoil, words in WEIGHTS:
            with self.subTest(title):
                self.write("run/weights.safetensors", spoil(data))
                self.refused(["weights.safetensors", *words], "predict", "run", "--input", "x.csv", "--output", "y.csv")
                self.refused(["weights.safetensors", *words], "eval", "run")
                self.refused(["good.json: /train/init: ", "weights.safetensors", *words], "train", "good.json", "--out", "new",
                             "--init", "run")

    def test_weights_that_are_not_there(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        weights = self.folder / "run/weights.safetensors"
        whole = weights.read_bytes()
        self.refused(["state.safetensors: expected a run folder or its weights, got a checkpoint of a training"], "eval", "run/checkpoint/state.safetensors")
        self.refused(["good.json: /train/init: ", "train it first"], "train", "good.json", "--out", "new", "--init", "good.json")
        self.refused(["run/experiment.json: expected a run folder", "give its run, run."], "eval", "run/experiment.json")
        weights.unlink()
        self.refused(["run/weights.safetensors: is missing", "`lagtape train run --resume`"], "eval", "run")
        self.run_tool("train", "run", "--resume")
        self.assertEqual(weights.read_bytes(), whole)

    def test_a_run_without_a_checkpoint(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        (self.folder / "run/checkpoint/state.safetensors").unlink()
        for args in (("good.json", "--out", "run"), ("run",), ("run/experiment.json",)):
            with self.subTest(args):
                self.refused(["run: has weights but no checkpoint", "--init run to begin with these weights"], "train", *args,
                             "--resume")

    def test_a_run_in_place_of_an_experiment(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        for args in (("check", "run"), ("bench", "run"), ("data", "run", "--out", "x.npz"), ("train", "run/weights.safetensors")):
            with self.subTest(args):
                self.refused([f"{args[1]}: expected an experiment file, such as that of the run, run/experiment.json"], *args)

    def test_a_damaged_checkpoint(self):
        self.train("run", experiment=changed(EXPERIMENT, train__epochs=1))
        for path in sorted((self.folder / "run/checkpoint").rglob("*")):
            if path.is_file():
                with self.subTest(path.name):
                    whole = path.read_bytes()
                    path.write_bytes(whole[:len(whole) // 2])
                    self.refused(["checkpoint"], "train", "run/experiment.json", "--out", "run", "--resume", "--set",
                                 "train.epochs=2")
                    path.write_bytes(whole)


class CheckpointTest(ToolTest):
    def not_resumed(self, words, *args):
        self.refused(words, "train", "experiment.json", "--out", "run", "--resume", *args)

    def test_fewer_epochs_than_are_done(self):
        self.train("run")
        self.not_resumed(["/train/epochs", "3 epochs"], "--set", "train.epochs=2")

    def test_another_length_under_a_schedule_of_the_whole_run(self):
        self.train("run", experiment=changed(EXPERIMENT, schedule={"type": "cosine"}))
        self.not_resumed(["/schedule"], "--set", "train.epochs=4")

    def test_weights_in_place_of_a_checkpoint(self):
        self.train("run")
        self.write("run/checkpoint/state.safetensors", (self.folder / "run/weights.safetensors").read_bytes())
        self.refused(["state.safetensors: is no checkpoint but weights, which --init takes"], "train", "run", "--resume")

    def test_a_checkpoint_of_another_experiment(self):
        self.train("run")
        self.train("other", "--set", "optimizer.lr=0.02")
        self.write("run/checkpoint/state.safetensors", (self.folder / "other/checkpoint/state.safetensors").read_bytes())
        self.not_resumed(["state.safetensors", "/optimizer/lr"])

    def test_a_run_in_use(self):
        self.train("run")
        folder = os.open(self.folder / "run", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.not_resumed(["is in use"])


if __name__ == "__main__":
    main()
