"""Compares delay equations with results from other sources: python3 proofs.py LAGTAPE FOLDER [gradients|orders|recovery|lyapunov|tanks TABLE|speed PYTHON|diffrax PYTHON] ...

Files and charts go to FOLDER. `tanks` needs the table of the Cascaded Tanks benchmark (uEst, uVal, yEst, yVal) and follows the rules
of nonlinearbenchmark.org: the model is fitted only to the first record, and the first 50 readings of the second are used to
find its initial states. `speed` needs a Python with JiTCDDE, `diffrax` one with diffrax. The others need nothing.
"""

import csv
import json
import math
import pathlib
import random
import resource
import shutil
import subprocess
import sys

EQUATIONS = pathlib.Path(__file__).resolve().parent / "equations"
#: Computed with a 60-digit Taylor series: the sum of x and y at t = 0, 0.1 ... 1, and its derivatives.
LOTKA_VOLTERRA = {"sum": 43.436543040049015, "alpha": 13.390754502692, "beta": -28.845975921144, "delta": 8.804196246198,
                  "gamma": -8.410750011072, "lag": -10.368529288477, "x0": 28.530384887668, "y0": 3.668574723632}
MACKEY_GLASS = {"a": 0.2, "b": 0.1, "p": 10, "tau": 17, "y0": 0.9}


