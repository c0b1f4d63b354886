"""`lagtape report`: one page without network or script, complete, and laid out for wide and narrow screens.

Where Chromium is installed, the page is opened there too: nothing is wider than the screen, no chart is empty, nothing is
fetched. Without it those tests say so and are skipped.
"""

import html
import html.parser
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from tool import EXPERIMENT, RECORDING, ToolTest, changed, main, slow

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

CLASSES = {
    "name": "classes", "data": {"task": "random", "length": 30, "input": 1, "classes": 3, "train": 24, "valid": 12, "test": 12},
    "model": {"layers": [{"cell": "tau_gru", "units": 4, "tau": 3}]}, "metrics": ["accuracy"], "train": {"epochs": 3, "batch": 8},
}


class Page(html.parser.HTMLParser):
    """The headings, texts and tags of a page; every tag must be closed in order."""

    VOID = {"meta", "link", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


class ReportTest(ToolTest):
    def page(self, path):
        self.run_tool("report", path, "--output", "page.html")
        text = (self.folder / "page.html").read_text()
        self.assertNotIn(str(self.folder), text)  # a page is given to others
        page = Page(text)
        for tag in ("script", "link", "iframe", "img"):
            self.assertNotIn(tag, page.tags)
        for name, value in page.attributes:
            self.assertNotIn(name, ("src", "href"))
        self.assertNotIn("http", re.sub(r'xmlns="[^"]*"', "", text))
        return page, " ".join(page.texts)

    def test_a_run_of_numbers(self):
        self.train("run", experiment=changed(EXPERIMENT, metrics=["rmse"]))
        page, text = self.page("run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        for words in ("Learning", "Predictions", "What was trained", "Gradients and gates", "Memory and time", "How to repeat it",
                      "Prediction over the truth", "truth", "prediction", "loss (logarithmic)", "rmse on the validation set",
                      "lagtape train run/experiment.json", f"{summary['params']} parameters", "tau_gru",
                      "How far back the gradient of the loss reaches", "sequence ", f"{summary['test']['rmse']:.6g}"):
            self.assertIn(words, text)
        self.assertGreater(page.tags.count("polyline"), 8)
        ids = [value for name, value in page.attributes if name == "id"]
        self.assertEqual(len(ids), len(set(ids)))
        used = {value[5:-1] for name, value in page.attributes if name == "clip-path"}
        self.assertEqual(used, set(ids))

    def test_several_series_have_scores_beside_baselines_and_charts(self):
        names = [f"Köln <{i}>" for i in range(13)]
        rows = "".join(f"{name},{n},{(i + 1) * (10 + math.sin(n / (1 + i / 9)))}\n" for i, name in enumerate(names) for n in range(160))
        self.write("own.csv", "id,n,y\n" + rows)
        series = {"task": "series", "path": "own.csv", "series": "id", "target": "y", "input": "y", "window": 20}
        self.train("run", experiment=changed(RECORDING, data=series, metrics=["mase", "rmse"]))
        text = " ".join(self.page("run")[1].split())
        scores = json.loads(self.run_tool("eval", "run", "--json")[0])["series"]
        worst_first = sorted(names, key=lambda name: -scores[name]["loss"])
        shown = worst_first[:5] + worst_first[-5:]
        self.assertIn("The test set of 13 series, the 5 worst and the 5 best", text)
        self.assertIn("series loss mase rmse " + " ".join(
            f"{name} " + " ".join(f"{scores[name][metric]:.4g}" for metric in ("loss", "mase", "rmse")) for name in shown), text)
        horizons = json.loads(self.run_tool("eval", "run", "--horizon", "24", "--json")[0])
        self.assertIn("rmse of y over 24 steps from the model's own predictions", text)
        beside = horizons["series"][names[4]]["targets"]["y"]["overall"]
        self.assertIn(" ".join(f"{beside[key]['rmse']:.4g}" for key in ("model", "persistence", "theta", "ridge")), text)
        drawn = re.findall(r"<figcaption>(Köln [^<]*)</figcaption>", (self.folder / "page.html").read_text())
        self.assertEqual([html.unescape(name) for name in drawn], worst_first[:3] + worst_first[-3:])

    def test_a_run_of_quantiles_is_judged_by_its_median(self):
        levels = {"type": "quantile", "levels": [0.1, 0.5, 0.9]}
        self.train("run", experiment=changed(EXPERIMENT, loss=levels, metrics=["rmse"], model__readout={"at": "every_step"}))
        text = self.page("run")[1]
        errors = re.search(r"root mean squared errors, in the units of the data:\s+sequence error\s+\d+ ([\d.e-]+)", " ".join(text.split()))
        rmse = json.loads(self.run_tool("eval", "run", "--json")[0])["rmse"]
        self.assertTrue(rmse <= float(errors[1]) <= 3 * rmse, (rmse, errors[1]))

    def test_a_run_of_classes(self):
        self.train("run", experiment=CLASSES)
        page, text = self.page("run")
        for words in ("true \\ predicted", "The surest of the wrong answers", "accuracy on the validation set", "precision"):
            self.assertIn(words, text)
        sequences = re.findall(r"sequence (\d+): class \d, taken for \d", text)
        self.assertTrue(1 <= len(sequences) <= 6 and len(set(sequences)) == len(sequences), sequences)
        self.assertEqual(len(re.findall('class="small"', (self.folder / "page.html").read_text())), len(sequences))
        counts = json.loads(self.run_tool("eval", "run", "--confusion", "--json")[0])["confusion"]
        shown = [int(cell) for cell in re.findall(r"<td style=[^>]*>(\d+)</td>", (self.folder / "page.html").read_text())]
        self.assertEqual(shown, [count for row in counts for count in row])
        top = re.findall(r'text-anchor="end">([\d.]+)</text>', (self.folder / "page.html").read_text().split("accuracy on the validation set")[1])
        self.assertLessEqual(max(float(value) for value in top[:6]), 1)

    def test_a_folder_of_runs_and_a_search(self):
        for seed in ("0", "1"):
            self.train(f"runs/a-{seed}", "--seed", seed)
        self.train("runs/b-0", experiment=changed(EXPERIMENT, optimizer__lr=0.1))
        text = self.page("runs")[1]
        for words in ("3 runs", "optimizer/lr", "a-0 and 1 more", "b-0", "loss on the validation set"):
            self.assertIn(words, text)
        self.write("experiment.json", EXPERIMENT)
        self.write("search.json", {"experiment": "experiment.json", "runs": 4, "metric": "loss", "ranges": {"/optimizer/lr": {"log_uniform": [1e-4, 1e-1]}}})
        self.run_tool("search", "search.json", "--out", "found", "--quiet")
        text = self.page("found")[1]
        for words in ("a search of 4 runs", "loss against optimizer/lr", "optimizer/lr (logarithmic)", "Learning of the best runs"):
            self.assertIn(words, text)

    def write_search(self, runs):
        """A search's folder, as far as a report reads it."""
        self.write("found/search.json", {})
        self.write("found/results.jsonl", "".join(json.dumps(run) + "\n" for run in runs))

    def test_a_run_without_settings_and_a_setting_without_a_name(self):
        for run, experiment in (("a", {"name": "a"}), ("b", {"name": "b", "loss": "mse"})):
            self.write(f"runs/{run}/experiment.json", experiment)
        self.assertRegex(self.page("runs")[1], r"runs\s+loss\s+a\s+-\s+b\s+mse\s")
        self.write_search([{"run": "a", "settings": {"": 1, "lr": 3}, "loss": 0.5}])
        self.assertRegex(self.page("found")[1], r"loss against lr\s")

    def rows_of_page(self):
        rows = re.findall("<tr>(.*?)</tr>", (self.folder / "page.html").read_text(), re.S)
        return [re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]

    def test_a_search_ranks_settings_by_the_mean_of_their_seeds_that_are_done(self):
        lines = [("0000", "done", 1, 0.5), ("0001", "stopped", 2, 0.1), ("0002", "done", 3, 0.3), ("0003", "done", 4, 0.2),
                 ("0004", "diverged", 5, None), ("0005", "done", 6, 0.35),
                 ("0003-seed1", "done", 4, 0.6), ("0003-seed2", "stopped", 4, 0.01), ("0002-seed1", "done", 3, 0.4)]
        self.write_search({"run": run, "state": state, "settings": {"/optimizer/lr": lr}, "loss": loss,
                           **({"seed": int(run[-1])} if "-seed" in run else {})} for run, state, lr, loss in lines)
        text = self.page("found")[1]
        for words in ("a search of 6 runs", "Runs: 4 done, 1 stopped, 1 diverged.",
                      "The best 2 were repeated with other seeds, by 3 further runs."):
            self.assertIn(words, text)
        self.assertEqual(self.rows_of_page(), [
            ["run", "state", "loss", "seeds", "optimizer/lr"], ["0002", "done", "0.35 +- 0.071", "2", "3"],
            ["0003", "done", "0.4 +- 0.28", "2", "4"], ["0005", "done", "0.35", "1", "6"], ["0000", "done", "0.5", "1", "1"],
            ["0001", "stopped", "0.1", "0", "2"], ["0004", "diverged", "-", "0", "5"]])
        self.assertEqual((self.folder / "page.html").read_text().count("not done</text>"), 2)  # for wide screens and narrow ones
        self.write_search([{"run": "a", "state": "done", "settings": {"/optimizer/lr": 1}, "loss": 0.5}])
        text = self.page("found")[1]
        self.assertIn("Runs: 1 done.", text)
        for words in ("repeated", "not done", "seeds"):
            self.assertNotIn(words, text)

    def test_the_first_of_a_report_is_the_best_of_the_search(self):
        self.write("experiment.json", changed(EXPERIMENT, train__epochs=1))
        self.write("search.json", {"experiment": "experiment.json", "runs": 4, "metric": "loss", "again": {"best": 2, "seeds": 2},
                                   "ranges": {"/optimizer/lr": {"log_uniform": [1e-3, 1e-1]}}})
        ranking = json.loads(self.run_tool("search", "search.json", "--out", "found", "--quiet", "--json")[0])["ranking"]
        text = self.page("found")[1]
        self.assertEqual([row[0] for row in self.rows_of_page()[1:]], ranking)
        self.assertIn("The best 2 were repeated with other seeds, by 4 further runs.", text)

    @slow
    def test_a_search_of_many_runs_takes_a_time_that_grows_as_they_do(self):
        self.write_search({"run": f"{i:05}", "settings": {"/optimizer/lr": i + 1}, "loss": 1 / (i + 1)} for i in range(32_000))
        with self.within(6):  # every row for each cell: a minute
            self.run_tool("report", "found", "--output", "page.html")

    def test_of_many_settings_those_that_most_runs_have_are_shown(self):
        self.write_search({"run": str(i), "settings": {f"/k{i}": 1, "/optimizer/lr": i + 1}, "loss": i} for i in range(500))
        page, text = self.page("found")
        self.assertIn("There are 501 settings. Shown are the 60 that most runs have; 441 are left out.", text)
        self.assertEqual(page.tags.count("th"), 3 + 60)
        self.assertIn("loss against optimizer/lr", text)
        for i in range(100):
            self.write(f"runs/{i}/experiment.json", {"name": "a", "loss": i, f"k{i}": 1})
        page, text = self.page("runs")
        self.assertIn("There are 101 settings that differ. Shown are the 60 that most runs have; 41 are left out.", text)
        self.assertEqual(page.tags.count("th"), 1 + 60)

    def test_a_search_is_shown_by_the_metric_of_its_lines(self):
        line = {"settings": {"/optimizer/lr": 1}, "rmse": 0.25, "loss": 0.125}
        for metric, shown in (("loss", "0.125"), ("rmse", "0.25"), (None, "0.25")):  # None: as lagtape 0.1 wrote them
            self.write_search([{"run": "a", **({"metric": metric} if metric else {}), **line}])
            self.assertEqual(self.page("found")[1].count(f"{metric or 'rmse'} against optimizer/lr"), 1)
            self.assertIn(shown, self.rows_of_page()[1])

    def test_lines_that_are_wrong_are_named(self):
        for run, words in (({"run": 5, "settings": {"/a": 1}}, "/run: expected string, got 5"),
                           ({"run": "a", "settings": [1]}, "/settings: expected an object of settings such as {\"/optimizer/lr\": 0.01}, got [1]")):
            self.write_search([{"run": "b", "settings": {"/a": 2}}, run])
            _, err = self.run_tool("report", "found", "--output", "page.html", code=2)
            self.assertIn(f"found/results.jsonl: line 2: {words}\n", err)
        self.train("runs/a")
        lines = [{"epoch": 1, "valid_loss": 0.5}, {"epoch": "x", "valid_loss": 0.5}]
        self.write("runs/a/metrics.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        for path in ("runs", "runs/a"):
            _, err = self.run_tool("report", path, "--output", "page.html", code=2)
            self.assertIn('runs/a/metrics.jsonl: line 2: /epoch: expected number, got "x"\n', err)
        self.write("runs/a/experiment.json", {"seed": "x"})
        _, err = self.run_tool("report", "runs", "--output", "page.html", code=2)
        self.assertIn('runs/a/experiment.json: /seed: expected integer, got "x"\n', err)

    @slow
    def test_only_the_last_line_of_the_metrics_may_be_cut(self):
        for seed in "ab":
            self.train(f"runs/{seed}", "--seed", ord(seed))
        metrics = self.folder / "runs/a/metrics.jsonl"
        lines = metrics.read_text().splitlines(keepends=True)
        drawn = {path: self.page(path)[1] for path in ("runs", "runs/a")}
        for path, text in drawn.items():
            metrics.write_text("".join(lines) + lines[-1][:20])
            self.assertEqual(self.page(path)[1], text)
            for damaged in (lines[0] + lines[1][:20] + "\n" + lines[2], lines[0] + "7\n", "".join(lines) + "{\n"):
                metrics.write_text(damaged)
                _, err = self.run_tool("report", path, "--output", "page.html", code=2)
                self.assertRegex(err, r"^lagtape: runs/a/metrics.jsonl: line [24]: expected a JSON object. Got '.*'.\n$")
        _, err = self.run_tool("compare", "runs/a", "runs/b", "--plot", "charts", code=2)
        self.assertIn("runs/a/metrics.jsonl: line 4: expected a JSON object. Got '{'.\n", err)
        metrics.write_text("".join(lines))
        experiment = self.folder / "runs/a/experiment.json"
        experiment.write_text(experiment.read_text()[:30])
        for path in ("runs", "runs/a"):
            _, err = self.run_tool("report", path, "--output", "page.html", code=2)
            self.assertRegex(err, r"^lagtape: runs/a/experiment.json: line \d+, column \d+: ")

    def test_what_is_not_there_is_left_out_and_said(self):
        self.write("data.csv", "".join(f"{i % 7}\n" for i in range(300)))
        self.train("run", experiment=changed(EXPERIMENT, data={"task": "series", "path": "data.csv", "input": [0], "window": 10}))
        (self.folder / "data.csv").unlink()
        (self.folder / "run/summary.json").unlink()
        text = self.page("run")[1]
        self.assertIn("The run is not finished", text)
        self.assertIn("The data cannot be read here", text)

    def test_what_is_wrong_is_refused(self):
        self.train("run")
        (self.folder / "empty").mkdir()
        before = self.snapshot()
        for args, word in ((["gone", "--output", "p.html"], "gone"), (["empty", "--output", "p.html"], "no folder in it is a run"),
                           (["run", "--output", "p.pdf"], ".html")):
            self.assertIn(word, self.run_tool("report", *args, code=2)[1])
        self.assertEqual(self.snapshot(), before)
        summary = self.folder / "run/summary.json"
        summary.write_text(json.dumps({**json.loads(summary.read_text()), "seconds": "x"}))
        self.refused(["lagtape: run: "], "report", "run", "--output", "p.html")
        self.train("other", experiment=changed(EXPERIMENT, model__layers=[{"cell": "lem", "units": 9}]))
        self.write("run/weights.safetensors", (self.folder / "other/weights.safetensors").read_bytes())
        self.refused(["run/weights.safetensors: is of another run than summary.json"], "report", "run", "--output", "p.html")

    def test_texts_of_files_are_escaped(self):
        self.write("<i>x.csv", "<script>alert(1)</script>\n" + "".join(f"{i % 7}\n" for i in range(300)))
        self.train("run", experiment=changed(EXPERIMENT, data={"task": "series", "path": "<i>x.csv", "window": 10}))
        page, text = self.page("run")
        self.assertIn("<i>x.csv", text)
        self.assertNotIn("i", page.tags)

    def pages(self):
        """A page of each kind: numbers, classes, a recording, a folder, a search."""
        self.write("wave.csv", "a long name of a column (in some units),v\n" + "".join(f"{i % 7},{i % 11}\n" for i in range(600)))
        self.train("runs/numbers", experiment=changed(EXPERIMENT, metrics=["rmse"]))
        self.train("runs/again", "--seed", "1", experiment=changed(EXPERIMENT, metrics=["rmse"]))
        self.train("classes", experiment=CLASSES)
        self.train("wave", experiment=changed(EXPERIMENT, metrics=["rmse"], data={"task": "series", "path": "wave.csv", "window": 40},
                                              model__readout={"at": "every_step"}))
        self.write("experiment.json", EXPERIMENT)
        self.write("search.json", {"experiment": "experiment.json", "runs": 3, "metric": "loss", "ranges": {
            "/optimizer/lr": {"log_uniform": [1e-4, 1e-1]}, "/model/layers/0/tau": {"integers": [1, 9]},
            "/model/layers/0/units": {"integers": [2, 9]}}})
        self.run_tool("search", "search.json", "--out", "found", "--quiet")
        for path in ("runs/numbers", "classes", "wave", "runs", "found"):
            self.page(path)
            yield path, (self.folder / "page.html").read_text()

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed: the pages are not opened in a browser")
    @slow
    def test_a_browser_shows_all_pages_on_narrow_and_wide_screens(self):
        probe = """<script>addEventListener("load", () => {
          const seen = [...document.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width > 0);
          parent.postMessage({page: document.documentElement.scrollWidth, screen: innerWidth, charts: seen.length,
            small: seen.filter(svg => svg.getBoundingClientRect().height < 100).length, name: document.body.dataset.name,
            fetched: performance.getEntriesByType("resource").length}, "*");
        });</script>"""
        widths, frames, names = (375, 1400), "", []
        for path, text in self.pages():
            names.append(path)
            file = path.replace("/", "-") + ".html"  # frames, as a window of Chromium is at least 500 pixels wide
            (self.folder / file).write_text(text.replace("</body>", probe + "</body>").replace("<body>", f'<body data-name="{path}">'))
            frames += "".join(f'<iframe src="{file}" width="{width}" height="900" style="border:0"></iframe>' for width in widths)
        collect = ('<script>const all = []; addEventListener("message", found => { all.push(found.data); document.title = '
                   'JSON.stringify(all); });</script>')
        (self.folder / "frames.html").write_text(collect + frames)
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                               "--enable-logging=stderr", f"--user-data-dir={self.folder}/profile", "--window-size=1500,1000",
                               "--virtual-time-budget=10000", "--dump-dom", (self.folder / "frames.html").as_uri()],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual([line for line in done.stderr.splitlines() if ":CONSOLE" in line], [])
        found = json.loads(re.search(r"<title>(\[.*?\])</title>", done.stdout)[1].replace("&quot;", '"'))
        self.assertEqual(sorted((one["name"], one["screen"]) for one in found), sorted((name, width) for name in names for width in widths))
        for one in found:
            with self.subTest(page=one["name"], width=one["screen"]):
                self.assertLessEqual(one["page"], one["screen"])
                self.assertGreaterEqual(one["charts"], 2 if one["name"] == "runs" else 4)
                self.assertEqual((one["small"], one["fetched"]), (0, 0))


if __name__ == "__main__":
    main()
