"""The built site in headless Chromium, from file://: widths, light and dark, the search, and nothing asked of the network.

usage: browser_test.py SITE
Exits with 77 where there is no site or no Chromium.
"""

import pathlib
import sys
import unittest

import browser

SITE = pathlib.Path(sys.argv[1]).resolve()
PAGES = ("index.html", "tools/docs/data.html", "tools/docs/python.html", "reference/cells.html", "reference/experiment_data.html",
         "reference/cpp_1.html", "reference/python.html", "tools/experiments/RESULTS.html", "tools/bench/index.html")

# The share of a page that is wider than the window, and the brightness of its ground and of its text.
LOOK = """(() => {
  const light = (color) => { const [r, g, b] = color.match(/[0-9.]+/g).map(Number); return (0.3 * r + 0.6 * g + 0.1 * b) / 255; };
  const text = document.querySelector(".md-typeset p") || document.querySelector(".md-typeset");
  return { over: document.documentElement.scrollWidth - window.innerWidth, title: document.title,
           ground: light(getComputedStyle(document.body).backgroundColor), text: light(getComputedStyle(text).color),
           broken: [...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src) };
})()"""

SEARCH = """(async (words) => {
  const box = document.querySelector(".md-search__input");
  box.focus();
  box.value = words;
  box.dispatchEvent(new Event("keyup"));
  box.dispatchEvent(new Event("input"));
  for (let wait = 0; wait < 100; ++wait) {
    await new Promise((next) => setTimeout(next, 100));
    const meta = document.querySelector(".md-search-result__meta").textContent;
    if (/no matching/i.test(meta) && wait > 20) return [];
    const found = [...document.querySelectorAll(".md-search-result__link")].map((link) => link.href);
    if (found.length) return found;
  }
  return null;
})"""


class BrowserTest(unittest.TestCase):
    def setUp(self):
        self.browser = self.enterContext(browser.Browser())

    def tearDown(self):
        self.assertEqual(self.browser.failures, [])

    def test_pages_fit_and_follow_the_color_scheme(self):
        for page in PAGES:
            for width in (375, 1400):
                for dark in (False, True):
                    with self.subTest(page=page, width=width, dark=dark):
                        self.browser.open(f"file://{SITE}/{page}", width, dark)
                        look = self.browser.evaluate(LOOK)
                        self.assertLessEqual(look["over"], 0)
                        self.assertEqual(look["broken"], [])
                        self.assertIn("lagtape", look["title"])
                        self.assertEqual(look["ground"] < 0.4, dark)
                        self.assertGreater(abs(look["ground"] - look["text"]), 0.4)

    def test_search_finds_pages_and_only_those_that_have_the_word(self):
        self.browser.open(f"file://{SITE}/tools/docs/data.html")
        found = self.browser.evaluate(SEARCH + "('reversible')")
        self.assertTrue(any("memory.html" in link for link in found or []), found)
        self.assertEqual(self.browser.evaluate(SEARCH + "('xyzzyqwert')"), [])
        self.browser.open(found[0])
        self.assertIn("reversible", self.browser.evaluate("document.body.textContent.toLowerCase()"))

    def test_a_missing_file_is_a_failure(self):
        self.browser.open(f"file://{SITE}/index.html")
        self.browser.evaluate("new Promise((next) => { const image = new Image(); image.onerror = next; image.src = 'gone.svg'; })"
                              ".then(() => 0)")
        self.assertTrue(self.browser.failures)
        self.browser.failures.clear()


if __name__ == "__main__":
    if not browser.find() or not (SITE / "index.html").is_file():
        print("not run: there is no Chromium, or no site")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
