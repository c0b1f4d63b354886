"""Tables as Markdown, and pages with them."""

import re

from table_test import TableTool, changed_row
from tool import main


class TablePageTest(TableTool):
    def test_markdown_and_pages(self):
        out, err = self.run_tool("table", "task", "--seeds", 2, "--markdown", "page.md")
        row = next(line for line in out.splitlines() if line.startswith("| tau-GRU"))
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        found = self.table("--seeds", 2, "--show")["rows"][0]
        self.assertEqual(cells[:6], ["tau-GRU \\| small", "0.5 ± 0.1", f"{found['mean']:.3f}", f"{found['deviation']:.3f}",
                                     f"{found['best']:.3f}", "2"])
        for text in ("RMSE x 1e-2", "smaller is better", "a paper, Table 1", "other: of our own", "| S4 | 1.25 |", "Table 2"):
            self.assertIn(text, out)
        self.assertIn("4/4", err)
        for seed in range(2):
            value = 100 * self.summary(f"small-{seed}")["test"]["rmse"]
            self.assertIn(f"small seed {seed}: {value:.3f} (RMSE x 1e-2) after", err)
        self.assertRegex(out, r"; 4 runs of together [^,]+, the last of \d{4}-\d\d-\d\d, on ")
        one = self.run_tool("table", "task", "--seeds", 1, "--only", "other", "--show")[0]
        self.assertRegex(one, r"; 1 run of [^,]+, \d{4}-\d\d-\d\d, on ")
        page = (self.folder / "page.md").read_text()
        self.assertIn(out, page)
        self.write("page.md", "before\n\n" + page + "\nafter\n")
        again = self.run_tool("table", "task", "--seeds", 1, "--markdown", "page.md")[0]
        page = (self.folder / "page.md").read_text()
        self.assertTrue(page.startswith("before\n") and page.endswith("after\n"))
        self.assertIn(again, page)
        self.assertNotIn(out, page)

    def test_titles_and_notes_are_shown_as_they_are(self):
        plan = changed_row(1, note="h_t and tau_gru, *not* `code`\n<!-- end of table task --> [a](b) [c]")
        self.write("task/table.json", {**plan, "title": "<b>two</b> models"})
        out = self.run_tool("table", "task", "--seeds", 1, "--show", "--quiet", "--markdown", "page.md")[0]
        self.assertIn("**\\<b>two\\</b> models.**", out)
        self.assertIn("- other: h_t and tau_gru, \\*not\\* \\`code\\` \\<!-- end of table task --> \\[a](b) [c]\n", out)
        self.run_tool("table", "task", "--seeds", 1, "--show", "--quiet", "--markdown", "page.md")  # finds its lines again

    def test_damaged_pages_lose_nothing(self):
        first, last = "<!-- table task -->\n", "<!-- end of table task -->\n"
        show = ("table", "task", "--show", "--out", "nowhere", "--markdown", "page.md")
        for title, page in (("no end", first), ("no start", last), ("the wrong order", last + first),
                            ("two starts", first + "text\n" + first + last), ("two tables", (first + last) * 2),
                            ("another table inside", first + "<!-- table other -->\n<!-- end of table other -->\n" + last)):
            with self.subTest(title):
                self.write("page.md", page)
                self.assertIn("page.md: expected the lines", self.run_tool(*show, code=2)[1])
                self.assertEqual((self.folder / "page.md").read_text(), page)
                self.run_tool("table", "task", "--out", "never", "--markdown", "page.md", code=2)
                self.assertFalse((self.folder / "never").exists())
        for title, page in (("other line ends", ("a\n" + first + "old\n" + last + "b\n").replace("\n", "\r\n")),
                            ("no last line end", "a\n" + first + "old\n" + last.strip()),
                            ("markers in prose", f"a {first.strip()} b\n" + first + "old\n" + last)):
            with self.subTest(title):
                self.write("page.md", page)
                out, _ = self.run_tool(*show)
                text = (self.folder / "page.md").read_bytes().decode()
                self.assertIn(first + out + last, text)
                self.assertNotIn("old", text)
                self.assertEqual(text.count("\n" + first), 1)
        for option in ("--markdown", "--plot"):  # found out before training
            self.assertIn("there is no folder", self.run_tool("table", "task", option, "gone/file", code=2)[1])
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    main()
