"""Folders of .npy files: the bits of their archive, and arrays that are larger than the memory."""

import math
import resource
import subprocess
import zipfile

from tool import ToolTest, changed, main, npy, npy_values, read_safetensors, slow

WAVES = {
    "name": "waves",
    "data": {"task": "mackey_glass", "train": 12, "valid": 4, "test": 4, "length": 40},
    "model": {"layers": [{"cell": "lstm", "units": 4}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "train": {"epochs": 2, "batch": 4},
}
ARRAYS = changed(WAVES, data={"task": "arrays", "path": "own.npz"})


class ArrayFoldersTest(ToolTest):
    def test_a_folder_of_array_files_trains_with_the_bits_of_its_archive(self):
        self.run_tool("data", self.write("waves.json", WAVES), "--out", "own.npz")
        with zipfile.ZipFile(self.folder / "own.npz") as archive:
            archive.extractall(self.folder / "own")
        self.train("archive", experiment=ARRAYS)
        self.train("folder", experiment=changed(ARRAYS, data__path="own"))
        self.assertEqual(*(read_safetensors(self.weights(run))[1] for run in ("archive", "folder")))
        (self.folder / "own" / "train_y.npy").write_bytes(b"no array")
        self.refused(["own/train_y.npy: not a .npy file"], "check", self.write("arrays.json", changed(ARRAYS, data__path="own")))

    def test_the_model_decides_which_axis_of_arrays_is_time(self):
        values = [math.sin(i * 0.7) for i in range(12 * 40 * 3)]
        turned = [values[(b * 40 + n) * 3 + i] for b in range(12) for i in range(3) for n in range(40)]
        labels = [i % 2 for i in range(12)]

        def archive(name, shape, numbers):
            with zipfile.ZipFile(self.folder / name, "w") as file:
                file.writestr("X.npy", npy(shape, numbers))
                file.writestr("y.npy", npy((12,), labels))

        archive("time.npz", (12, 40, 3), values)
        archive("channels.npz", (12, 3, 40), turned)
        self.write("x.npy", npy((12, 40, 3), values))
        self.write("turned.npy", npy((12, 3, 40), turned))
        model = changed(WAVES, data={"task": "arrays", "classes": 2}, loss="cross_entropy", model__readout={"at": "last_step"})
        scores = {}
        for trained in ("time", "channels"):
            self.train(trained, experiment=changed(model, data__path=f"{trained}.npz"))
            scores[trained] = [self.run_tool("eval", trained, "--data", f"{data}.npz", "--split", "all", "--json")[0] for data in ("time", "channels")]
            outputs = []
            for name in ("x", "turned"):
                err = self.run_tool("predict", trained, "--input", f"{name}.npy", "--output", "y.npy")[1]
                self.assertEqual("turned.npy: [12, 3, 40] is read as [N, inputs, T], since a step has 3 inputs" in err, name == "turned")
                outputs.append(npy_values((self.folder / "y.npy").read_bytes()))
            self.assertEqual(*outputs)
            self.assertGreater(len(set(outputs[0])), 12)
        self.assertEqual(len(set(scores["time"] + scores["channels"])), 1)
        # Where both fit, those of the training do.
        self.write("square.npy", npy((2, 3, 3), values[:18]))
        for trained, noted in (("time", False), ("channels", True)):
            err = self.run_tool("predict", trained, "--input", "square.npy", "--output", "y.npy")[1]
            self.assertEqual("as the data of the training" in err, noted)
        self.refused(["expected [T, 3] or [B, T, 3]"], "predict", "time", "--input", self.write("bad.npy", npy((2, 5, 4), values[:40])), "--output", "z.npy")
        archive("bad.npz", (12, 10, 4), values[:480])
        self.refused(["time: its model takes 3 inputs per step. The data have 4."], "eval", "time", "--data", "bad.npz", "--split", "all")

    @slow
    def test_arrays_of_a_folder_may_be_larger_than_the_memory(self):
        sequence = bytes(100 * 50 * 8)
        (self.folder / "large").mkdir()
        with open(self.folder / "large" / "train_x.npy", "wb") as file:
            file.write(npy((5000, 100, 50), []))
            file.truncate(file.tell() + 5000 * len(sequence))  # 200 MB of zeros, of which the disk has none
        (self.folder / "large" / "train_y.npy").write_bytes(npy((5000, 1), [1.0] * 5000))
        with zipfile.ZipFile(self.folder / "large.npz", "w") as archive:
            for file in (self.folder / "large").iterdir():
                archive.write(file, file.name)
        experiment = {"name": "large", "data": {"task": "arrays", "path": "large"}, "model": {"layers": [{"cell": "lstm", "units": 2}]},
                      "loss": "mse", "train": {"batch": 100}}
        check = [self.tool, "check", self.write("large.json", experiment), "--set"]

        def checked(path):
            """Whether it is checked with 120 MB of data that are not the pages of files."""
            limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (120 << 20,) * 2)
            return subprocess.run([*map(str, check), f"data.path={path}"], cwd=self.folder, capture_output=True, preexec_fn=limit).returncode
        self.assertEqual(checked("large"), 0)
        self.assertNotEqual(checked("large.npz"), 0)


if __name__ == "__main__":
    main()
