"""Folders of searches: runs that are killed, shared by processes, of another search, and of a smaller one since."""

import fcntl
import math
import os
import random
import signal
import time

from search_test import SEARCH, SMALL, SearchTool
from tool import changed, main, slow


class SearchFolderTest(SearchTool):
    def test_the_best_is_named_when_the_search_was_smaller_since(self):
        best = self.search({**SEARCH, "runs": 6})["ranking"][0]
        self.assertNotEqual(best, "0000")
        self.search({**SEARCH, "runs": 1})
        shown = self.run_tool("search", "search.json", "--out", "out", "--runs", 6, "--show")[0]
        self.assertIn(f"the best run is out/runs/{best}\n", shown)
        shown = self.run_tool("search", "search.json", "--out", "out", "--runs", 1, "--show")[0]
        self.assertIn("the best run is out/best\n", shown)

    def test_another_search_in_the_folder_is_refused(self):
        self.search(SEARCH)
        self.write("search.json", {**SEARCH, "ranges": {"/optimizer/lr": {"log_uniform": [1e-4, 1]}}})
        _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
        self.assertIn("another search: /search/ranges", err)
        self.write("search.json", SEARCH)
        self.run_tool("search", "search.json", "--out", "out", "--set", "train.epochs=4", code=2)
        self.write("full/of/something.txt", "mine")
        self.assertIn("not empty", self.run_tool("search", "search.json", "--out", "full", code=2)[1])

    def test_links_in_the_folder_are_refused_and_what_they_lead_to_stays(self):
        """A folder may come from a stranger: a search writes into its own files only."""
        self.search(SEARCH)
        kept = self.folder / "kept"
        for name in ("search.json", "results.jsonl", "runs", "runs/0001", "runs/0001.end.json"):
            path, aside = self.folder / "out" / name, self.folder / "aside"
            had = path.exists()
            if had:
                path.rename(aside)
            if name in ("runs", "runs/0001"):
                kept.mkdir()
            else:
                kept.write_text('{"state": "unfinished"}')
            path.symlink_to(kept)
            _, message = self.run_tool("search", "search.json", "--out", "out", "--runs", 8, code=2)
            self.assertIn(f"out/{name}: is a link", message)
            path.unlink()
            if kept.is_dir():
                kept.rmdir()  # fails unless it is empty
            else:
                self.assertEqual(kept.read_text(), '{"state": "unfinished"}')
                kept.unlink()
            if had:
                aside.rename(path)
        self.search(SEARCH)

    @slow
    def test_forty_runs_killed_ten_times_are_all_there_once(self):
        search = {**SEARCH, "runs": 40}
        self.write("small.json", changed(SMALL, train__epochs=60))
        whole = self.search(search, out="whole")
        draw, kills = random.Random(1), 0
        for _ in range(10):
            process = self.start("search", "search.json", "--out", "out", "--jobs", 2, "--quiet")
            time.sleep(draw.uniform(0.05, 0.4))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
            process.communicate()
        self.assertGreater(kills, 7)  # the search is long enough to be killed
        result = self.search(search)
        self.assertEqual([run["run"] for run in result["runs"]], [f"{i:04d}" for i in range(40)])
        for run, other in zip(result["runs"], whole["runs"]):
            self.assertEqual({**run, "seconds": 0}, {**other, "seconds": 0})
            name = "runs/" + run["run"]
            self.assertEqual(self.weights(f"out/{name}"), self.weights(f"whole/{name}"))
            self.assertEqual(len((self.folder / "out" / name / "metrics.jsonl").read_text().splitlines()), 60)
        self.assertEqual(result["ranking"], whole["ranking"])

    def test_what_a_killed_search_left_is_removed(self):
        search = {**SEARCH, "runs": 2}
        self.search(search)
        left = [self.folder / "out" / name for name in (".results.jsonl.1-1.tmp", ".best-123", "runs/.0000.end.json.1-1.tmp")]
        for file in left:
            file.write_text("half a li")
        (self.folder / "out/runs/0000/summary.json").unlink()
        self.search(search)
        self.assertEqual([file.name for file in left if file.exists()], [])

    def test_a_run_whose_folder_is_held_for_a_while_is_not_lost(self):
        """As after a kill, when a training of the killed search has not yet come to its lock."""
        self.write("search.json", {**SEARCH, "runs": 12})
        process, held = self.start("search", "search.json", "--out", "out", "--jobs", 1, "--quiet"), 0
        for run in (f"{i:04d}" for i in range(12)):
            folder = self.folder / "out/runs" / run
            while not (self.folder / "out/claims" / run).exists():
                self.assertIsNone(process.poll())
                time.sleep(0.0005)
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                time.sleep(0.2)
            except BlockingIOError:
                pass  # the training was faster
            os.close(lock)
            log = self.folder / "out/runs" / (run + ".log")
            held += log.exists() and "is in use" in log.read_text()
        self.assertEqual(process.communicate(timeout=120)[1], b"")
        self.assertGreater(held, 0)
        self.assertEqual([run["state"] for run in self.results()], ["done"] * 12)

    @slow
    def test_processes_share_a_search(self):
        self.write("small.json", changed(SMALL, train__epochs=40))
        self.write("search.json", {**SEARCH, "runs": 24})
        processes = [self.start("search", "search.json", "--out", "out", "--jobs", 1) for _ in range(3)]
        said = [process.communicate(timeout=300)[1].decode() for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0, 0], said)
        trained = [line.split("run ")[1][:4] for text in said for line in text.splitlines() if " after " in line]
        self.assertEqual(sorted(trained), [f"{i:04d}" for i in range(24)])
        self.assertGreater(sum(" after " in text for text in said), 1, "one process did all the work")
        self.assertTrue(all(math.isfinite(run["rmse"]) for run in self.search({**SEARCH, "runs": 24})["runs"]))


if __name__ == "__main__":
    main()
