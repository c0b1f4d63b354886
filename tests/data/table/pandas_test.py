"""Random tables as people have them: what `lagtape new` writes for one reads the numbers that pandas reads, which is told how
the table is written.

usage: pandas_test.py TOOL [TESTS...]      exits with 77 where pandas is missing"""

import gzip
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import pandas as pd
except ImportError:
    print("not run: pandas is missing")
    sys.exit(77)

ROWS, TABLES = 60, 100
MISSING = ("", "NA", "NaN", "-nan", "<NA>", "#DIV/0!", "#N/A", "unavailable", "None", "null", "-", "?", "n/a")


class Table:
    """One table: its bytes, the ending of its name, and what pandas has to be told."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.decimal = rng.choice(".,")
        self.separator = rng.choice([c for c in ",;\t|" if c != self.decimal])
        self.thousands = rng.choice([None, None, " ", "'", *([c for c in ",." if c not in (self.decimal, self.separator)])])
        self.unit = rng.choice(["", "", "", " %", " kW", "°C"])
        self.names = [f"c{i}" for i in range(rng.randint(1, 4))]
        self.above = rng.choice(["", "", "# made by a logger\n", "Station: Berlin\n\n", "sep=%s\n" % self.separator, "# a, b; c\n# d\n"])
        self.comments = rng.random() < 0.2
        self.head = rng.choice(["names", "names", "unnamed", "twice", "units", "pandas", "comment"])
        self.encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"])
        self.ending = rng.choice([".csv", ".csv", ".csv.gz", ".tsv" if self.separator == "\t" else ".txt"])
        self.missing = rng.choice([0, 0, 0.1])
        self.end = rng.choice(["\n", "\r\n"])
        self.empty = rng.random() < 0.15  # a separator more at the end of each line

    def number(self, scale):
        value = self.rng.gauss(0, scale)
        text = f"{value:,.2f}" if self.thousands else f"{value:.2f}"
        text = text.translate(str.maketrans({",": self.thousands or "", ".": self.decimal}))
        return text + self.unit

    def head_lines(self):
        names = ["time", *self.names]
        if self.head == "unnamed":
            names[0] = ""
        if self.head == "twice":
            names = ["time", *["c"] * len(self.names)]
        if self.head == "pandas":
            names = ["", *map(str, range(len(self.names)))]
        lines = [self.separator.join(names)]
        if self.head == "comment":
            lines = ["# made", "# " + lines[0]]
        if self.head == "units":
            lines.append(self.separator.join(["", *["m/s"] * len(self.names)]))
        return lines

    def text(self):
        scales = [self.rng.choice([3, 5e4]) for _ in self.names]
        lines = self.head_lines()
        for i, time in enumerate(pd.date_range("2024-01-01", periods=ROWS, freq="h")):
            cells = [str(time), *(self.rng.choice(MISSING) if self.rng.random() < self.missing else self.number(s) for s in scales)]
            lines.append(self.separator.join(cells))
            if self.comments and i % 25 == 7:
                lines.append("# the sensor was cleaned")
        self.lines_of_head = len(self.head_lines())
        tail = self.separator if self.empty else ""
        return self.above + "".join(line + ("" if line.startswith("#") else tail) + "\n" for line in lines)

    def write(self, folder):
        self.content = self.text()
        data = self.content.replace("\n", self.end).encode(self.encoding)
        path = folder / ("table" + self.ending)
        path.write_bytes(gzip.compress(data) if self.ending.endswith(".gz") else data)
        return path

    def expected(self):
        """[rows, columns], as pandas reads the rows below the head when all is said to it."""
        rows = [line for line in self.content[len(self.above):].splitlines()[self.lines_of_head:] if not line.startswith("#")]
        text = "\n".join(rows)
        if self.unit:
            text = text.replace(self.unit, "")
        frame = pd.read_csv(io.StringIO(text), sep=self.separator, decimal=self.decimal, thousands=self.thousands, header=None,
                            na_values=MISSING)
        values = frame.iloc[:, 1:1 + len(self.names)].astype(float)
        return values.ffill().bfill().to_numpy()


class PandasTest(unittest.TestCase):
    tool = ""

    def run_tool(self, folder, *args):
        done = subprocess.run([self.tool, *args], cwd=folder, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_tables_are_read_as_pandas_reads_them(self):
        for seed in range(TABLES):
            with self.subTest(seed), tempfile.TemporaryDirectory() as name:
                folder, table = pathlib.Path(name), Table(seed)
                path = table.write(folder)
                shown = f"{vars(table)}\n{table.content[:600]}"
                code, out, err = self.run_tool(folder, "new", path.name)
                self.assertEqual(code, 0, f"{err}\n{shown}")
                (folder / "e.json").write_text(out, encoding="utf-8")
                sets = [f"data.{key}={value}" for key, value in {
                    "window": 1, "stride": 1, "horizon": 1, "train": 1, "valid": 0, "test": 0, "normalize": "false",
                    "normalize_target": "false", "calendar": "null", "missing": '"hold"'}.items()]
                code, _, err = self.run_tool(folder, "data", "e.json", "--out", "e.npz", *sum((["--set", s] for s in sets), []))
                self.assertEqual(code, 0, f"{err}\n{out}\n{shown}")
                x, expected = np.load(folder / "e.npz")["train_x"][:, 0], table.expected()
                np.testing.assert_allclose(x, expected[:-1], rtol=3e-7, err_msg=shown)


if __name__ == "__main__":
    PandasTest.tool = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
