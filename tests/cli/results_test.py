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
TABLES = re.findall(r"<!-- table (\S+) -->\n\*\*.*\n.*\n.*\n`(lagtape table .*)`\n", PAGE)


def verdicts(page):
    """The rows of the first table: (ours, number of seeds, command, run)."""
    rows = [line.strip("|").split("|") for line in page.split("\n\n| task,")[1].split("\n\n")[0].splitlines()[2:]]
    return [(row[3].strip(), int(row[4].split()[0]), re.search(r"`(lagtape .*?)`", row[6])[1], row[5].strip()) for row in rows]


def runs_of(command):
    """The finished runs of the model that a command trains, in lists of the same experiment."""
    words = shlex.split(command)
    path = pathlib.Path(words[2])
    task = path.name if words[1] == "table" else path.parent.name
    chosen = [words[words.index(option) + 1] for option in ("--only", "--row") if option in words]
    model = chosen[0] if chosen else path.stem
    runs = {}
    for line in (EXPERIMENTS / task / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["model"] == model and row["state"] == "done":
            runs.setdefault(row["experiment"], []).append(row["value"])
    return list(runs.values())


def run_of(command):
    """How far the row that a command trains repeats the paper's experiment, by its files and the command's --set."""
    words = shlex.split(command)
    folder = EXPERIMENTS / (pathlib.Path(words[2]).name if words[1] == "table" else pathlib.Path(words[2]).parent.name)
    model = words[words.index("--only" if words[1] == "table" else "--row") + 1]
    row = next(row for row in json.loads((folder / "table.json").read_text())["rows"] if row.get("model") == model)
    found = re.search(r"train\.(epochs|steps)=(\d+)", command)
    change = "changed" if "changed" in row else ""
    if not found:
        return change or ("full" if "printed" in row else "not printed")
    document = json.loads((folder / "rows.json").read_text())
    base = document["base"] if isinstance(document["base"], dict) else json.loads((folder / document["base"]).read_text())
    of = {**base["train"], **document["rows"].get(model, {}).get("train", {})}[found[1]]
    length = f"{found[2]} of {of} {'epochs' if found[1] == 'epochs' else 'updates'}"
    return f"changed; {length}" if change else f"shortened: {length}"


def is_backed(ours, seeds, command, _=""):
    """Whether a number is the mean over so many runs of one experiment, as a share or per cent, to its last digit."""
    number = NUMBER.match(ours)
    digits = len(number[1] or "")
    means = [statistics.mean(runs) for runs in runs_of(command) if len(runs) == seeds]
    return any(f"{scale * mean:.{digits}f}" == number[0] for mean in means for scale in (1, 100))


def rows_with_numbers(name):
    """The rows of a table on the page that have a mean of runs, by name."""
    table = PAGE.split(f"<!-- table {name} -->")[1].split("<!-- end")[0]
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    return {row[0].strip() for row in cells if NUMBER.match(row[2].strip())}


# Decimals of verdicts that are neither of a run, nor printed in a table, nor a setting of a row.
OTHER_DECIMALS = {"ENSO and Mackey-Glass": {"0.0274"},  # of an experiment that is not a row
                  "Heart rate": {"13.34"},  # the deviation of all rates
                  "Film reviews": {"1.5"},  # a difference
                  "Human activities": {"3.7"}}  # the least difference of a row between validation and test


def sections(page):
    """The parts of the page with tables: (title, text without its tables and links, names of the tables)."""
    for part in page.split("\n## ")[1:]:
        tables = re.findall(r"<!-- table (\S+) -->", part)
        text = re.sub(r"<!-- table .*?<!-- end of table \S+ -->|\]\(.*?\)", "", part, flags=re.S)
        if tables:
            yield part.split("\n")[0], text, tables


def numbers_of(tasks):
    """Facts that a verdict may state about tasks: means, deviations, least and largest of their runs, printed numbers,
    and decimals of their settings."""
    values, settings = [], set()
    for task in tasks:
        table = json.loads((EXPERIMENTS / task / "table.json").read_text())
        values += [row["printed"] for row in table["rows"] if "printed" in row]
        runs = {}
        for line in (EXPERIMENTS / task / "results.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["state"] == "done":
                runs.setdefault((row["model"], row["experiment"]), []).append(row["value"])
        for same in runs.values():
            values += [scale * value for value in (min(same), max(same), statistics.mean(same), statistics.stdev([*same, same[0]][:max(2, len(same))])) for scale in (1, table.get("scale", 1))]
        for path in (EXPERIMENTS / task).glob("*.json"):
            settings.update(re.findall(r"\d+\.\d+", path.read_text()))
    return values, settings


def unknown_decimals(text, tables):
    values, settings = numbers_of(tables)
    found = re.finditer(r"(?<![\w.-])\d+\.(\d+)", text)
    return {n[0] for n in found if n[0] not in settings and all(f"{v:.{len(n[1])}f}" != n[0] for v in values)}


class ResultsTest(ToolTest):
    def test_every_verdict_is_the_mean_of_its_runs(self):
        found = verdicts(PAGE)
        self.assertGreater(len(found), 15)
        for row in found:
            with self.subTest(row):
                self.assertTrue(is_backed(*row))

    def test_a_verdict_without_runs_is_found(self):
        for ours, seeds, command, _ in verdicts(PAGE):
            number = NUMBER.match(ours)[0]
            other = number[:-1] + str((int(number[-1]) + 1) % 10)
            self.assertFalse(is_backed(ours.replace(number, other, 1), seeds, command), other)
            self.assertFalse(is_backed(ours, seeds + 1, command))

    def test_every_verdict_says_how_far_it_repeats_the_paper(self):
        for row in verdicts(PAGE):
            with self.subTest(row):
                self.assertEqual(row[3], run_of(row[2]))

    def test_rows_with_settings_other_than_the_papers_are_changed(self):
        words = re.compile(r"epochs instead of|twice the|four times|divided by 10|not printed; ")
        for name, _ in TABLES:
            for row in json.loads((EXPERIMENTS / name / "table.json").read_text())["rows"]:
                if "model" in row and words.search(row["name"] + row.get("note", "")):
                    self.assertIn("changed", row, name)

    def test_decimals_of_the_sections_are_those_of_runs(self):
        found = list(sections(PAGE))
        self.assertGreater(len(found), 10)
        for title, text, tables in found:
            with self.subTest(title):
                self.assertEqual(unknown_decimals(text, tables), OTHER_DECIMALS.get(title, set()))
        title, text, tables = found[0]
        self.assertEqual(unknown_decimals(text.replace("0.144", "0.148", 1), tables) - OTHER_DECIMALS[title], {"0.148"})

    def test_every_file_of_results_has_its_table(self):
        self.assertEqual(sorted(name for name, _ in TABLES), sorted(path.parent.name for path in EXPERIMENTS.glob("*/results.jsonl")))

    def test_parameters_that_no_row_has_from_the_paper_are_explained(self):
        explained = PAGE.split("| tables | the paper's parameters |")[1].split("\n\n")[0]
        without = set()
        for name, _ in TABLES:
            rows = {row["name"]: row for row in json.loads((EXPERIMENTS / name / "table.json").read_text())["rows"]}
            if any("printed_parameters" not in rows[row] for row in rows_with_numbers(name)):
                without.add(name)
        self.assertEqual(set(re.findall(r"`(\w[\w.]*)`", explained)), without)

    def test_the_complete_tables_are_named(self):
        complete, shortened = set(), set()
        for name, command in TABLES:
            rows = json.loads((EXPERIMENTS / name / "table.json").read_text())["rows"]
            if {row["name"] for row in rows if "model" in row} <= rows_with_numbers(name):
                (shortened if "train." in command else complete).add(name)
        for before, tables in (("each at its full length, are ", complete), ("but shortened, in ", shortened)):
            named = PAGE.split(before)[1].split(".\n")[0].split(". ")[0]
            self.assertEqual(set(re.findall(r"`(\w[\w.]*)`", named)), tables)

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
