"""Every malformed file of files/ is refused: exit code 2, exactly the message of messages.json, nothing written, in less
than 5 seconds and less than 1 GB of memory.

usage: replay_test.py TOOL [--write | --unlimited]

A sanitizer's build needs more memory and time: with --unlimited neither is held. With --write it writes messages.json anew, to be read before it is kept.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import data  # noqa: E402
import make  # noqa: E402
import models  # noqa: E402

FOLDER = pathlib.Path(__file__).parent
MESSAGES = FOLDER / "messages.json"
MOST_SECONDS, MOST_BYTES = 5, 10**9
PACKED = ("npz", "idx")  # their bytes depend on the version of zlib


def experiment(task, **options):
    at = "last_step"
    layers = [{"cell": "rnn", "units": 2}]
    return json.dumps({**models.EXPERIMENT, "data": {"task": task, "path": ".", **options}, "metrics": [],
                       "loss": "mse" if task == "arrays" else "cross_entropy",
                       "model": {"layers": layers, "readout": {"at": at}}}).encode()


# For each kind the files beside the malformed one, the name that it gets, and the arguments of the tool.
X = b"1\n2\n"
WRITE = ["data", "e.json", "--out", "out.npz"]
SETUPS = {
    "experiment": ({}, "e.json", ["check", "e.json"]),
    "weights": ({"x.csv": X}, "m.safetensors", ["predict", "m.safetensors", "--stream", "--input", "x.csv", "--output", "-"]),
    "npy": ({"m.safetensors": models.model()}, "x.npy", ["predict", "m.safetensors", "--input", "x.npy", "--output", "-"]),
    "csv": ({"m.safetensors": models.model()}, "x.csv", ["predict", "m.safetensors", "--input", "x.csv", "--output", "-"]),
    "npz": ({"e.json": experiment("arrays").replace(b'"."', b'"x.npz"')}, "x.npz", WRITE),
    "idx": ({"e.json": experiment("mnist"), "train-labels-idx1-ubyte": data.idx((1,), b"\0")}, "train-images-idx3-ubyte", WRITE),
    "ts": ({"e.json": experiment("ts", name="P"), "P_TEST.ts": data.TS.encode()}, "P_TRAIN.ts", WRITE),
    "wav": ({"e.json": experiment("speech_commands"), "validation_list.txt": b"", "testing_list.txt": b""}, "yes/a.wav", WRITE),
    "lines": ({"m.safetensors": models.model()}, "lines", ["predict", "m.safetensors", "--input", "-", "--output", "-"]),
    "table": ({"t/small.json": json.dumps(models.EXPERIMENT).encode()}, "t/table.json", ["table", "t", "--out", "runs"]),
}


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (4 * MOST_BYTES, 4 * MOST_BYTES))  # so that a failure ends before the machine


def lines_of(message):
    """The lines of a message without what comes after the first of a list of known names, which grows with the project."""
    shortened = re.sub(r" Known: .*", " Known: ...", message)
    return re.sub(r'(expected "\w+")( \| "\w+")+', r"\1 | ...", shortened).splitlines()


class Outcome:
    """The tool's result for a file."""

    def __init__(self, tool, kind, content):
        others, name, arguments = SETUPS[kind]
        with tempfile.TemporaryDirectory(prefix="lagtape-malformed-") as place:
            folder = pathlib.Path(place)
            for other, text in others.items():
                write(folder, other, text)
            write(folder, name, content)
            before = sorted(folder.rglob("*"))
            started = time.monotonic()
            stdin = content if kind == "lines" else b""
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
                given.write(stdin)
                given.seek(0)
                child = subprocess.Popen([tool, *arguments], cwd=folder, stdin=given, stdout=out, stderr=err,
                                         preexec_fn=limit if ReplayTest.is_limited else None)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                self.code = child.returncode
                self.seconds = time.monotonic() - started
                self.bytes = usage.ru_maxrss * 1024
                out.seek(0), err.seek(0)
                self.out = out.read()
                self.message = err.read().decode(errors="backslashreplace").replace(place, "FOLDER")
            self.wrote = sorted(folder.rglob("*")) != before


def stored(name):
    return (FOLDER / "files" / name).read_bytes()


class ReplayTest(unittest.TestCase):
    tool, is_limited = "", True

    def test_the_files_are_those_of_the_scripts(self):
        made = make.files()
        here = {path.relative_to(FOLDER / "files").as_posix() for path in (FOLDER / "files").rglob("*") if path.is_file()}
        self.assertEqual(here, set(made))
        for name, content in made.items():
            if not name.startswith(PACKED):
                self.assertEqual(stored(name), content, name)

    def test_every_file_is_refused_with_its_message(self):
        messages = json.loads(MESSAGES.read_text(encoding="utf-8"))
        self.assertEqual(set(messages), set(make.files()))
        self.assertGreaterEqual(len(messages), 150)
        for name, message in messages.items():
            with self.subTest(name):
                outcome = Outcome(self.tool, name.split("/")[0], stored(name))
                self.assertEqual(outcome.code, 2, outcome.message)
                self.assertEqual(lines_of(outcome.message), message)
                self.assertFalse(outcome.wrote, "something was written")
                if self.is_limited:
                    self.assertLess(outcome.seconds, MOST_SECONDS)
                    self.assertLess(outcome.bytes, MOST_BYTES)
                self.assertTrue(outcome.message.replace("\n", "").isprintable())

    def test_the_files_beside_them_are_sound(self):
        sound = {"npy": data.npy((3, 1), [1, 2, 3]), "csv": X, "lines": X, "weights": models.model()}
        for kind, content in sound.items():
            with self.subTest(kind):
                outcome = Outcome(self.tool, kind, content)
                self.assertEqual((outcome.code, outcome.message), (0, ""))


def write_messages(tool):
    messages = {}
    for name in make.files():
        outcome = Outcome(tool, name.split("/")[0], stored(name))
        messages[name] = lines_of(outcome.message)
        if outcome.code != 2 or outcome.wrote or outcome.seconds > 1 or outcome.bytes > MOST_BYTES / 4:
            print(f"{name}: exit code {outcome.code}, {outcome.seconds:.1f} s, {outcome.bytes / 1e6:.0f} MB: {outcome.message[:300]}")
    MESSAGES.write_text(json.dumps(messages, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    ReplayTest.tool = os.path.abspath(sys.argv.pop(1))
    if "--write" in sys.argv:
        shutil.rmtree(FOLDER / "files", ignore_errors=True)
        sys.argv = sys.argv[:1]
        make.main()
        write_messages(ReplayTest.tool)
    else:
        ReplayTest.is_limited = "--unlimited" not in sys.argv
        sys.argv = [argument for argument in sys.argv if argument != "--unlimited"]
        unittest.main()
