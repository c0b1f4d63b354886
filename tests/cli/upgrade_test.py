"""Files of earlier versions, kept in tests/upgrade: they are read, and trainings go on to the same bits. Files of later versions are
refused by name.

Folders are called after the day of the version that wrote them: a run of 2 epochs of 4 with its checkpoint, the weights that it is
to end with, and a search of three runs.
"""

import json
import pathlib
import shutil
import unittest

from tool import ToolTest, main, read_safetensors

UPGRADE = pathlib.Path(__file__).resolve().parents[1] / "upgrade"
VERSIONS = sorted(folder.name for folder in UPGRADE.iterdir() if folder.is_dir())
HAS_FMA = "fma" in pathlib.Path("/proc/cpuinfo").read_text().split() if pathlib.Path("/proc/cpuinfo").exists() else False


class UpgradeTest(ToolTest):
    def copied(self, version, part):
        shutil.copytree(UPGRADE / version / part, self.folder / part)

    def tensors(self, file):
        header, buffer = read_safetensors(file)
        header.pop("__metadata__")
        return {name: buffer[slice(*tensor["data_offsets"])] for name, tensor in header.items()}

    @unittest.skipUnless(HAS_FMA, "the kept weights are those of processors with fused multiply-add")
    def test_runs_go_on_to_the_same_bits(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.copied(version, "run")
                self.run_tool("train", "run/experiment.json", "--set", "train.epochs=4", "--out", "run", "--resume", "--quiet")
                expected = self.tensors((UPGRADE / version / "resumed.safetensors").read_bytes())
                self.assertEqual(self.tensors(self.weights("run")), expected)
                shutil.rmtree(self.folder / "run")

    def test_runs_and_searches_are_read(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.copied(version, "run")
                summary = json.loads((self.folder / "run/summary.json").read_text())
                out, _ = self.run_tool("eval", "run", "--json")
                self.assertAlmostEqual(json.loads(out)["rmse"], summary["test"]["rmse"], delta=1e-6)
                self.run_tool("predict", "run", "--input", self.write("x.csv", "1\n0.5\n2\n"), "--output", "y.csv")
                self.copied(version, "search")
                for name in "search.json", "waves.json":
                    shutil.copy(UPGRADE / version / name, self.folder)
                out, _ = self.run_tool("search", "search.json", "--out", "search", "--show", "--json")
                self.assertEqual(len(json.loads(out)["runs"]), 3)
                for part in "run", "search":
                    shutil.rmtree(self.folder / part)

    def changed_metadata(self, key, value):
        """The kept run's weights with another entry in their metadata."""
        header, buffer = read_safetensors((UPGRADE / VERSIONS[-1] / "run/weights.safetensors").read_bytes())
        header["__metadata__"][key] = value
        text = json.dumps(header).encode()
        return self.write("new.safetensors", len(text).to_bytes(8, "little") + text + buffer)

    def test_files_of_later_versions_are_refused_by_name(self):
        for key, value, message in (("format", "lagtape-2", "expected the format 'lagtape-1', got 'lagtape-2'. A newer lagtape wrote this file."),
                                    ("grammar", "3", "expected cells by the grammar 2 of equations, got 3. A newer lagtape wrote this file.")):
            _, err = self.run_tool("eval", self.changed_metadata(key, value), code=2)
            self.assertIn(message, err)


if __name__ == "__main__":
    main()
