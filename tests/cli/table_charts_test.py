"""Charts of a table: the metric against epochs, and against settings of its rows."""

import json
import xml.etree.ElementTree

from table_test import OTHER, PLAN, SMALL, TableTool
from tool import EXPERIMENT, changed, main


class ChartsTest(TableTool):
    def test_the_plot_has_a_line_a_model(self):
        self.table("--seeds", 2, "--plot", "curves.svg")
        svg = xml.etree.ElementTree.parse(self.folder / "curves.svg").getroot()
        lines = svg.findall(".//{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertEqual(len(line.get("points").split()), EXPERIMENT["train"]["epochs"])
        texts = {text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"two models, a < b & c", "tau-GRU | small", "other", "epoch", "validation RMSE x 1e-2 (logarithmic)"}, texts)
        # Two runs have a deviation, so that their mean stands in a band: there and back along the epochs.
        bands = svg.findall(".//{http://www.w3.org/2000/svg}polygon")
        self.assertEqual([len(band.get("points").split()) for band in bands], 2 * [2 * EXPERIMENT["train"]["epochs"]])
        self.table("--seeds", 1, "--plot", "one.svg")
        self.assertNotIn("polygon", (self.folder / "one.svg").read_text())

    def test_the_plot_shows_the_test_set_where_runs_measured_it(self):
        trained = self.table("--seeds", 1, "--set", "train.evaluate_test=true", "--plot", "curves.svg")
        # Options of reports alone do not make another run.
        self.assertEqual(self.table("--seeds", 1, "--show"), trained)
        drawn = (self.folder / "curves.svg").read_text()
        self.assertIn("test RMSE x 1e-2", drawn)
        self.assertEqual(drawn.count("<polyline"), 2)

    def test_a_row_that_did_not_measure_the_test_set_is_drawn_on_valid(self):
        self.table("--seeds", 1, "--only", "small", "--set", "train.evaluate_test=true")
        self.table("--seeds", 1, "--plot", "curves.svg")
        drawn = (self.folder / "curves.svg").read_text()
        self.assertIn("validation RMSE x 1e-2", drawn)
        self.assertEqual(drawn.count("<polyline"), 2)

    def test_the_order_of_settings_does_not_matter_and_near_ones_differ(self):
        at = ({"units": 4, "dt": 0.12345678, "cell": "a"}, {"cell": "a", "dt": 0.12345678, "units": 5}, {"units": 6, "dt": 0.12345679, "cell": "a"})
        self.write("task/table.json", {**PLAN, "rows": [{**row, "at": one} for row, one in zip(PLAN["rows"], at)]})
        self.table("--seeds", 1, "--against", "charts")
        self.assertEqual(self.points_of("charts/units.svg")[0], [2])

    def test_places_that_cannot_be_written_are_found_before_the_training(self):
        self.write("file", "")
        (self.folder / "folder").mkdir()
        rows = [{**row, "at": {"units": i}} for i, row in enumerate(PLAN["rows"])]
        self.write("task/table.json", {**PLAN, "rows": rows})
        for option, place, words in (("--plot", "folder", "folder: is a folder"), ("--plot", "none/a.svg", "no folder"),
                                     ("--markdown", "folder", "folder: is a folder"), ("--against", "file", "file: is a file")):
            with self.subTest(option=option, place=place):
                self.assertIn(words, self.run_tool("table", "task", "--out", "never", option, place, code=2)[1])
                self.assertFalse((self.folder / "never").exists())

    def points_of(self, chart):
        """The numbers of points of each line, and the texts."""
        svg = xml.etree.ElementTree.parse(self.folder / chart).getroot()
        lines = [len(line.get("points").split()) for line in svg.findall(".//{http://www.w3.org/2000/svg}polyline")]
        return lines, [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]

    def dots_of(self, chart):
        """The places of the dots in the frame, and the number of those in the legend."""
        svg = xml.etree.ElementTree.parse(self.folder / chart).getroot()
        circle = "{http://www.w3.org/2000/svg}circle"
        inside = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.findall(f"./{{http://www.w3.org/2000/svg}}g/{circle}")]
        return inside, len(svg.findall(f"./{circle}"))

    def finish(self, model, seed, value):
        """Gives a run a result of our choice."""
        summary = self.folder / f"runs/task/{model}-{seed}/summary.json"
        summary.write_text(json.dumps(changed(json.loads(summary.read_text()), test__rmse=value)))

    def test_the_metric_is_drawn_against_each_setting_of_the_rows(self):
        self.write("task/wide.json", changed(OTHER, model__layers=[{"cell": "rnn", "units": 5}]))
        rows = [{**row, "at": at} for row, at in zip(PLAN["rows"], (
            {"units": 8, "cell": "tau"}, {"units": 4, "cell": "rnn"}, {"units": 5, "cell": "tau"}))]
        rows.append({"name": "wide", "model": "wide", "at": {"units": 5, "cell": "rnn"}})
        self.write("task/table.json", {**PLAN, "rows": rows})
        self.table("--seeds", 2, "--against", "charts")
        self.assertEqual([path.name for path in (self.folder / "charts").iterdir()], ["units.svg"])
        inside, legend = self.dots_of("charts/units.svg")
        self.assertEqual((len(inside), legend), (5, 3))  # on 3 measured and 2 printed points, and on each key
        for x, y in inside:
            self.assertTrue(76 + 3.5 < x < 696 - 3.5 and 40 + 3.5 < y < 420 - 3.5, (x, y))
        lines, texts = self.points_of("charts/units.svg")
        self.assertEqual(lines, [2, 2])  # two points of RNNs, and two printed ones; of the tau-GRU one run is a point
        self.assertLessEqual({"units", "rnn", "tau", "tau, printed", "test RMSE x 1e-2 (logarithmic)"}, set(texts))
        self.assertEqual((self.folder / "charts/units.svg").read_text().count("<polygon"), 2)
        for row in rows:
            row["at"] = {"cell": row["at"]["cell"], "size": "any"}
        self.write("task/table.json", {**PLAN, "rows": rows})
        error = self.run_tool("table", "task", "--show", "--against", "none", code=2)[1]
        self.assertIn("no two rows", error)
        self.assertFalse((self.folder / "none").exists())

    def test_rows_that_differ_in_two_settings_at_a_time_are_told_before_the_training(self):
        ats = {"units": 4, "dt": 0.1, "form": "a"}, {"units": 8, "dt": 0.2, "form": "b"}, {"units": 8, "dt": 0.1, "form": "b"}
        self.write("task/table.json", {**PLAN, "rows": [{**row, "at": at} for row, at in zip(PLAN["rows"], ats, strict=True)]})
        self.run_tool("table", "task", "--against", "charts", "--out", "some", "--quiet")  # the last two differ in dt alone
        for rows, differing in ((ats[:2], "'tau-GRU | small' and 'other' differ in dt and form and units"),
                                ((*ats[:2], {"units": 8, "dt": 0.1, "form": 3}), "'tau-GRU | small' and 'S4' differ in form and units")):
            self.write("task/table.json", {**PLAN, "rows": [{**row, "at": at} for row, at in zip(PLAN["rows"], rows)]})
            error = self.run_tool("table", "task", "--against", "none", code=2)[1]
            self.assertIn(f"task/table.json differ in one number alone; {differing}.\n", error)
            self.assertFalse((self.folder / "none").exists() or (self.folder / "runs").exists())

    def test_what_all_lines_have_is_not_in_their_names(self):
        rows = [{**row, "at": {"units": 4 + i, "dt": 0.5}} for i, row in enumerate(PLAN["rows"])]
        self.write("task/table.json", {**PLAN, "rows": rows})
        self.table("--seeds", 1, "--against", "charts")
        lines, texts = self.points_of("charts/units.svg")
        self.assertEqual(lines, [2, 2])
        self.assertLessEqual({"here", "printed"}, set(texts))
        self.assertNotIn("dt 0.5", texts)

    def test_a_band_that_is_wider_than_its_mean_reaches_the_bottom(self):
        rows = [{**row, "at": {"units": 4 + i}} for i, row in enumerate(PLAN["rows"])]
        self.write("task/table.json", {**PLAN, "rows": rows})
        self.table("--seeds", 2)
        for seed, value in enumerate((0.001, 0.2)):  # a deviation of 0.14 around a mean of 0.1
            self.finish("small", seed, value)
        for seed, value in enumerate((0.1, 0.11)):
            self.finish("other", seed, value)
        self.table("--seeds", 2, "--show", "--against", "charts")
        svg = xml.etree.ElementTree.parse(self.folder / "charts/units.svg").getroot()
        bands = svg.findall(".//{http://www.w3.org/2000/svg}polygon")
        self.assertEqual(len(bands), 1)
        points = [tuple(map(float, point.split(","))) for point in bands[0].get("points").split()]
        self.assertEqual(len(points), 4)
        self.assertEqual(max(y for _, y in points), 420)
        self.assertEqual(sum(y == 420 for _, y in points), 1)

    def test_a_chart_says_what_its_bands_are_and_what_was_set(self):
        rows = [{**row, "at": {"units": 4 + i}} for i, row in enumerate(PLAN["rows"])]
        self.write("task/table.json", {**PLAN, "rows": rows})
        band, setting = "one standard deviation over the seeds", "with train.epochs=2, /optimizer/lr=0.02"
        changes = ("--set", "train.epochs=2", "--set", "/optimizer/lr=0.02", "--plot", "curves.svg", "--against", "charts")
        self.table("--seeds", 2, *changes)
        for chart in ("charts/units.svg", "curves.svg"):
            texts = self.points_of(chart)[1]
            self.assertEqual((texts.count(band), texts.count(setting)), (1, 1), chart)
        self.table("--seeds", 1, *changes)
        self.assertNotIn(band, self.points_of("charts/units.svg")[1])
        self.table("--seeds", 1, "--out", "plain", "--against", "charts")
        self.assertFalse(any(text.startswith("with ") for text in self.points_of("charts/units.svg")[1] if text))

    def test_without_a_finished_run_there_is_nothing_to_draw(self):
        for printed in (True, False):
            rows = [{**row, "at": {"units": 4 + i}} for i, row in enumerate(PLAN["rows"])]
            if not printed:
                rows = [{"name": row["name"], "model": row["model"], "at": row["at"]} for row in rows[:2]]
            self.write("task/table.json", {**PLAN, "rows": rows})
            out, error = self.run_tool("table", "task", "--show", "--against", "charts", "--markdown", "page.md", code=2)
            self.assertEqual(out, "")
            self.assertEqual(error.strip().splitlines(), ["lagtape: --against charts: there is no finished run to draw."])
            self.assertFalse((self.folder / "charts").exists())
            self.assertFalse((self.folder / "page.md").exists())

    def test_a_line_that_a_kill_cut_short_is_not_drawn_and_a_wrong_one_is_named(self):
        self.table("--seeds", 1, "--plot", "curves.svg")
        drawn = (self.folder / "curves.svg").read_bytes()
        metrics = self.folder / "runs/task/small-0/metrics.jsonl"
        whole = metrics.read_text()
        metrics.write_text(whole + '{"epoch": 4, "st')
        self.table("--seeds", 1, "--plot", "curves.svg")
        self.assertEqual((self.folder / "curves.svg").read_bytes(), drawn)
        metrics.write_text(whole.replace('"epoch":2', '"epoch":"\\u001btwo"'))
        _, error = self.run_tool("table", "task", "--quiet", "--plot", "curves.svg", code=2)
        self.assertIn('metrics.jsonl: line 2: /epoch: expected number, got "\\u001btwo"\n', error)
        metrics.write_text(whole.replace('{"epoch":2', '{"ep'))
        _, error = self.run_tool("table", "task", "--quiet", "--plot", "curves.svg", code=2)
        self.assertIn("metrics.jsonl: line 2: expected a JSON object. Got '{\"ep", error)


if __name__ == "__main__":
    main()
