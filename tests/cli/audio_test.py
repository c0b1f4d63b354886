"""The task audio: a student learns what a teacher made of a sound, and recordings that are no pair are refused."""

import importlib.util
import json
import math
import random
import struct
import subprocess
import sys
import unittest

from import_models import keras_model
from tool import ToolTest, changed, main, npy, npy_values, slow

RATE, SAMPLES, SEGMENT, WARM_UP = 48000, 24000, 512, 128
EXPERIMENT = {
    "name": "amp",
    "data": {"task": "audio", "input": "dry.wav", "target": "wet.wav", "segment": SEGMENT, "overlap": WARM_UP},
    "model": {"layers": [{"cell": "lstm", "units": 8}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "metrics": ["esr", "dc"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 100, "batch": 4, "warmup": WARM_UP},
}


def wav(samples, rate=RATE):
    """One channel of 24 bits."""
    data = b"".join(struct.pack("<i", round(s * 2**23))[:3] for s in samples)
    form = struct.pack("<HHIIHH", 1, 1, rate, 3 * rate, 3, 24)
    chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def sound():
    """Two tones that come and go, and a little noise."""
    draw = random.Random(3)
    return [0.4 * math.sin(0.05 * n) * math.sin(0.0011 * n) + 0.2 * math.sin(0.173 * n) * math.cos(0.0007 * n)
            + 0.02 * draw.uniform(-1, 1) for n in range(SAMPLES)]


class AudioTest(ToolTest):
    @slow
    def test_a_student_learns_a_teacher(self):
        dry = sound()
        self.write("model", json.dumps(keras_model()))
        self.run_tool("import", "model", "--output", "teacher")
        self.write("x.npy", npy((SAMPLES, 1), dry))
        self.run_tool("predict", "teacher", "--input", "x.npy", "--output", "y.npy")
        wet = npy_values((self.folder / "y.npy").read_bytes())
        mean = sum(wet) / len(wet)
        self.write("dry.wav", wav(dry))
        self.write("wet.wav", wav([v - mean for v in wet]))  # else a constant would have a small ESR
        path = self.write("amp.json", EXPERIMENT)
        out, _ = self.run_tool("train", path, "--out", "student", "--quiet", "--json")
        test = json.loads(out)["test"]
        self.assertLess(test["esr"], 1e-2)
        self.assertLess(test["dc"], test["esr"])
        first = json.loads((self.folder / "student/metrics.jsonl").read_text().splitlines()[0])
        self.assertGreater(first["valid_esr"], 10 * test["esr"])

        begin = SAMPLES * 9 // 10  # the test set by hand: its segments, each from its own zeros, without the warm-up
        error = signal = bias = count = 0
        for start in range(begin, SAMPLES - SEGMENT + 1, SEGMENT - WARM_UP):
            self.write("x.npy", npy((SEGMENT, 1), [round(v * 2**23) / 2**23 for v in dry[start:start + SEGMENT]]))
            self.run_tool("predict", "student", "--input", "x.npy", "--output", "y.npy")
            for n, value in enumerate(npy_values((self.folder / "y.npy").read_bytes())):
                if n < WARM_UP:
                    continue
                target = round((wet[start + n] - mean) * 2**23) / 2**23
                error, signal = error + (value - target)**2, signal + target**2
                bias, count = bias + value - target, count + 1
        self.assertAlmostEqual(test["esr"] / (error / signal), 1, delta=1e-3)
        self.assertAlmostEqual(test["dc"] / (bias**2 / count / signal), 1, delta=1e-2)

    def test_the_loss_is_the_ratio_after_pre_emphasis(self):
        dry = sound()[:6000]
        wet = [math.tanh(2 * v) + 0.1 for v in dry]
        self.write("dry.wav", wav(dry))
        self.write("wet.wav", wav(wet))
        loss = {"type": "esr", "pre_emphasis": 0.85, "dc": 0.5}
        self.write("amp.json", changed(EXPERIMENT, loss=loss, train__epochs=3))
        self.run_tool("train", "amp.json", "--out", "run", "--quiet")
        found = json.loads(self.run_tool("eval", "run", "--json")[0])
        begin, sums = 5400, dict.fromkeys(("error", "signal", "bias", "energy"), 0.0)
        for start in range(begin, 6000 - SEGMENT + 1, SEGMENT - WARM_UP):
            self.write("x.npy", npy((SEGMENT, 1), [round(v * 2**23) / 2**23 for v in dry[start:start + SEGMENT]]))
            self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy")
            y = npy_values((self.folder / "y.npy").read_bytes())
            target = [round(v * 2**23) / 2**23 for v in wet[start:start + SEGMENT]]
            error = [a - b for a, b in zip(y, target)]
            for n in range(WARM_UP + 1, SEGMENT):  # the first step after the warm-up follows one without a target
                sums["error"] += (error[n] - 0.85 * error[n - 1])**2
                sums["signal"] += (target[n] - 0.85 * target[n - 1])**2
            own = error[WARM_UP:]
            sums["bias"] += sum(own)**2 / len(own)
            sums["energy"] += sum(v * v for v in target[WARM_UP:])
        wanted = sums["error"] / sums["signal"] + 0.5 * sums["bias"] / sums["energy"]
        self.assertGreater(sums["error"] / sums["signal"], 0.01)
        self.assertAlmostEqual(found["loss"] / wanted, 1, delta=1e-4)
        trained = [json.loads(line)["train_loss"] for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        self.assertLess(trained[-1], trained[0])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_the_ready_experiment_learns_from_the_recordings_that_its_script_makes(self):
        self.write("model", json.dumps(keras_model()))
        self.run_tool("import", "model", "--output", "teacher")
        script = self.root / "tools/experiments/audio/teacher.py"
        subprocess.run([sys.executable, "-B", script, self.tool, "teacher", ".", "1.5"], cwd=self.folder, check=True)
        self.write("lstm.json", (script.parent / "lstm.json").read_text())
        out, _ = self.run_tool("train", "lstm.json", "--out", "run", "--quiet", "--json", "--set", "train.epochs=2")
        self.assertTrue(0 < json.loads(out)["test"]["esr"] < 10)

    def test_recordings_that_are_no_pair_are_refused_and_nothing_is_written(self):
        good = wav(sound()[:6000])
        bad = [(wav(sound()[:6000], 44100), "wet.wav: expected 48000 samples per second, as "),
               (wav(sound()[:5999]), "wet.wav: expected 6000 samples, as "),
               (good[:-1], "wet.wav: offset 36: the chunk 'data' claims 18000 bytes, but only 17999 are left."),
               (good[:22] + b"\x02" + good[23:], "wet.wav: expected one channel, got 2"),
               (b"", "wet.wav: not a WAV, FLAC or AIFF file: "),
               (wav(sound()[:600]), "expected 6000 samples"), (None, "wet.wav")]
        path = self.write("amp.json", changed(EXPERIMENT, data__segment=512))
        self.write("dry.wav", good)
        for content, wanted in bad:
            with self.subTest(wanted):
                if content is None:
                    (self.folder / "wet.wav").unlink()
                else:
                    self.write("wet.wav", content)
                before = self.snapshot()
                _, message = self.run_tool("train", path, "--out", "run", "--quiet", code=2)
                self.assertIn(wanted, message)
                self.assertEqual(message.count("\n"), 1)
                self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    main()
