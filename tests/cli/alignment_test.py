"""Inputs of a row are read where they are known: the same alignment in all commands."""

import json
import math
import random
import re
import shutil
import subprocess
import unittest

from tool import RECORDING, ToolTest, changed, main, rows_of, slow

ROWS = 400
C_PROGRAM = """#include <stdio.h>
#include "model.c"
int main(void) {
  static model_state state;
  float in[model_INPUTS], out[model_OUTPUTS];
  model_init(&state);
  for (int i = 0; scanf("%f%*c", &in[i]) == 1;) {
    i = (i + 1) % model_INPUTS;
    if (i > 0) continue;
    model_step(&state, in, out);
    printf("%.9g\\n", out[0]);
  }
  return 0;
}
"""
PROMOTION = changed(RECORDING, data__time_format="seconds", data__target=["y"], data__future=["promo"], data__window=20,
                    model__layers=[{"cell": "gru", "units": 8}], optimizer__lr=0.02, train={"epochs": 2, "batch": 8})


def promoted(rows=ROWS, seed=0):
    """A target that a promotion of the same row lifts: y[k] = 0.7 y[k - 1] + 5 p[k]."""
    draw = random.Random(seed)
    promotion = [int(draw.random() < 0.3) for _ in range(rows)]
    y = [0.0]
    for n in range(1, rows):
        y.append(round(0.7 * y[-1] + 5 * promotion[n], 4))
    return y, promotion


def table(y, promotion, known, names="t,y,promo"):
    return names + "\n" + "".join(f"{100 * n},{y[n] if n < known else ''},{promotion[n]}\n" for n in range(len(promotion)))


