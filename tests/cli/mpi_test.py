"""Trainings that mpirun starts: the bits of one process, whatever happens to a rank. Runs where the tool has MPI."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main

HAS_MPI = os.environ.get("LAGTAPE_MPI") == "ON"
BATCHES = {"data__train": 64, "data__valid": 48, "train__batch": 64}


class WithoutMpi(ToolTest):
    @unittest.skipIf(HAS_MPI, "this tool has MPI")
    def test_a_tool_without_mpi_says_how_to_get_one(self):
        file = self.write("small.json", EXPERIMENT)
        for name, size, code in (("OMPI_COMM_WORLD_SIZE", "2", 2), ("PMI_SIZE", "2", 2), ("PMI_SIZE", "1", 0)):
            process = self.start("train", file, "--quiet", env={**os.environ, name: size})
            _, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, code, err)
            self.assertEqual((self.folder / "runs").exists(), code == 0)
            if code:
                self.assertIn("built without MPI. Build it with -DLAGTAPE_MPI=ON (Debian: libopenmpi-dev)", err.decode())


@unittest.skipUnless(HAS_MPI, "not run: this tool has no MPI (-DLAGTAPE_MPI=ON)")
class WithMpi(ToolTest):
    def command(self, ranks, *args):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), self.tool, *map(str, args)]

    def on_ranks(self, ranks, *args, code=0):
        done = subprocess.run(self.command(ranks, *args), cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_ranks_have_the_bits_of_one_process(self):
        layers = [{"layer": "batch_norm"}, {"cell": "lem", "units": 8}, {"layer": "dropout", "rate": 0.1}, {"cell": "gru", "units": 5}]
        for name, experiment in (
                ("one", changed(EXPERIMENT, **BATCHES)), ("classes", changed(CLASSIFIER, **BATCHES, train__epochs=3)),
                ("mixed", changed(EXPERIMENT, **BATCHES, model__layers=layers, data__length=60)),
                ("pieces", changed(EXPERIMENT, **BATCHES, train__truncate=100))):
            file = self.write(f"{name}.json", experiment)
            self.run_tool("train", file, "--out", name, "--quiet")
            for ranks in (2, 4):
                out = self.on_ranks(ranks, "train", file, "--out", f"{name}-{ranks}", "--threads", 1 + ranks // 4).stdout
                self.assertEqual(out.count("parameters"), 1, out)
                self.assertEqual(self.weights(f"{name}-{ranks}"), self.weights(name), (name, ranks))
                rows = [[{key: value for key, value in json.loads(line).items() if key != "seconds"}
                         for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
                        for run in (name, f"{name}-{ranks}")]
                self.assertEqual(rows[0], rows[1])

    def long_run(self):
        file = self.write("long.json", changed(EXPERIMENT, **BATCHES, train__epochs=150))
        self.run_tool("train", file, "--out", "whole", "--quiet")
        return file

    def begun(self, file, run, ranks):
        """A training on so many ranks that has saved its state after some epochs."""
        process = subprocess.Popen(self.command(ranks, "train", file, "--out", run), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        metrics = self.folder / run / "metrics.jsonl"
        for _ in range(3000):
            if metrics.exists() and metrics.read_text().count("\n") >= 3:
                return process
            self.assertIsNone(process.poll(), "the training ended too early")
            time.sleep(0.01)
        self.fail("the training did not begin")

    def ranks_of(self, process):
        out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
        return [int(pid) for pid in out.split()]

    def finish_and_compare(self, file, run, ranks):
        done = self.on_ranks(ranks, "train", file, "--out", run, "--resume")
        self.assertIn("resuming after step", done.stderr)
        self.assertEqual(self.weights(run), self.weights("whole"))

    def test_a_lost_rank_ends_the_run_which_others_finish(self):
        file = self.long_run()
        for number, (lost, ranks) in enumerate(((0, 1), (1, 2), (3, 4))):
            process = self.begun(file, f"lost-{number}", 4)
            os.kill(self.ranks_of(process)[lost], signal.SIGKILL)
            _, err = process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(err, r"signal 9|rank .* is lost")
            self.finish_and_compare(file, f"lost-{number}", ranks)

    def test_a_stopped_run_is_saved(self):
        file = self.long_run()
        process = self.begun(file, "stopped", 2)
        os.kill(self.ranks_of(process)[0], signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(re.findall("interrupted after step", err)), 1, err)
        self.finish_and_compare(file, "stopped", 4)

    def test_ranks_with_files_of_their_own_are_refused_and_none_waits_for_ever(self):
        rows = [f"{n % 7},{n % 5}" for n in range(400)]
        for name, text in (("same.csv", rows), ("other.csv", rows[:200] + ["6,4"] + rows[201:])):
            self.write(name, "a,b\n" + "\n".join(text) + "\n")
        data = {"task": "series", "path": "DATA", "window": 20, "input": ["a", "b"], "target": ["a"]}
        self.write("series.json", changed(EXPERIMENT, data=data))
        for name, message in (("other.csv", "rank 1 has another training set than rank 0"), ("missing.csv", "rank 1: .*missing.csv")):
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
            for path in ("same.csv", name):
                command += ["-n", "1", self.tool, "train", "series.json", "--out", "run", "--set", f"data.path={path}", ":"]
            begin = time.monotonic()
            done = subprocess.run(command[:-1], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, message)
            self.assertLess(time.monotonic() - begin, 30)
            self.assertFalse((self.folder / "run" / "metrics.jsonl").exists())

    def test_a_rank_that_is_stopped_for_a_time_or_slow_changes_no_bit(self):
        file = self.long_run()
        process = self.begun(file, "slow", 3)
        ranks = self.ranks_of(process)
        for rank in ranks * 3:
            os.kill(rank, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(rank, signal.SIGCONT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.weights("slow"), self.weights("whole"))

    def test_errors_are_told_once(self):
        file = self.write("wrong.json", changed(EXPERIMENT, model__layers=[{"cell": "gruu"}]))
        err = self.on_ranks(4, "train", file, code=2).stderr
        self.assertEqual(err.count("gruu"), 1, err)
        file = self.write("small.json", changed(EXPERIMENT, **BATCHES))
        self.on_ranks(2, "train", file, "--out", "run")
        err = self.on_ranks(3, "train", file, "--out", "run", code=2).stderr
        self.assertEqual(err.count("exists already"), 1, err)
        for option in (["--find-lr", "rates.svg"], ["--dry-run"], ["--seeds", "2"]):
            err = self.on_ranks(2, "train", file, *option, code=2).stderr
            self.assertEqual(err.count("is not for several processes"), 1, err)


if __name__ == "__main__":
    main()
