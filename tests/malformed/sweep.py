"""Sets every number of the shipped experiments, and of weights files of every cell, to 10^3 .. 10^12 in turn: the tool ends
with exit code 0 or 2, in less than 5 seconds of processor time and less than 1 GB of memory.

usage: sweep.py TOOL [--part sizes|experiments|weights|checkpoint] [--only TEXT] [--share S] [--seed N]

With a share below 1 that part of the commands is drawn, with the seed (1).
Sizes are files with very many parts, and models that cost much to build: their times grow with the file, and are printed.
Experiments go to `inspect` and `check`, weights to `predict --stream`, checkpoints to `train --resume`. Numbers that stand for
the same in several experiments (one task and key, one cell and key) are tried once. A run that is asked for on purpose may
take what it takes: counts of sequences, steps and epochs are left out.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/malformed"), str(ROOT / "tests/cli")]
import models  # noqa: E402
import shipped_experiments  # noqa: E402

POWERS = range(3, 13)
ASKED_FOR = ("length", "train", "valid", "test", "steps", "epochs")  # sequences that `check` makes, of that length
MOST_SECONDS, MOST_BYTES = 5, 10**9
MOST_OF_A_LAG = 4  # a lag of 10^7 steps asks for the memory of its states: so many times as much for "tau"
PREDICT = ["predict", "m.safetensors", "--stream", "--input", "x.csv", "--output", "-"]
TS_EXPERIMENT = json.dumps({**models.EXPERIMENT, "data": {"task": "ts", "path": ".", "name": "P"}, "metrics": [],
                            "loss": "cross_entropy", "model": {"layers": [{"cell": "rnn", "units": 2}],
                                                               "readout": {"at": "last_step"}}}).encode()


def numbers(value, path=()):
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from numbers(inner, (*path, at))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def changed(document, path, value):
    result = copy.deepcopy(document)
    at(result, path[:-1])[path[-1]] = value
    return result


def meaning(document, path):
    """The kind of a number: its path without indices, with the cells and the task around it."""
    named = [str(at(document, path[:k]).get("cell", "")) + str(at(document, path[:k]).get("layer", "")) +
             str(at(document, path[:k]).get("task", "")) for k in range(len(path)) if isinstance(at(document, path[:k]), dict)]
    return tuple(key for key in path if not isinstance(key, int)), tuple(named)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (20 * MOST_BYTES, 20 * MOST_BYTES))  # pages that are never written take none


def outcome(arguments, folder):
    """Exit code, seconds of processor time, bytes and the message of a command."""
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return (child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024,
                err.read().decode(errors="backslashreplace")[:300])


def sizes():
    """Files of very many parts, and models that cost much: at two sizes, so that a growth with the square is seen."""
    base = models.EXPERIMENT
    for count in (50_000, 100_000):
        keys = json.dumps({**base, **{f"key{i}": i for i in range(count)}}).encode()
        yield f"check {count} keys", {"e.json": keys}, ["check", "e.json"]
        layers = json.dumps({**base, "model": {"layers": [{"cell": "rnn", "units": 2}] * (count // 100)}}).encode()
        yield f"check {count // 100} layers", {"e.json": layers}, ["check", "e.json"]
        tensors = models.model({**models.TENSORS, **{f"more{i}": [1] for i in range(count)}})
        yield f"predict {count} tensors", {"m.safetensors": tensors, "x.csv": b"1\n"}, PREDICT
        classes = " ".join(f"c{i}" for i in range(count * 6 // 10))
        lines = "\n".join(f"1,2,3:c{i}" for i in range(count * 6 // 10))
        ts = f"@problemName P\n@univariate true\n@classLabel true {classes}\n@data\n{lines}\n".encode()
        yield (f"data {count * 6 // 10} classes", {"e.json": TS_EXPERIMENT, "P_TRAIN.ts": ts, "P_TEST.ts": ts},
               ["data", "e.json", "--out", "out.npz"])
        yield f"predict {count} lines", {"m.safetensors": models.model(), "x.csv": b"1\n" * count}, PREDICT
        equations = [f"a{i} = tanh(h + {i})" for i in range(count // 100)] + ["h' = " + " + ".join(f"a{i}" for i in range(count // 100))]
        yield f"check {count // 100} equations", {"e.json": json.dumps(models.with_cell("step", equations)).encode()}, ["check", "e.json"]
    for name, layer in (("lmu of order 512", {"cell": "lmu", "units": 2, "order": 512, "theta": 10}),
                        ("lmu of order 1024", {"cell": "lmu", "units": 2, "order": 1024, "theta": 10}),
                        ("lmu of order 4096", {"cell": "lmu", "units": 2, "order": 4096, "theta": 10}),
                        ("exp_rnn of 512", {"cell": "exp_rnn", "units": 512}), ("exp_rnn of 3000", {"cell": "exp_rnn", "units": 3000}),
                        ("exp_rnn of 40000", {"cell": "exp_rnn", "units": 40000}),
                        ("antisymmetric_rnn of 8000", {"cell": "antisymmetric_rnn", "units": 8000}),
                        ("lipschitz_rnn of 8000", {"cell": "lipschitz_rnn", "units": 8000})):
        text = json.dumps(models.changed(base, "model.layers.0", layer)).encode()
        yield "check " + name, {"e.json": text}, ["check", "e.json"]
        yield "predict " + name, {"m.safetensors": models.model_of(layer), "x.csv": b"1\n"}, PREDICT


def experiments():
    """Commands on shipped experiments with one number changed: (name, {file: bytes}, arguments)."""
    seen = set()
    for place, document in shipped_experiments.experiments(ROOT):
        for path in numbers(document):
            if path[-1] in ASKED_FOR or (key := meaning(document, path)) in seen:
                continue
            seen.add(key)
            for power in POWERS:
                text = json.dumps(changed(document, path, 10**power)).encode()
                name = f"{place[0].parent.name} {document['name']} {'.'.join(map(str, path))} = 1e{power}"
                yield "inspect " + name, {"e.json": text}, ["inspect", "e.json"]
                yield "check " + name, {"e.json": text}, ["check", "e.json"]


def split(content):
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + length]), content[8 + length:]


def joined(header, buffer):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + buffer


def trained(tool, folder):
    """A run of each cell, trained for one step."""
    for row in sorted((ROOT / "tests" / "cells" / "rows").glob("*.json")):
        for number, options in enumerate(json.loads(row.read_text())["options"]):
            layers = [{"cell": row.stem, **options}]
            if row.stem == "s4d":
                layers.insert(0, {"layer": "linear", "units": options["units"]})
            name = f"{row.stem}-{number}"
            experiment = {"name": name, "data": {"task": "random", "length": 6, "input": 2, "output": 1, "train": 2},
                          "model": {"layers": layers, "readout": {"at": "every_step"}}, "loss": "mse", "metrics": [],
                          "train": {"epochs": 2, "batch": 2}}
            (folder / "e.json").write_text(json.dumps(experiment))
            done = subprocess.run([tool, "train", "e.json", "--out", name, "--quiet"], cwd=folder, capture_output=True)
            if done.returncode != 0:
                raise SystemExit(f"{name}: {done.stderr.decode()}")
            yield name, folder / name


def weights(tool, folder):
    for name, run in trained(tool, folder):
        header, buffer = split((run / "weights.safetensors").read_bytes())
        metadata = header["__metadata__"]
        inner = json.loads(metadata["experiment"])
        places = [(path, lambda value, path=path: changed(header, path, value)) for path in numbers(header)]
        places += [(("experiment", *path), lambda value, path=path: changed(
            header, ("__metadata__", "experiment"), json.dumps(changed(inner, path, value)))) for path in numbers(inner)]
        places += [((key,), lambda value, key=key: changed(header, ("__metadata__", key), str(value)))
                   for key in ("input", "output", "classes")]
        for path, change in places:
            for power in POWERS:
                content = joined(change(10**power), buffer)
                yield (f"predict {name} {'.'.join(map(str, path))} = 1e{power}", {"m.safetensors": content, "x.csv": b"1,2\n3,4\n"},
                       ["predict", "m.safetensors", "--stream", "--input", "x.csv", "--output", "-"])


def checkpoints(tool, folder):
    for name, run in trained(tool, folder):
        if not name.endswith("-0"):
            continue
        header, buffer = split((run / "checkpoint" / "state.safetensors").read_bytes())
        others = {f"run/{path.relative_to(run)}": path.read_bytes() for path in run.rglob("*") if path.is_file()}
        experiment = json.loads(others["run/experiment.json"])
        experiment["train"]["epochs"] = 3
        text = json.dumps(experiment).encode()
        for key, value in header["__metadata__"].items():
            texts = [(key, str(10**power)) for power in POWERS]
            try:
                document = json.loads(value)
            except ValueError:
                document = None
            if isinstance(document, (dict, list)):
                texts = [(f"{key}.{'.'.join(map(str, path))}", json.dumps(changed(document, path, 10**power)))
                         for path in numbers(document) if path for power in POWERS]
            for place, new in texts:
                content = joined(changed(header, ("__metadata__", key), new), buffer)
                yield (f"resume {name} {place} = {new[:40]}", {**others, "e.json": text, "run/checkpoint/state.safetensors": content},
                       ["train", "e.json", "--out", "run", "--resume", "--quiet"])


def tried(tool, case):
    name, files, arguments = case
    with tempfile.TemporaryDirectory(prefix="lagtape-sweep-") as place:
        for file, content in files.items():
            path = pathlib.Path(place) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        code, seconds, size, message = outcome([tool, *arguments], place)
    refused = code == 1 and "out of memory" in message  # by the limit of addresses above, which a machine may not have
    most = MOST_OF_A_LAG if "tau" in name.split(" = ")[0].split(".") else 1
    bad = (code not in (0, 2, 3) and not refused) or seconds > most * MOST_SECONDS or size > most * MOST_BYTES
    return name, bad, code, seconds, size, message


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    tool, *rest = sys.argv[1:]
    tool = os.path.abspath(tool)
    part = rest[rest.index("--part") + 1] if "--part" in rest else "all"
    only = rest[rest.index("--only") + 1] if "--only" in rest else ""
    share = float(rest[rest.index("--share") + 1]) if "--share" in rest else 1
    draws = random.Random(int(rest[rest.index("--seed") + 1]) if "--seed" in rest else 1)
    count, bad, slowest, largest = 0, 0, (0, ""), (0, "")
    with tempfile.TemporaryDirectory(prefix="lagtape-sweep-") as place, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(place)
        parts = {"sizes": sizes, "experiments": experiments, "weights": lambda: weights(tool, folder),
                 "checkpoint": lambda: checkpoints(tool, folder)}
        for cases in [parts[part]] if part != "all" else parts.values():
            for name, is_bad, code, seconds, size, message in pool.map(lambda case: tried(tool, case),
                                                                       (case for case in cases()
                                                                        if only in case[0] and draws.random() < share)):
                count += 1
                slowest, largest = max(slowest, (seconds, name)), max(largest, (size, name))
                if name.split()[0] in ("check", "predict", "data") and cases is sizes:
                    print(f"{name}: exit code {code}, {seconds:.1f} s, {size / 1e6:.0f} MB: {message.strip()[:120]}", flush=True)
                if is_bad:
                    bad += 1
                    print(f"{name}: exit code {code}, {seconds:.1f} s, {size / 1e6:.0f} MB: {message.strip()}", flush=True)
    print(f"{count} commands, {bad} that do not hold; slowest {slowest[0]:.1f} s ({slowest[1]}), "
          f"largest {largest[0] / 1e6:.0f} MB ({largest[1]})")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
