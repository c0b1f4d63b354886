"""The rules of documents.py find every kind of breach, each planted in a separate small tree."""

import pathlib
import tempfile
import unittest

import documents

IN_ORDER = {
    "README.md": "# Name\n\nSee [more](tools/docs/more.md#two-words), [all](tools) and [elsewhere](https://example.org/none).\n",
    "tools/docs/more.md": "## Two words\n\n`core/tape.h` and `core/`, `TASK/MODEL.json`, `core/gone`\n| " + "wide " * 80 + "|\n",
    "tools/table.md": "<!-- table a -->\n" + "wide " * 80 + "\n<!-- end of table a -->\n",
    "core/tape.h": "",
    "CMakeLists.txt": "project(name VERSION 1.2.0 LANGUAGES CXX)\n",
    "tools/version.h": 'inline constexpr const char* kVersion = "1.2.0";\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
    "build/README.md": "[gone](gone.md)\n",
}


def breaches_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return documents.check_documents(pathlib.Path(root))


class DocumentsTest(unittest.TestCase):
    def planted(self, name, text):
        found = breaches_of({**IN_ORDER, name: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(name + ":"), found)
        return found[0]

    def test_documents_in_order_have_no_breach(self):
        self.assertEqual(breaches_of(IN_ORDER), [])

    def test_a_first_page_that_is_too_long_or_too_wide_is_a_breach(self):
        self.assertIn("131 lines", self.planted("README.md", "a\n" * 131))
        self.assertIn("121 characters", self.planted("README.md", "|" + "a" * 120))
        self.assertEqual(breaches_of({"README.md": "a\n" * 129 + "a" * 120 + "\n"}), [])

    def test_prose_that_is_too_wide_is_a_breach(self):
        self.assertIn("161 characters", self.planted("tools/a.md", "a" * 161))
        self.assertIn("200 characters", self.planted("tools/a.md", "<!-- table a -->\n<!-- end of table a -->\n" + "a" * 200))

    def test_a_link_that_leads_nowhere_is_a_breach(self):
        self.assertIn("gone.md", self.planted("tools/docs/a.md", "[a](../gone.md)"))
        self.assertIn("no such heading", self.planted("tools/docs/a.md", "[a](more.md#one-word)"))
        self.assertIn("no such heading", self.planted("tools/docs/a.md", "# A\n[a](#b)"))
        self.assertIn("gone.svg", self.planted(".github/a.md", "![a picture](gone.svg)"))

    def test_a_path_that_is_not_there_is_a_breach(self):
        for path in ("core/gone.h", "ops/recurrence/", ".github/gone.md"):
            self.assertIn(path, self.planted("tools/docs/a.md", f"See `{path}`.\n"))
        self.assertIn("tools/gone.py", self.planted("tools/docs/a.md", "Run `python3 tools/gone.py --all`.\n"))

    def test_another_version_is_a_breach(self):
        self.assertIn("CITATION.cff:2: version 1.1.0", self.planted("CITATION.cff", "cff-version: 1.2.0\nversion: 1.1.0\n"))
        self.assertIn("1.3.0", self.planted("tools/version.h", 'constexpr const char* kVersion = "1.3.0";'))

    def test_words_that_are_refused_are_breaches(self):
        for words in ("It stops for want of a best.", "Whoever reads it", "The behaviour of a cell", "weights that are learnt"):
            self.assertIn("which .github/WORDS.md refuses", self.planted("tools/docs/a.md", words + "\n"))
        self.assertEqual(breaches_of({**IN_ORDER, "tools/docs/a.md": "the test \"a learnt gate\", `colour`\n```\nbehaviour\n```\n"}), [])

    def test_a_tree_without_a_first_page_is_a_breach(self):
        self.assertEqual(len(breaches_of({"core/tape.h": ""})), 1)


if __name__ == "__main__":
    unittest.main()
