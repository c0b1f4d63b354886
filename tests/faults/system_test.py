"""Faults of a system during a training: a full file system, limits of file size and memory, a folder that may not be
written, another trainer in the same folder, signals, a clock that goes back. Afterwards `train --resume` ends with the
same bits as a run that nothing happened to, and the message said what failed.

usage: system_test.py TOOL [--count N]

N points of each kind, 3 by default. A full file system takes root, to mount a small one; without it that test is skipped.
"""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COUNT = 3
EXPERIMENT = {
    "name": "small", "data": {"task": "mackey_glass", "length": 300, "train": 4, "valid": 2, "test": 2},
    "model": {"layers": [{"cell": "tau_gru", "units": 8, "tau": 3}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse", "train": {"epochs": 12, "batch": 2},
}
TRAIN = ("train", "e.json", "--out", "run", "--quiet")


class SystemTest(unittest.TestCase):
    tool = ""
    table = {}

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="lagtape-system-")
        cls.addClassCleanup(place.cleanup)
        cls.home = pathlib.Path(place.name)
        (cls.home / "e.json").write_text(json.dumps(EXPERIMENT))
        started = time.monotonic()
        cls.finish("whole")
        cls.seconds = time.monotonic() - started
        cls.whole = cls.state(cls.home / "whole")
        cls.draws = random.Random(5)

    @classmethod
    def tearDownClass(cls):
        for story, (points, failed) in cls.table.items():
            print(f"{story:24} {points:4} points, {failed} of them ended the command", file=sys.stderr)

    @classmethod
    def state(cls, run):
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        return (run / "weights.safetensors").read_bytes(), [{**row, "seconds": 0} for row in rows]

    @classmethod
    def finish(cls, run, home=None):
        done = subprocess.run([cls.tool, "train", cls.home / "e.json", "--out", run, "--quiet", "--resume"],
                              cwd=home or cls.home, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())

    def setUp(self):
        shutil.rmtree(self.home / "run", ignore_errors=True)

    def note(self, story, ended):
        points, failed = self.table.get(story, (0, 0))
        self.table[story] = (points + 1, failed + bool(ended))

    def check_end(self, story, done, texts, home=None):
        """After a command that may have failed, with one of the texts: resumed, it ends with the same bits."""
        home = home or self.home
        message = done.stderr.decode()
        self.assertIn(done.returncode, (0, 1, 2), message)
        if done.returncode != 0:
            self.assertTrue(message.startswith("lagtape: "), message)
            self.assertTrue(any(text in message for text in texts), message)
        self.assertEqual(list((home / "run").rglob("*.tmp")) if (home / "run").exists() else [], [])
        self.finish("run", home)
        self.assertEqual(self.state(home / "run"), self.whole)
        self.note(story, done.returncode)

    def limited(self, limit, most):
        return subprocess.run([self.tool, *TRAIN], cwd=self.home, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(limit, (most, most)))

    def test_a_limit_of_file_size(self):
        largest = max(path.stat().st_size for path in (self.home / "whole").rglob("*") if path.is_file())
        for number in range(COUNT):
            self.setUp()
            done = self.limited(resource.RLIMIT_FSIZE, largest * (number + 1) // (COUNT + 1))
            self.check_end("file size", done, ["File too large"])

    def test_a_limit_of_memory(self):
        for number in range(COUNT):
            self.setUp()
            done = self.limited(resource.RLIMIT_AS, (40 + 160 * number // COUNT) << 20)
            if done.returncode == 127:  # the loader of shared libraries found no room
                self.note("memory, loader", True)
                continue
            self.check_end("memory", done, ["memory", "Resource temporarily unavailable", "thread"])

    def test_a_full_file_system(self):
        for number in range(COUNT):
            with tempfile.TemporaryDirectory(prefix="lagtape-full-") as place:
                size = 16 + 60 * number // COUNT
                mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", place], capture_output=True)
                if mounted.returncode != 0:
                    self.skipTest("a file system takes root to mount")
                try:
                    done = subprocess.run([self.tool, "train", self.home / "e.json", "--out", "run", "--quiet"], cwd=place,
                                          capture_output=True)
                    if done.returncode != 0:
                        self.assertIn(b"No space left on device", done.stderr)
                        self.assertIn(b"run/", done.stderr)
                    subprocess.run(["mount", "-o", "remount,size=10m", place], check=True)
                    self.check_end("full file system", done, ["No space left on device"], pathlib.Path(place))
                finally:
                    subprocess.run(["umount", place], check=True)

    @unittest.skipIf(os.geteuid() == 0 and shutil.which("setpriv") is None, "root may write everywhere")
    def test_a_folder_that_may_not_be_written(self):
        nobody = ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
        os.chmod(self.home, 0o755)
        for _ in range(COUNT):
            (self.home / "run").mkdir(mode=0o555, exist_ok=True)
            done = subprocess.run([*nobody, self.tool, *TRAIN, "--resume"], cwd=self.home, capture_output=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"Permission denied", done.stderr)
            self.assertEqual(list((self.home / "run").iterdir()), [])
            (self.home / "run").chmod(0o755)
            self.check_end("folder not writable", done, ["Permission denied"])
            self.setUp()

    def test_two_trainers_in_one_folder(self):
        for _ in range(COUNT):
            self.setUp()
            both = []
            for _ in range(2):
                both.append(subprocess.Popen([self.tool, *TRAIN, "--resume"], cwd=self.home, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.PIPE))
                time.sleep(self.draws.uniform(0, self.seconds))
            messages = [child.communicate()[1].decode() for child in both]
            codes = sorted(child.returncode for child in both)
            self.assertIn(codes, ([0, 0], [0, 2]), messages)  # the second begins after the first ended, or is refused
            self.assertEqual(self.state(self.home / "run"), self.whole)
            self.note("two trainers", codes[1])

    def test_signals(self):
        for number, codes in ((signal.SIGTERM, (130, -signal.SIGTERM)), (signal.SIGINT, (130, -signal.SIGINT)),
                              (signal.SIGHUP, (130, -signal.SIGHUP))):
            for _ in range(COUNT):
                self.setUp()
                child = subprocess.Popen([self.tool, *TRAIN], cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(self.draws.uniform(0, self.seconds))
                child.send_signal(number)
                message = child.communicate()[1]
                self.assertIn(child.returncode, (0, *codes), message)
                self.finish("run")
                self.assertEqual(self.state(self.home / "run"), self.whole)
                self.note(number.name, child.returncode)

    def test_a_reader_that_goes_away(self):
        for _ in range(COUNT):
            self.setUp()
            read, write = os.pipe()
            child = subprocess.Popen([self.tool, "train", "e.json", "--out", "run"], cwd=self.home, stdout=write, stderr=write)
            os.close(write)
            time.sleep(self.draws.uniform(0, self.seconds / 2))
            os.close(read)
            child.wait()
            self.finish("run")
            self.assertEqual(self.state(self.home / "run"), self.whole)
            self.note("SIGPIPE", child.returncode)

    def test_a_pause(self):
        for _ in range(COUNT):
            self.setUp()
            child = subprocess.Popen([self.tool, *TRAIN], cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(self.draws.uniform(0, self.seconds))
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            child.send_signal(signal.SIGCONT)
            self.assertEqual(child.wait(), 0, child.stderr.read())
            child.stderr.close()
            self.assertEqual(self.state(self.home / "run"), self.whole)
            self.note("SIGSTOP, SIGCONT", 0)

    def test_a_clock_that_goes_back(self):
        """To a run that is gone on with, its files come from the future."""
        for _ in range(COUNT):
            self.setUp()
            child = subprocess.Popen([self.tool, *TRAIN], cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.draws.uniform(0, self.seconds))
            child.kill()
            child.wait()
            future = time.time() + 10**8
            for path in (self.home / "run").rglob("*"):
                os.utime(path, (future, future))
            self.finish("run")
            self.assertEqual(self.state(self.home / "run"), self.whole)
            self.note("clock set back", 0)


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    SystemTest.tool = os.path.abspath(sys.argv.pop(1))
    if "--count" in sys.argv:
        at = sys.argv.index("--count")
        COUNT = int(sys.argv.pop(at + 1))
        sys.argv.pop(at)
    unittest.main()
