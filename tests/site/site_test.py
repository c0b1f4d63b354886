"""The site: tools/site.sh builds it, no link is broken, nothing is loaded from elsewhere, and what it says is what the tool says.

usage: site_test.py LAGTAPE PYTHON SITE
Exits with 77 where MkDocs is not installed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import links

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL, PYTHON, SITE = sys.argv[1:4]
sys.path.insert(0, str(ROOT / "tools/site"))

import equations  # noqa: E402
import headers  # noqa: E402


class LinkTest(unittest.TestCase):
    def breaches_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder).resolve()
            (site / "a.html").write_text('<h1 id="top">A</h1>')
            (site / "b.html").write_text(text)
            return links.breaches(site)

    def test_good_links_are_counted(self):
        self.assertEqual(self.breaches_of('<a href="a.html#top">a</a> <a href="https://arxiv.org">x</a>'), (1, []))

    def test_broken_ones_are_found(self):
        for text in ('<a href="c.html">', '<a href="a.html#end">', '<img src="c.svg">', '<script src="https://cdn.example/x.js">',
                     '<link rel="stylesheet" href="//fonts.example/x.css">'):
            self.assertEqual(len(self.breaches_of(text)[1]), 1, text)


class GeneratedTest(unittest.TestCase):
    def mathml(self, line):
        return re.sub(r' \w+="[^"]*"', "", equations.mathml(line))

    def test_equations_are_set(self):
        text = self.mathml("h' = (1 - dt) * h + tanh(W_i @ h[-tau])")
        self.assertIn("<msup><mi>h</mi><mo>′</mo></msup><mo>=</mo>", text)
        self.assertIn("<mo>(</mo><mn>1</mn><mo>−</mo>", text)
        self.assertIn("<msub><mi>W</mi><mtext>i</mtext></msub>", text)
        self.assertIn("<mi>τ</mi>", text)
        self.assertIn("<mo>(</mo><mi>b</mi><mo>−</mo><mi>c</mi><mo>)</mo>", self.mathml("y = a - (b - c)"))
        self.assertIsNone(equations.mathml("each product has its own bias"))

    def test_declarations_have_names(self):
        for code, name in (("struct A {", "A"), ("enum class B { c };", "B"), ("Var mean(const Var& x);", "mean"),
                           ("template <class T>\ninline constexpr int size_of = 3;", "size_of"),
                           ("using Shape = std::vector<int>;", "Shape")):
            self.assertEqual(headers.declaration_name(code), name)

    def test_private_members_are_left_out(self):
        self.assertEqual(headers.without_private("class A {\n public:\n  int a;\n\n private:\n  int b;\n};"),
                         "class A {\n public:\n  int a;\n};")


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        environment = {**os.environ, "LAGTAPE": TOOL, "LAGTAPE_PYTHON": PYTHON}
        built = subprocess.run([ROOT / "tools/site.sh", SITE], env=environment, capture_output=True, text=True)
        if built.returncode == 77:
            print(built.stderr)
            sys.exit(77)
        if built.returncode:
            raise AssertionError(built.stdout + built.stderr)
        cls.site = pathlib.Path(SITE).resolve()

    def text(self, name):
        return (self.site / name).read_text(encoding="utf-8")

    def test_no_link_is_broken(self):
        count, found = links.breaches(self.site)
        self.assertGreater(count, 3000)
        self.assertEqual(found, [], "\n".join(found))

    def test_every_page_of_the_repository_is_there(self):
        for page in ROOT.glob("tools/docs/**/*.md"):
            name = page.relative_to(ROOT).with_suffix(".html").as_posix().replace("README", "index")
            self.assertTrue((self.site / name).is_file(), name)

    def test_every_key_of_the_schema_is_in_the_reference(self):
        text = "".join(path.read_text(encoding="utf-8") for path in self.site.glob("reference/*.html"))
        keys = set()

        def walk(node):
            if isinstance(node, dict):
                keys.update(key for key, option in node.get("properties", {}).items() if isinstance(option, dict) and "description" in option)
                for each in node.values():
                    walk(each)
            elif isinstance(node, list):
                for each in node:
                    walk(each)

        walk(json.loads(subprocess.run([TOOL, "schema"], capture_output=True, text=True, check=True).stdout))
        self.assertGreater(len(keys), 150)
        shown = set(re.findall(r"<code>(?:\w+\.)*(\w+)</code>", text))
        missing = keys - shown - {"name"}
        self.assertEqual(missing, set())

    def test_public_names_are_in_the_reference(self):
        python, cpp = self.text("reference/python.html"), "".join(self.text(f"reference/cpp_{n}.html") for n in range(1, 9))
        for name in ("train", "Forecaster", "Run", "solve"):
            self.assertRegex(python, f'id="lagtape\\._\\w+\\.{name}"')
        for name in ("tensor", "model", "adam", "lem", "train_run"):
            self.assertTrue(f'id="{name}"' in cpp.lower(), name)
        self.assertIn("lagtape_last_error", self.text("reference/c.html"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
