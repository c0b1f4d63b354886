"""tools/experiments/RESULTS.md is what `lagtape table` makes of results.jsonl, table by table."""

import re
import shlex
import unittest

from tool import ToolTest, main

EXPERIMENTS = ToolTest.root / "tools/experiments"
PAGE = (EXPERIMENTS / "RESULTS.md").read_text()
TABLES = re.findall(r"<!-- table (\S+) -->\n.*`(lagtape table .*)`\n", PAGE)


class ResultsTest(ToolTest):
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
