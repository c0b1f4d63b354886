"""Cells of models of version 0.1 are read by the rules of that version, and the tool says so."""

import json

from tool import CLASSIFIER, ToolTest, changed, main, npy

CELL = {"weights": {"W": ["units", "units"], "U": ["units", "input"], "w": [2], "s": ["units"]},
        "derived": {"D": "W * mean(W) + sum(W)"}, "state": {"c": [2, "units"], "h": "units"},
        "step": ["c' = 0.5 * (W @ c) + 0.3 * tanh(c + sum(U @ x)) * w", "p = sum(c') * w",
                 "h' = tanh(D @ h + U @ x) + where(sigmoid(sum(p)), s, 0.1 * h)"], "output": "concat(h', p)"}


def without_grammar(weights):
    """The bytes of a model's file as version 0.1 wrote them: nothing in them says by which rules its cells are read."""
    size = int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8:8 + size])
    metadata = header["__metadata__"]
    del metadata["grammar"]
    whole = json.loads(metadata["experiment"])
    del whole["cells"]["own"]["grammar"]
    metadata["experiment"] = json.dumps(whole)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + weights[8 + size:]


class OldGrammarTest(ToolTest):
    def test_models_without_a_grammar_keep_their_numbers(self):
        self.write("x.npy", npy((1, 20, 2), [(i * 7 % 20) / 10 - 1 for i in range(40)]))
        written = {}
        for grammar in (1, 2):
            cell = {**CELL, "grammar": grammar}
            self.write("e.json", changed(CLASSIFIER, cells={"own": cell}, model__layers=[{"cell": "own", "units": 2}]))
            self.run_tool("train", "e.json", "--out", f"run{grammar}", "--quiet")
            written[grammar] = self.run_tool("predict", f"run{grammar}", "--input", "x.npy", "--output", f"y{grammar}.npy")
        weights = self.folder / "run1/weights.safetensors"
        old = self.write("old.safetensors", without_grammar(weights.read_bytes()))
        _, said = self.run_tool("predict", old, "--input", "x.npy", "--output", "y.npy")
        self.assertIn("cell 'own' is read by grammar 1", said)
        self.assertEqual((self.folder / "y.npy").read_bytes(), (self.folder / "y1.npy").read_bytes())
        self.assertNotEqual((self.folder / "y2.npy").read_bytes(), (self.folder / "y1.npy").read_bytes())
        self.assertIn("grammar 1", written[1][1])
        self.assertNotIn("grammar", written[2][1])

        # Trained again, its experiment is read by the rules of today, and that is said.
        experiment = json.loads((self.folder / "run1/experiment.json").read_text())
        del experiment["cells"]["own"]["grammar"]
        weights.write_bytes((self.folder / "old.safetensors").read_bytes())
        (self.folder / "run1/experiment.json").write_text(json.dumps(experiment))
        _, said = self.run_tool("train", "run1/experiment.json", "--out", "again")
        self.assertEqual(said.count("was trained by grammar 1"), 1)
        _, said = self.run_tool("train", "run2/experiment.json", "--out", "again2")
        self.assertNotIn("grammar", said)


if __name__ == "__main__":
    main()
