"""How far a forecast reaches and where it begins, and the files in which forecasts and predictions are written."""

import datetime
import math
import shutil

from tool import RECORDING, ToolTest, changed, main, rows_of

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

    def test_rows_without_times_have_no_length_of_time(self):
        self.train_on("v\n" + "".join(f"{v}\n" for v in WAVE[:200]), data__time=None)
        self.refused(["--steps: expected a number of steps, as the rows have no times, got '2d'"],
                     "forecast", "run", "--input", "own.csv", "--steps", "2d")
        self.assertEqual(*(self.forecast("--steps", "5", "--from", begin) for begin in ("-10", "190")))

    def test_negative_times_are_no_rows_before_the_end(self):
        self.train_on("t,v\n" + "".join(f"{n - 100},{v}\n" for n, v in enumerate(WAVE[:200])), data__time_format="seconds")
        self.assertEqual([row["time"] for row in rows_of(self.forecast("--steps", "2", "--from", "-48"))], ["-48", "-47"])


if __name__ == "__main__":
    main()