class Proofs:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder).resolve()
        (self.folder / "equations").mkdir(parents=True, exist_ok=True)
        for file in EQUATIONS.glob("*.json"):
            shutil.copy(file, self.folder / "equations")

    def run(self, command, name, *arguments):
        done = subprocess.run([self.tool, command, self.folder / "equations" / f"{name}.json", *map(str, arguments)],
                              capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout

    def solve(self, name, times, *arguments):
        return json.loads(self.run("solve", name, "--times", times, "--json", *arguments))

    def gradients(self):
        """The sum of the Lotka-Volterra readings and its derivatives, for 5 to 40 steps per lag."""
        print("by", *LOTKA_VOLTERRA)
        print("equation", *LOTKA_VOLTERRA.values())
        for parts in (5, 10, 20, 40):
            found = self.solve("lotka_volterra", "0:1:0.1", "--derivatives", "--set", f"cells.lotka_volterra.solver.h.parts={parts}")
            total = lambda of: sum(of["x"]) + sum(of["y"])
            print(parts, "steps a lag", total(found["y"]), *(total(found["d"][name]) for name in list(LOTKA_VOLTERRA)[1:]))
        self.run("solve", "lotka_volterra", "--times", "0:20:0.05", "--plot", "lotka_volterra.svg")

    def orders(self):
        """How fast values and derivatives with respect to the lag converge."""
        for method in ("euler", "heun", "rk4"):
            cell = "cells.lotka_volterra.solver."
            found = json.loads(self.run("solve", "lotka_volterra", "--times", "1", "--order", "--json", "--set", f"{cell}method={method}",
                                        "--set", f"{cell}h.parts={64 if method == 'euler' else 8}"))["order"]
            print(method, {of: [round(order, 3) for order in found[of]["orders"]] for of in ("y", "lag")})

    def recovery(self):
        """Mackey-Glass from 200 uneven readings with an error of 0.05, starting 30 % off."""
        draw = random.Random(1)
        times = sorted(draw.uniform(0, 300) for _ in range(200))
        (self.folder / "times.csv").write_text("t\n" + "".join(f"{t!r}\n" for t in times))
        params = [word for name, value in MACKEY_GLASS.items() for word in ("--param", f"{name}={value}")]
        values = self.solve("mackey_glass", "times.csv", *params)["y"]["y"]
        (self.folder / "readings.csv").write_text("t,y\n" + "".join(f"{t!r},{y + draw.gauss(0, 0.05)!r}\n" for t, y in zip(times, values)))
        print(self.run("fit", "mackey_glass", "--plot", "mackey_glass_fit", "--profile", "tau"))
        self.run("solve", "mackey_glass", "--times", "300:800:0.25", *params, "--plot", "mackey_glass.svg", "--phase", "y(t - tau),y")

    def lyapunov(self):
        """The largest Lyapunov exponent of Mackey-Glass: the growth of a window's derivatives with respect to y0, t = 1000 to 60,000."""
        cell = "cells.mackey_glass."
        fixed = [word for name in ("a", "b", "p", "tau") for word in
                 ("--set", f'{cell}params.{name}={{"start": {MACKEY_GLASS[name]}, "train": false}}')]
        ends, exponents = (1000, 60000), []
        for y0 in (0.5, 0.7, 0.9, 1.1):
            times = ",".join(str(end - 17 + k / 4) for end in ends for k in range(69))
            slopes = self.solve("mackey_glass", times, "--derivatives", *fixed, "--set", f"{cell}solver.h.parts=68",
                                "--param", f"y0={y0}")["d"]["y0"]["y"]
            sizes = [max(map(abs, window)) for window in (slopes[:69], slopes[69:])]
            norms = [math.log(size) + math.log(sum((slope / size) ** 2 for slope in window)) / 2
                     for size, window in zip(sizes, (slopes[:69], slopes[69:]))]
            exponents.append((norms[1] - norms[0]) / (ends[1] - ends[0]))
        print("exponents", exponents, "mean", sum(exponents) / len(exponents))

    def tanks(self, table):
        """Cascaded Tanks from physics, and with a small network on the right-hand side."""
        rows = list(csv.DictReader(open(table, encoding="utf-8")))[:1024]
        write = lambda name, u, y, count: (self.folder / name).write_text(
            "t,u,y\n" + "".join(f"{t},{row[u]},{row[y]}\n" for t, row in enumerate(rows[:count])))
        write("tanks_train.csv", "uEst", "yEst", 1024)
        write("tanks_begin.csv", "uVal", "yVal", 50)
        (self.folder / "u.csv").write_text("t,u\n" + "".join(f"{t},{row['uVal']}\n" for t, row in enumerate(rows)))
        for name in ("tanks", "tanks_hybrid"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            fitted = self.run("fit", name, "--json", "--plot", name)
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            (self.folder / "fitted.json").write_text(fitted)
            begin = json.loads(self.run("fit", name, "--json", "--start", "fitted.json", "--set", "data.path=tanks_begin.csv",
                                        "--set", 'fit={"only": ["x0", "y0"]}'))["params"]
            first = [word for state, row in begin.items() for word in ("--param", f"{state}={row['estimate']!r}")]
            levels = self.solve(name, "0:1023:1", "--fit", "fitted.json", "--input", "u.csv", *first)["y"]["y"]
            errors = [level - float(row["yVal"]) for level, row in zip(levels, rows)][50:]
            print(name, "train", json.loads(fitted)["rmse"], "test", math.sqrt(sum(error ** 2 for error in errors) / len(errors)),
                  f"{seconds:.1f} s of processor time")

    def speed(self, python):
        """Mackey-Glass for 100,000 time units, compared with JiTCDDE's compiled solution: CPU seconds."""
        params = [word for name, value in MACKEY_GLASS.items() for word in ("--param", f"{name}={value}")]
        for parts in (17, 34, 68):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            found = self.solve("mackey_glass", "100,100000", "--set", f"cells.mackey_glass.solver.h.parts={parts}", *params)["y"]["y"]
            print(f"{parts} steps a lag", resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, "s; y(100)", found[0])
        for tolerance in (1e-5, 1e-8):
            script = f"""
import time
begin = time.process_time()
from jitcdde import jitcdde, t, y
z = y(0, t - 17)
equation = jitcdde([0.2 * z / (1 + z ** 10) - 0.1 * y(0)], verbose=False)
equation.constant_past([0.9])
equation.set_integration_parameters(rtol={tolerance}, atol={tolerance})
equation.compile_C()
compiled = time.process_time()
equation.step_on_discontinuities()
at_100 = equation.integrate(100)[0]
equation.integrate(100000)
print("compiled in", compiled - begin, "s, solved in", time.process_time() - compiled, "s; y(100)", at_100)
"""
            print("JiTCDDE, tolerance", tolerance, subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.strip())

    def diffrax(self, python):
        """An equation without delay, 10,000 steps with derivatives with respect to four params: CPU seconds compared with diffrax."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = self.solve("predator_prey", "100", "--derivatives")
        print("lagtape, the whole command", resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, "s; x(100) and by a",
              found["y"]["x"][0], found["d"]["a"]["x"][0])
        script = """
import time, jax
jax.config.update("jax_enable_x64", True)
import diffrax, jax.numpy as jnp
term = diffrax.ODETerm(lambda t, y, a: jnp.stack([a[0] * y[0] - a[1] * y[0] * y[1], a[2] * y[0] * y[1] - a[3] * y[1]]))
def x(a):
    return diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 100.0, 0.01, jnp.array([10.0, 5.0]), args=a, max_steps=10008,
                               stepsize_controller=diffrax.ConstantStepSize(), adjoint=diffrax.ForwardMode()).ys[0]
both = jax.jit(lambda a: (x(a), jax.jacfwd(x)(a)))
a = jnp.array([1.1, 0.4, 0.1, 0.4])
begin = time.perf_counter()
jax.block_until_ready(both(a))
compiled = time.perf_counter() - begin
begin = time.process_time()
y, d = jax.block_until_ready(both(a))
print("compiled in", compiled, "s, solved in", time.process_time() - begin, "s; x(100) and by a", y[0], d[0, 0])
"""
        print("diffrax, Tsit5 in even steps", subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.strip())


def main():
    proofs = Proofs(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2])
    todo = sys.argv[3:] or ["gradients", "orders", "recovery", "lyapunov"]
    while todo:
        name = todo.pop(0)
        getattr(proofs, name)(*([todo.pop(0)] if name in ("tanks", "speed", "diffrax") else []))


if __name__ == "__main__":
    main()
