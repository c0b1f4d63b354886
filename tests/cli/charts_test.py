"""Charts of recordings: dates and units, and the files that they are written to."""

import datetime
import math
import os
import shutil
import struct
import unittest
import unittest.mock

from tool import RECORDING, ToolTest, changed, main

FIRST = datetime.datetime(2024, 3, 1)
HOURS = [f"{FIRST + datetime.timedelta(hours=n):%Y-%m-%d %H:%M}" for n in range(300)]
CONVERTER = """#!/bin/sh
[ "$(head -c 5)" = "<?xml" ] || exit 1
printf '%s' "$*"
"""


class ChartsTest(ToolTest):
    def train_on(self, head="t,load,price\n,MW,EUR\n", **values):
        rows = (f"{time},{10 + math.sin(0.26 * n):.4f},{n % 24}\n" for n, time in enumerate(HOURS) if not 200 <= n < 204)
        self.write("own.csv", head + "".join(rows))
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", experiment=changed(RECORDING, **{"data__window": 20, "data__target": ["load"], "data__future": ["price"], **values}))

    def chart(self, *args, option="--plot"):
        self.run_tool(*args, option, "chart.svg")
        return (self.folder / "chart.svg").read_text()

    def test_a_forecast_has_dates_of_its_clock_and_the_unit_of_its_target(self):
        self.train_on(data__timezone="Europe/Berlin")
        picture = self.chart("forecast", "run", "--input", "own.csv", "--from", "-48", "--steps", "2d")
        for text in (">load (MW)<", ">time (Europe/Berlin)<", ">12:00<", ">2024-03-12<", ">forecast of 48 steps<", ">prediction<"):
            self.assertIn(text, picture)
        short = self.chart("forecast", "run", "--input", "own.csv", "--from", "-6", "--steps", "6")
        for text in (">12:00<", ">2024-03-12<"):
            self.assertIn(text, short)

    def test_predictions_break_at_a_gap_and_several_units_are_in_the_legend(self):
        self.train_on(data__target=["load", "price"], data__future=None)
        picture = self.chart("predict", "run", "--input", "own.csv", "--output", "y.csv")
        for text in (">load (MW) truth<", ">price (EUR) prediction<", ">target<", ">time<", ">Mar 5<", ">2024<"):
            self.assertIn(text, picture)
        self.assertEqual(picture.count("<polyline"), 8)  # of two targets truth and prediction, each in two pieces

    def test_sequences_of_a_recording_have_its_dates_and_names(self):
        self.train_on()
        picture = self.chart("eval", "run")
        for text in (">load (MW)<", ">load truth<", ">load prediction<", ">time<", ">2024-03-12<"):
            self.assertIn(text, picture)
        picture = self.chart("data", "run/experiment.json")
        for text in (">load (MW)<", ">price (EUR)<", ">load (MW), target<", ">time<", ">2024-03-01<"):
            self.assertIn(text, picture)
        self.assertEqual(picture.count("<polyline"), 3)  # the price of the row that is predicted is no line more
        self.run_tool("report", "run", "--output", "report.html")
        self.assertIn(">load (MW)<", (self.folder / "report.html").read_text())
        self.train_on(model__readout__at="last_step")
        picture = self.chart("eval", "run")
        for text in (">load truth<", ">time<", ">2024-03-12<"):
            self.assertIn(text, picture)
        self.assertNotIn("first sequence", picture)

    def test_rows_without_times_are_counted(self):
        self.train_on(head="t,load,price\n", data__time=None)
        self.assertIn(">steps after the past<", self.chart("forecast", "run", "--input", "own.csv", "--from", "-9", "--steps", "5"))

    def test_other_formats_are_made_by_rsvg_convert(self):
        self.train_on()
        command = ("forecast", "run", "--input", "own.csv", "--from", "-6", "--steps", "6")
        with unittest.mock.patch.dict(os.environ, PATH=str(self.folder / "bin")):
            for ending in ("png", "pdf"):
                self.refused([f"--plot: .{ending} needs the program rsvg-convert, which is not installed. It is in Debian's package librsvg2-bin."],
                             *command, "--output", "f.csv", "--plot", f"f.{ending}")
            self.refused(["--plot: expected a name that ends in .svg, .png or .pdf, got 'f.jpg'"], *command, "--plot", "f.jpg")
        program = self.folder / "bin/rsvg-convert"
        program.parent.mkdir()
        program.write_text(CONVERTER)
        program.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}"):
            for arguments, ending in (("--format=png --zoom=2", "png"), ("--format=pdf", "pdf")):
                self.run_tool(*command, "--plot", f"f.{ending}")
                self.assertEqual((self.folder / f"f.{ending}").read_text(), arguments)
            program.write_text("#!/bin/sh\nexit 1\n")
            self.assertIn("rsvg-convert made no png of the chart", self.run_tool(*command, "--plot", "g.png", code=1)[1])
            self.assertFalse((self.folder / "g.png").exists())

    @unittest.skipUnless(shutil.which("rsvg-convert"), "rsvg-convert is not installed")
    def test_every_command_draws_png_and_pdf(self):
        self.train_on()
        for command in (("forecast", "run", "--input", "own.csv", "--from", "-6", "--steps", "6"), ("eval", "run"), ("eval", "run", "--horizon", "3"),
                        ("predict", "run", "--input", "own.csv", "--output", "y.csv"), ("data", "run/experiment.json")):
            with self.subTest(command[0]):
                self.run_tool(*command, "--plot", "f.png")
                png = (self.folder / "f.png").read_bytes()
                self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
                self.assertGreater(struct.unpack(">I", png[16:20])[0], 1400)
                self.run_tool(*command, "--plot", "f.pdf")
                self.assertTrue((self.folder / "f.pdf").read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    main()
