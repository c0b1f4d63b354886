"""Folders of .npy files: the bits of their archive, and arrays that are larger than the memory."""

import resource
import subprocess
import zipfile

from tool import ToolTest, changed, main, npy, read_safetensors

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
