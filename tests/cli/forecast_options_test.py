"""How far a forecast reaches and where it begins, and the files in which forecasts and predictions are written."""

import datetime
import json
import math
import shutil
import struct
import zipfile

from tool import RECORDING, ToolTest, changed, main, npy, rows_of

FIRST = datetime.datetime(2024, 1, 1)
HOURS = [f"{FIRST + datetime.timedelta(hours=n):%Y-%m-%d %H:%M}" for n in range(320)]
WAVE = [f"{math.sin(0.3 * n):.5f}" for n in range(320)]


class ForecastOptionsTest(ToolTest):
    def train_on(self, text, **values):
        self.write("own.csv", text)
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=changed(RECORDING, data__window=20, **values))

    def train_on_hours(self, rows=300):
        self.train_on("t,v\n" + "".join(f"{time},{v}\n" for time, v in zip(HOURS[:rows], WAVE[:rows], strict=True)))

    def forecast(self, *args, file="own.csv"):
        return self.run_tool("forecast", "run", "--input", file, *args)[0]

    def test_steps_are_a_number_or_a_length_of_time_and_a_forecast_begins_so_many_rows_before_the_end(self):
        self.train_on_hours()
        expected = self.forecast("--steps", "48", "--from", HOURS[252])
        self.assertEqual(len(rows_of(expected)), 48)
        for steps in ("2d", "48h", "2 days", "2880 min", "48"):
            self.assertEqual(self.forecast("--steps", steps, "--from", "-48"), expected)
        self.write("open.csv", (self.folder / "own.csv").read_text() + f"{HOURS[300]},\n")
        self.assertEqual(self.forecast("--steps", "2d", "--from", "-48", file="open.csv"), expected)
        scores = self.run_tool("eval", "run", "--horizon", "1..6", "--json")[0]
        self.assertEqual(self.run_tool("eval", "run", "--horizon", "360min", "--json")[0], scores)

    def test_names_of_series_may_have_commas(self):
        names = ("a,b", "c", "a,d", "e")
        self.train_on("id,t,v\n" + "".join(f'"{name}",{time},{v}\n' for name in names for time, v in zip(HOURS[:100], WAVE, strict=False)),
                      data__series="id", train__epochs=1)
        for chosen in (names, names[:2], ("c", "a,d", "e"), names[2:3]):
            rows = rows_of(self.forecast("--steps", "1", "--series", ",".join(chosen)))
            self.assertEqual([row["id"] for row in rows], list(chosen))
        self.refused(["unknown series of own.csv 'a'"], "forecast", "run", "--input", "own.csv", "--steps", "1", "--series", "c,a")

    def test_lengths_that_are_no_steps_are_refused(self):
        self.train_on_hours()
        before = self.snapshot()
        wrong = ("0", "-2", "soon", "2 moons", "1.5", "0d", "-1d", "99999999999999999999")
        for option, command in (("--steps", ("forecast", "run", "--input", "own.csv", "--output", "f.csv")), ("--horizon", ("eval", "run"))):
            for value, words in (*((one, f"a whole number of steps of the rows, whose frequency is 1h, got '{one}'") for one in ("90min", "1 month")),
                                 *((one, f"a number of steps, or a length of time such as 2d, 48h, 1W or 3 months, got '{one}'") for one in wrong)):
                with self.subTest(option=option, value=value):
                    self.assertIn(f"{option}: expected {words}\n", self.run_tool(*command, f"{option}={value}", code=2)[1])
        self.refused(["with a row right before it", "got '-300'. The nearest: 2024-01-01T01:00:00."],
                     "forecast", "run", "--input", "own.csv", "--steps", "2", "--from", "-300")
        self.assertEqual(self.snapshot(), before)

    def test_a_forecast_of_rows_that_are_not_even_says_how_far_apart_its_times_are(self):
        days = (f"{month // 12 + 2015}-{month % 12 + 1:02}-{day}" for month in range(100) for day in ("01", "15"))
        self.train_on("t,v\n" + "".join(f"{time},{v}\n" for time, v in zip(days, WAVE, strict=False)))
        warned = self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "2")[1]
        self.assertIn("warning: the times of the rows are not evenly apart: those of the forecast are", warned)
        self.train_on_hours()
        self.assertNotIn("evenly", self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "2")[1])

    def test_rows_without_times_have_no_length_of_time(self):
        self.train_on("v\n" + "".join(f"{v}\n" for v in WAVE[:200]), data__time=None)
        self.refused(["--steps: expected a number of steps, as the rows have no times, got '2d'"],
                     "forecast", "run", "--input", "own.csv", "--steps", "2d")
        self.assertEqual(*(self.forecast("--steps", "5", "--from", begin) for begin in ("-10", "190")))

    def test_negative_times_are_no_rows_before_the_end(self):
        self.train_on("t,v\n" + "".join(f"{n - 100},{v}\n" for n, v in enumerate(WAVE[:200])), data__time_format="seconds")
        self.assertEqual([row["time"] for row in rows_of(self.forecast("--steps", "2", "--from", "-48"))], ["-48", "-47"])

    def arrays(self, file):
        with zipfile.ZipFile(self.folder / file) as archive:
            return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}

    def test_a_table_json_and_arrays_hold_the_same(self):
        self.train_on("t,v,größe\n" + "".join(f"{t},{v},{n % 7}\n" for n, (t, v) in enumerate(zip(HOURS, WAVE, strict=True))),
                      loss={"type": "quantile", "levels": [0.1, 0.5, 0.9]})
        for command in (("forecast", "run", "--input", "own.csv", "--from", "-5", "--steps", "8"), ("predict", "run", "--input", "own.csv")):
            with self.subTest(command[0]):
                for ending in ("csv", "json", "npz"):
                    self.write(f"f.{ending}", "replaced as by other commands")
                    self.run_tool(*command, "--output", f"f.{ending}")
                rows = rows_of((self.folder / "f.csv").read_text())
                found = json.loads((self.folder / "f.json").read_text())
                self.assertEqual(found["time"], [row["time"] for row in rows])
                count = "step" if command[0] == "forecast" else "horizon"
                self.assertEqual(found[count], [int(row[count]) for row in rows])
                self.assertEqual(list(found["targets"]), ["v", "größe"])
                arrays = self.arrays("f.npz")
                self.assertEqual(set(arrays), {"time", count, "targets", "prediction", "truth", "q0.1", "q0.5", "q0.9"})
                self.assertIn(b"'<M8[ns]'", arrays["time"][:128])
                times = struct.unpack(f"<{len(rows)}q", arrays["time"][128:])
                utc = datetime.timezone.utc
                self.assertEqual(times, tuple(int(datetime.datetime.fromisoformat(row["time"]).replace(tzinfo=utc).timestamp()) * 10**9 for row in rows))
                self.assertIn(b"'<U5'", arrays["targets"][:128])
                self.assertEqual(arrays["targets"][128:].decode("utf-32-le"), "v\0\0\0\0größe")
                self.assertIn(f"({len(rows)}, 2, )".encode(), arrays["prediction"][:128])
                for part in ("prediction", "q0.1", "q0.9", "truth"):
                    kind, size = ("d", 8) if part == "truth" else ("f", 4)
                    array = struct.unpack(f"<{2 * len(rows)}{kind}", arrays[part][-2 * size * len(rows):])
                    for i, name in enumerate(("v", "größe")):
                        table = [float(row[f"{name} {part}"] or "nan") for row in rows]
                        self.assertEqual([value is None for value in found["targets"][name][part]], [math.isnan(value) for value in table])
                        self.assertEqual([value for value in found["targets"][name][part] if value is not None],
                                         [value for value in table if not math.isnan(value)])
                        for value, number in zip(array[i::2], table, strict=True):
                            self.assertTrue(math.isclose(value, number, rel_tol=1e-6) or math.isnan(value) and math.isnan(number))
                self.assertEqual(math.isnan(table[-1]), True)

    def test_files_of_other_kinds_are_refused(self):
        self.train_on_hours()
        before = self.snapshot()
        words = "--output: expected a name that ends in .csv, .json or .npz, got "
        self.refused([words + "'f.npy'"], "forecast", "run", "--input", "own.csv", "--steps", "2", "--output", "f.npy")
        self.refused([words + "'f.txt'"], "predict", "run", "--input", "own.csv", "--output", "f.txt")
        self.write("x.npy", npy((5, 1), [1, 2, 3, 4, 5]))
        self.refused(["f.json: expected a file that ends in .npy or .csv"], "predict", "run", "--input", "x.npy", "--output", "f.json")
        (self.folder / "x.npy").unlink()
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    main()
