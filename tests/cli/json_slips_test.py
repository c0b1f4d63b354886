"""Notations of Python, YAML, TOML and word processors are recognized, with their place."""

import json

from tool import EXPERIMENT, ToolTest, main

TEXT = json.dumps(EXPERIMENT, indent=1)
LOSS = '"loss": "mse"'

# Each row: the text, and what the message says.
SLIPS = [
    (TEXT.replace(LOSS + ",", LOSS), "A comma is missing before this."),
    (TEXT.replace(LOSS, '"loss" "mse"'), "A colon is missing before this."),
    (TEXT.replace(LOSS, '"loss" = "mse"'), "joined by a colon"),
    (TEXT.replace(LOSS, 'loss: "mse"'), "Keys are in double quotes."),
    (str(EXPERIMENT), "json.dumps turns Python's dict into JSON."),
    (TEXT.replace('"mse"', "None"), "Python's None is null in JSON."),
    (TEXT.replace('"mse"', "True"), "Python's True is true in JSON."),
    (TEXT.replace('"mse"', "False"), "Python's False is false in JSON."),
    (TEXT.replace('"mse"', "NaN"), "JSON has no NaN"),
    (TEXT.replace('"mse"', '("mse",)'), "Python's tuple is a list in JSON"),
    (TEXT.replace(LOSS, "# the loss\n" + LOSS), "Comments begin with // here."),
    (TEXT.replace('"mse"', "\u201cmse\u201d"), "typographic"),
    (TEXT.replace('"loss"', "\u201eloss\u201c"), "typographic"),
    ("name: own\ndata:\n  task: adding\n", "This looks like YAML"),
    ("---\nname: own\n", "This looks like YAML"),
    ('name = "own"\n\n[data]\ntask = "adding"\n', "This looks like TOML"),
    ('# a comment\n[data]\ntask = "adding"\n', "This looks like TOML"),
]


class JsonSlipsTest(ToolTest):
    def test_a_slip_is_named(self):
        self.assertIn(LOSS + ",", TEXT)
        for text, sentence in SLIPS:
            with self.subTest(sentence, text=text[:60]):
                self.write("slip.json", text)
                _, message = self.run_tool("check", "slip.json", code=2)
                self.assertIn(sentence, message)
                self.assertRegex(message, r"slip\.json: line \d+, column \d+: ")

    def test_what_is_no_slip_is_read(self):
        self.write("good.json", TEXT.replace(LOSS, "// the loss\n" + LOSS))
        self.run_tool("check", "good.json")


if __name__ == "__main__":
    main()
