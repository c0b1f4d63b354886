"""Sets every number of the shipped experiments, and of weights files of every cell, to 10^3 .. 10^12 in turn: the tool ends
with exit code 0 or 2, in less than 5 seconds and less than 1 GB of memory.

usage: sweep.py TOOL [--part experiments|weights|checkpoint] [--only TEXT]

Experiments go to `inspect` and `check`, weights to `predict --stream`, checkpoints to `train --resume`. Numbers that stand for
the same in several experiments (one task and key, one cell and key) are tried once. A run that is asked for on purpose may
take what it takes: counts of sequences, steps and epochs are left out.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
POWERS = range(3, 13)
MOST_SECONDS, MOST_BYTES = 5, 10**9


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
    """What a number stands for: its path without indices, with the cells and the task around it."""
    named = [str(at(document, path[:k]).get("cell", "")) + str(at(document, path[:k]).get("layer", "")) +
             str(at(document, path[:k]).get("task", "")) for k in range(len(path)) if isinstance(at(document, path[:k]), dict)]
    return tuple(key for key in path if not isinstance(key, int)), tuple(named)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (6 * MOST_BYTES, 6 * MOST_BYTES))


def outcome(arguments, folder):
    """Exit code, seconds, bytes and the message of a command."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return (child.returncode, time.monotonic() - started, usage.ru_maxrss * 1024,
                err.read().decode(errors="backslashreplace")[:300])


def experiments():
    """Commands on shipped experiments with one number changed: (name, {file: bytes}, arguments)."""
    seen = set()
    for file in sorted((ROOT / "tools" / "experiments").rglob("*.json")):
        try:
            document = json.loads(file.read_text())
        except ValueError:
            continue
        if not isinstance(document, dict) or "model" not in document or "data" not in document:
            continue
        for path in numbers(document):
            if (key := meaning(document, path)) in seen:
                continue
            seen.add(key)
            for power in POWERS:
                text = json.dumps(changed(document, path, 10**power)).encode()
                name = f"{file.relative_to(ROOT / 'tools' / 'experiments')} {'.'.join(map(str, path))} = 1e{power}"
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
    bad = code not in (0, 2, 3) or seconds > MOST_SECONDS or size > MOST_BYTES
    return name, bad, code, seconds, size, message


def main():
    tool, *rest = sys.argv[1:]
    tool = os.path.abspath(tool)
    part = rest[rest.index("--part") + 1] if "--part" in rest else "all"
    only = rest[rest.index("--only") + 1] if "--only" in rest else ""
    count, bad, slowest, largest = 0, 0, (0, ""), (0, "")
    with tempfile.TemporaryDirectory(prefix="lagtape-sweep-") as place, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(place)
        parts = {"experiments": lambda: experiments(), "weights": lambda: weights(tool, folder),
                 "checkpoint": lambda: checkpoints(tool, folder)}
        for cases in [parts[part]] if part != "all" else parts.values():
            for name, is_bad, code, seconds, size, message in pool.map(lambda case: tried(tool, case),
                                                                       (case for case in cases() if only in case[0])):
                count += 1
                slowest, largest = max(slowest, (seconds, name)), max(largest, (size, name))
                if is_bad:
                    bad += 1
                    print(f"{name}: exit code {code}, {seconds:.1f} s, {size / 1e6:.0f} MB: {message.strip()}", flush=True)
    print(f"{count} commands, {bad} that do not hold; slowest {slowest[0]:.1f} s ({slowest[1]}), "
          f"largest {largest[0] / 1e6:.0f} MB ({largest[1]})")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
