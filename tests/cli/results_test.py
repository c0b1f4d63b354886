"""tools/experiments/RESULTS.md is what `lagtape table` makes of results.jsonl, table by table, and its verdicts are numbers of
runs."""

import json
import pathlib
import re
import shlex
import statistics
import unittest

from tool import ToolTest, main

EXPERIMENTS = ToolTest.root / "tools/experiments"
PAGE = (EXPERIMENTS / "RESULTS.md").read_text()
NUMBER = re.compile(r"\d+(?:\.(\d+))?")
TABLES = re.findall(r"<!-- table (\S+) -->\n.*`(lagtape table .*)`\n", PAGE)


def verdicts(page):
    """The rows of the first table: (ours, number of seeds, command)."""
    rows = [line.strip("|").split("|") for line in page.split("\n\n| task,")[1].split("\n\n")[0].splitlines()[2:]]
    return [(row[3].strip(), int(row[4].split()[0]), re.search(r"`(lagtape .*?)`", row[5])[1]) for row in rows]


def runs_of(command):
    """The finished runs of the model that a command trains, in lists of the same experiment."""
    words = shlex.split(command)
    path = pathlib.Path(words[2])
    task, model = (path.name, words[words.index("--only") + 1]) if words[1] == "table" else (path.parent.name, path.stem)
    runs = {}
    for line in (EXPERIMENTS / task / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["model"] == model and row["state"] == "done":
            runs.setdefault(row["experiment"], []).append(row["value"])
    return list(runs.values())


def is_backed(ours, seeds, command):
    """Whether a number is the mean over so many runs of one experiment, as a share or per cent, to its last digit."""
    number = NUMBER.match(ours)
    digits = len(number[1] or "")
    means = [statistics.mean(runs) for runs in runs_of(command) if len(runs) == seeds]
    return any(f"{scale * mean:.{digits}f}" == number[0] for mean in means for scale in (1, 100))


class ResultsTest(ToolTest):
    def test_every_verdict_is_the_mean_of_its_runs(self):
        found = verdicts(PAGE)
        self.assertGreater(len(found), 15)
        for row in found:
            with self.subTest(row):
                self.assertTrue(is_backed(*row))

    def test_a_verdict_without_runs_is_found(self):
        for ours, seeds, command in verdicts(PAGE):
            number = NUMBER.match(ours)[0]
            other = number[:-1] + str((int(number[-1]) + 1) % 10)
            self.assertFalse(is_backed(ours.replace(number, other, 1), seeds, command), other)
            self.assertFalse(is_backed(ours, seeds + 1, command))

    def test_every_file_of_results_has_its_table(self):
        self.assertEqual(sorted(name for name, _ in TABLES), sorted(path.parent.name for path in EXPERIMENTS.glob("*/results.jsonl")))

    def test_every_table_is_made_by_its_command(self):
        for name, command in TABLES:
            with self.subTest(name):
                page = self.write("RESULTS.md", PAGE)
                for path in (EXPERIMENTS / name).glob("*.json*"):
                    self.write(f"tools/experiments/{name}/{path.name}", path.read_text())
                results = f"tools/experiments/{name}/results.jsonl"
                self.run_tool(*shlex.split(command)[1:], "--show", "--results", results, "--markdown", "RESULTS.md")
                self.assertEqual(page.read_text(), PAGE)


if __name__ == "__main__":
    main()
