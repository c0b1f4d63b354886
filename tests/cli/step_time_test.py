"""Built-in cells whose input says how long each step is: gradients, plans, threads, streams and C."""

import json
import math
import subprocess

from tool import ToolTest, main

CELLS = {"tau_gru": {"units": 4, "tau": 3}, "lem": {"units": 4}, "cornn": {"units": 4, "dt": 0.3, "gamma": 2, "epsilon": 0.5},
         "unicornn": {"units": 4, "layers": 2, "dt": 0.3}}


class StepTimeTest(ToolTest):
    def test_time_of_each_step_out_of_the_data(self):
        time, rows = 0.0, []
        for n in range(200):
            step = 0.5 + 0.4 * math.sin(1.7 * n)
            time += step
            rows.append(f"{math.sin(0.4 * time):.6f},{step:.6f}")
        self.write("uneven.csv", "v,gap\n" + "\n".join(rows) + "\n")
        for name, options in CELLS.items():
            with self.subTest(name):
                layer = {"cell": name, **options, "reads": {"dt": -1}}
                experiment = {"name": name, "data": {"task": "series", "path": "uneven.csv", "input": ["v", "gap"], "target": ["v"], "window": 12, "normalize": False},
                              "model": {"layers": [layer], "readout": {"at": "every_step"}}, "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01},
                              "train": {"epochs": 1, "batch": 4}}
                self.write("e.json", experiment)
                self.assertLess(json.loads(self.run_tool("check", "e.json", "--gradients", "--json")[0])["max_rel_error"], 1e-6)
                runs = []
                for i, arguments in enumerate((("--set", "train.memory=full"), ("--set", "train.memory=checkpoint"), ("--threads", "2"))):
                    self.run_tool("train", "e.json", "--out", f"{name}-{i}", "--quiet", *arguments)
                    self.run_tool("predict", f"{name}-{i}", "--input", "uneven.csv", "--output", "p.csv")
                    runs.append((self.folder / "p.csv").read_text())
                self.assertEqual(runs[1:], runs[:1] * 2)
                still = "v,gap\n" + "".join(f"{row.split(',')[0]},1\n" for row in rows)  # other gaps say something else
                self.write("even.csv", still)
                self.run_tool("predict", f"{name}-0", "--input", "even.csv", "--output", "q.csv")
                self.assertNotEqual((self.folder / "q.csv").read_text(), runs[0])
                self.write("x.csv", "\n".join(rows) + "\n")
                for way in ((), ("--stream",)):
                    self.run_tool("predict", f"{name}-0", "--input", "x.csv", "--output", "s.csv" if way else "b.csv", *way)
                self.assertEqual((self.folder / "s.csv").read_text(), (self.folder / "b.csv").read_text())
                self.run_tool("export", f"{name}-0", "--to", "c99", "--output", "model.c")
                self.write("main.c", '#include "model.c"\nint main(void) { return model_self_test(); }\n')
                subprocess.run(["cc", "-std=c99", "-O1", "-Dmodel_SELF_TEST", "main.c", "-o", "model", "-lm"], cwd=self.folder, check=True)
                subprocess.run(["./model"], cwd=self.folder, check=True, capture_output=True)
        self.write("e.json", {**experiment, "model": {"layers": [{**layer, "reads": {"dt": 5}}]}})
        self.refused(["the input has 2 columns"], "check", "e.json")
        self.write("e.json", {**experiment, "model": {"layers": [{**layer, "reads": {"time": -1}}]}})
        self.refused(["/model/layers/0/reads"], "check", "e.json")


if __name__ == "__main__":
    main()