class AlignmentTest(ToolTest):
    def train_on(self, experiment=PROMOTION, known=ROWS - 10):
        self.y, self.promotion = promoted()
        self.known = known
        self.write("own.csv", table(self.y[:known], self.promotion[:known], known))
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=experiment)

    def forecast(self, *args, steps=10):
        return rows_of(self.run_tool("forecast", "run", "--steps", str(steps), *args)[0])

    @slow
    def test_a_step_of_every_command_reads_the_future_input_of_the_row_that_it_predicts(self):
        """The oracle: plain numbers, with the columns shifted by hand."""
        for at, horizon in (("every_step", 1), ("every_step", 3), ("last_step", 2)):
            with self.subTest(at=at, horizon=horizon):
                self.train_on(changed(PROMOTION, model__readout__at=at, data__horizon=horizon))
                y, p, n = self.y, self.promotion, self.known
                inputs = [(y[k], p[k], p[k + horizon]) for k in range(n - horizon)]
                predicted = rows_of(self.run_tool("predict", "run", "--input", "own.csv", "--output", "-")[0])
                self.assertEqual([row["time"] for row in predicted][-1], str(100 * (n - 1)))  # later promotions are not known
                for row in predicted[::60] + predicted[-1:]:
                    place = int(row["time"]) // 100
                    seen = inputs[:place - horizon + 1][0 if at == "every_step" else -20:]
                    text = "".join(f"{a!r},{b},{c}\n" for a, b, c in seen)
                    self.write("x.csv", text)
                    plain = self.run_tool("predict", "run", "--input", "x.csv", "--output", "-")[0].split()[-1]
                    self.assertEqual(float(row["prediction"]), float(plain))
                    stream = self.run_tool("predict", "run", "--input", "-", "--output", "-", stdin=text.encode())[0].split()[-1]
                    self.assertAlmostEqual(float(row["prediction"]), float(stream), places=5)
                begin = 300
                found = rows_of(self.run_tool("forecast", "run", "--input", "own.csv", "--from", str(100 * begin), "--steps", "6")[0])
                numbers = list(y[:begin])
                for step in range(6):
                    steps = range(len(numbers) - horizon + 1)
                    seen = [(numbers[k], p[k], p[k + horizon]) for k in steps][0 if at == "every_step" else -20:]
                    self.write("x.csv", "".join(f"{a!r},{b},{c}\n" for a, b, c in seen))
                    plain = float(self.run_tool("predict", "run", "--input", "x.csv", "--output", "-")[0].split()[-1])
                    self.assertEqual(float(found[step]["prediction"]), plain)
                    numbers.append(plain)

    def test_a_forecast_reads_rows_behind_the_past_or_a_file_of_them(self):
        self.train_on()
        self.write("appended.csv", table(self.y, self.promotion, self.known))
        self.write("next.csv", "promo,t\n" + "".join(f"{self.promotion[n]},{100 * n}\n" for n in range(self.known - 5, ROWS)))
        appended, by_file = self.forecast("--input", "appended.csv"), self.forecast("--input", "own.csv", "--future", "next.csv")
        self.assertEqual(appended, by_file)
        self.assertEqual([row["time"] for row in appended], [str(100 * n) for n in range(self.known, ROWS)])
        other = list(self.promotion)
        other[self.known + 3] ^= 1
        self.write("other.csv", table(self.y, other, self.known))
        same = [a["prediction"] == b["prediction"] for a, b in zip(appended, self.forecast("--input", "other.csv"), strict=True)]
        self.assertEqual(same, [True] * 3 + [False] * 7)

    def test_a_future_input_that_is_not_known_is_named_with_its_first_row_and_the_ways_out(self):
        self.train_on()
        before = self.snapshot()
        message = self.run_tool("forecast", "run", "--input", "own.csv", "--steps", "10", "--output", "f.csv", code=2)[1]
        self.assertIn('own.csv: promo is a "future" input and is not known from 39000 on, 1 step after the past. Add rows with it '
                      'in which the targets are empty, give them as --future FILE, or train with it as "past" or as a target.', message)
        self.assertEqual(self.snapshot(), before)
        self.write("short.csv", "t,promo\n" + "".join(f"{100 * n},{self.promotion[n]}\n" for n in range(self.known, self.known + 4)))
        self.refused(["short.csv: promo", "not known from 39400 on, 5 steps after the past"],
                     "forecast", "run", "--input", "own.csv", "--future", "short.csv", "--steps", "10")
        self.write("hole.csv", "t,promo\n39000,1\n39100,\n39200,1\n")
        self.refused(["hole.csv: line 3, column 2 (promo): there is no number"],
                     "forecast", "run", "--input", "own.csv", "--future", "hole.csv", "--steps", "3")
        self.write("none.csv", "t,price\n39000,1\n")
        self.refused(['none.csv: has no column "promo", which own.csv has as a "future" input'],
                     "forecast", "run", "--input", "own.csv", "--future", "none.csv", "--steps", "3")

    def test_an_input_of_the_past_that_is_read_later_is_said(self):
        self.train_on(changed(PROMOTION, data__future=None, data__past=["promo"]))
        warning = 'warning: rows after the one at which a forecast begins are read of promo, which is a past input'
        for args in (("forecast", "run", "--input", "own.csv", "--from", "30000"), ("eval", "run")):
            count = "--steps" if args[0] == "forecast" else "--horizon"
            self.assertIn(warning, self.run_tool(*args, count, "2")[1])
            self.assertNotIn("warning: rows after", self.run_tool(*args, count, "1")[1])
        self.train_on()
        self.assertNotIn("warning: rows after", self.run_tool("eval", "run", "--horizon", "2")[1])

    def test_a_nowcast_is_forecast_where_its_inputs_are_known(self):
        for own_past in (False, True):
            with self.subTest(past_target=own_past):
                self.train_on(changed(PROMOTION, data__horizon=0, data__past_target=own_past, train__epochs=40))
                self.write("appended.csv", table(self.y, self.promotion, self.known))
                rows = self.forecast("--input", "appended.csv")
                errors = [float(row["prediction"]) - self.y[self.known + step] for step, row in enumerate(rows)]
                self.assertLess(math.sqrt(sum(error ** 2 for error in errors) / 10), 1.2)  # the target's deviation is 3.3
                self.run_tool("eval", "run", "--horizon", "3")

    def test_the_numbers_of_a_step_are_named(self):
        self.train_on()
        names = ["y", "promo", "promo[+1]"]
        self.assertEqual(json.loads(self.run_tool("inspect", "run", "--json")[0])["inputs"], names)
        inspected = self.run_tool("inspect", "run")[0]
        self.assertIn("inputs of a step: y, promo, promo[+1]\n", inspected)
        self.assertIn("outputs of a step: y[+1]\n", inspected)
        self.run_tool("export", "run", "--to", "c99", "--output", "m.c")
        note = "promo[+1] is promo of the row 1 later than the step's, which is known ahead: the row that the step predicts."
        self.assertIn(f"   in[0]: y\n   in[1]: promo\n   in[2]: promo[+1]\n\n   out[0]: y[+1]\n\n   {note}\n", (self.folder / "m.c").read_text())
        for form in ("onnx", "onnx-step"):
            self.run_tool("export", "run", "--to", form, "--output", "m.onnx")
            self.assertIn(f"The numbers of a step: y, promo, promo[+1]. {note}".encode(), (self.folder / "m.onnx").read_bytes())
        message = self.run_tool("predict", "run", "--input", "-", "--output", "-", stdin=b"1,2\n", code=2)[1]
        self.assertIn("expected 3 numbers (y, promo, promo[+1])", message)

    @unittest.skipUnless(shutil.which("gcc"), "gcc is not installed")
    def test_a_stream_and_the_program_in_c_are_fed_by_the_names_of_their_inputs(self):
        """The numbers of a step are made here from the names alone: a column, its shift in rows, an angle of the hour."""
        for horizon in (1, 3):
            with self.subTest(horizon=horizon):
                self.train_on(changed(PROMOTION, data__horizon=horizon, data__calendar=["hour"]))
                self.run_tool("export", "run", "--to", "c99", "--output", "model.c")
                text = (self.folder / "model.c").read_text()
                names = re.findall(r"^   in\[\d+\]: (.*?)(?:: .*)?$", text, re.M)
                self.assertEqual(len(names), 7)
                self.assertIn(f"   in[6]: cosine of hour[+{horizon}]: cos(2 pi t / 86400)\n\n   out[0]: y[+{horizon}]\n", text)
                self.assertIn("t is the time of the row in seconds since 1970-01-01 00:00, by the clock of UTC.\n", text)
                columns = {"y": self.y, "promo": self.promotion,
                           "sine of hour": [math.sin(2 * math.pi * 100 * n / 86400) for n in range(ROWS)],
                           "cosine of hour": [math.cos(2 * math.pi * 100 * n / 86400) for n in range(ROWS)]}
                lines = []
                for row in range(self.known - horizon):
                    parts = (re.fullmatch(r"(.*?)(?:\[\+(\d+)\])?", name) for name in names)
                    lines.append(",".join(repr(columns[name[1]][row + int(name[2] or 0)]) for name in parts) + "\n")
                predicted = [float(row["prediction"]) for row in rows_of(self.run_tool("predict", "run", "--input", "own.csv", "--output", "-")[0])]
                streamed = self.run_tool("predict", "run", "--input", "-", "--output", "-", stdin="".join(lines).encode())[0]
                self.assertEqual([float(line) for line in streamed.split()], predicted)
                self.write("main.c", C_PROGRAM)
                subprocess.run(["gcc", "main.c", "-O2", "-o", "model", "-lm"], cwd=self.folder, check=True)
                answered = subprocess.run(["./model"], cwd=self.folder, input="".join(lines), capture_output=True, text=True, check=True).stdout
                for own, wanted in zip(map(float, answered.split()), predicted, strict=True):
                    self.assertAlmostEqual(own, wanted, delta=1e-5 * max(map(abs, predicted)))
                with_times = C_PROGRAM.replace("model_INPUTS", "model_AT_INPUTS").replace(
                    "model_step(&state,", f"static int n;\n    const double now = 100.0 * n++;\n    model_step_at(&state, now, now + {100 * horizon},")
                self.write("main.c", with_times)
                subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "main.c", "-O2", "-o",
                                "model", "-lm"], cwd=self.folder, check=True)
                measured = "".join(",".join(line.split(",")[:3]) + "\n" for line in lines)
                at = subprocess.run(["./model"], cwd=self.folder, input=measured, capture_output=True, text=True, check=True).stdout
                for own, wanted in zip(map(float, at.split()), predicted, strict=True):
                    self.assertAlmostEqual(own, wanted, delta=1e-5 * max(map(abs, predicted)))

    @slow
    def test_a_load_is_predicted_from_the_temperature_of_its_hour(self):
        """load = f(temperature of the same hour, hour, holiday) + noise of 2.5; 48 steps ahead."""
        import datetime
        draw = random.Random(5)
        lines, temperature = [], 10.0
        for n in range(9000):
            time = datetime.datetime(2022, 1, 1) + datetime.timedelta(hours=n)
            temperature += 0.05 * (10 - temperature) + draw.gauss(0, 0.8)
            warm = temperature + 6 * math.sin(2 * math.pi * (time.hour - 9) / 24)
            holiday = int(time.weekday() == 6)
            load = 60 + 12 * math.sin(2 * math.pi * (time.hour - 8) / 24) - 10 * holiday + 0.06 * (warm - 15) ** 2 + draw.gauss(0, 2.5)
            lines.append(f"{time:%Y-%m-%d %H:%M},{load:.2f},{warm:.2f},{holiday}\n")
        self.write("load.csv", "time,load,temperature,holiday\n" + "".join(lines))
        experiment = {
            "name": "load",
            "data": {"task": "series", "path": "load.csv", "time": "time", "target": ["load"], "future": ["temperature", "holiday"],
                     "calendar": ["hour"], "window": 168},
            "model": {"layers": [{"cell": "gru", "units": 16}], "readout": {"at": "every_step"}},
            "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01}, "schedule": {"type": "cosine"},
            "train": {"epochs": 60, "batch": 8},
        }
        self.train("run", experiment=experiment)
        scores = json.loads(self.run_tool("eval", "run", "--horizon", "48", "--json")[0])["targets"]["load"]["rmse"]
        self.assertLessEqual(math.sqrt(sum(score ** 2 for score in scores) / len(scores)), 2.6)


if __name__ == "__main__":
    main()
