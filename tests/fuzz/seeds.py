"""Sound files for the fuzzers to begin with, a folder for each; the malformed files of a format are seeds besides.

usage: seeds.py TOOL FOLDER

Models are trained for a step and exported, so that formats are those that this version writes.
"""

import gzip
import io
import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/tools/exchange/import/golden"
for place in ("tests/malformed", "tests/cli"):
    sys.path.insert(0, str(ROOT / place))
import data  # noqa: E402
import import_models  # noqa: E402
import shipped_experiments  # noqa: E402
import sweep  # noqa: E402

MOST = 60000
CELLS = [
    ["M - M.T", "u = tanh(W @ h + U @ x + b)", "z = sigmoid(W @ h[-tau] + alpha * x[-1])", "h' = (1 - z) * h + z * u",
     "c' = c", "h'"],
    ["expm(M - M.T) + 0.1 * eye(units)", "p = outer(slice(h, 0, 2), b)", "h' = relu(A @ h + U @ x) * where(b > 0, s, n)",
     "c' = 0.5 * c + p", "concat(h', x)"],
    ["reshape(arange(9), 3, 3)", "q = mean(c * c)", "h' = mod(h[-theta], 2) + normal(units) * exp(-q)", "c' = G @ c",
     "h' + sum(b)"],
]
SET = ["train.epochs=5\n/model/layers/0/cell=\"gru\"", "data={\"task\": \"adding\"}\nloss=mse", "a.b.c=[1, 2, {\"d\": null}]"]


def experiments():
    for _, document in shipped_experiments.experiments(ROOT):
        yield json.dumps(document, indent=2).encode()
    for row in sorted((ROOT / "tests" / "cells" / "rows").glob("*.json")):
        for options in json.loads(row.read_text())["options"]:
            yield json.dumps({"name": "a", "data": {"task": "random", "length": 6, "input": 2, "output": 1, "train": 2},
                              "model": {"layers": [{"cell": row.stem, **options}]}, "loss": "mse"}).encode()


def lines():
    for pattern in ("results.jsonl", "metrics.jsonl"):
        for file in sorted((ROOT / "tools").rglob(pattern)):
            yield b"".join(file.read_bytes().splitlines(keepends=True)[:20])


def named():
    """A gzip file whose header has more, a name and a remark."""
    packed = io.BytesIO()
    with gzip.GzipFile("name", "wb", fileobj=packed, mtime=0) as file:
        file.write(b"content")
    header, rest = packed.getvalue()[:10], packed.getvalue()[10:]
    return header[:3] + bytes([header[3] | 0x14]) + header[4:] + b"\x02\0ab" + rest[:5] + b"remark\0" + rest[5:]


def models(tool, work):
    for name, run in sweep.trained(tool, work):
        yield name, run / "weights.safetensors"


def exported(tool, work, found):
    for name, file in found:
        for to in ("onnx", "onnx-step", "torch", "keras"):
            out = work / f"{name}.{to}"
            if subprocess.run([tool, "export", file, "--to", to, "--output", out], capture_output=True).returncode == 0:
                yield to, out.read_bytes()


def archives():
    for name in ("checkpoint.pt", "keras_layers.keras"):
        yield (GOLDEN / name).read_bytes()
        with zipfile.ZipFile(GOLDEN / name) as archive:
            for entry in archive.namelist():
                if entry.endswith(("data.pkl", ".h5")):
                    yield archive.read(entry)


def main():
    tool, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    found = list(models(tool, work))
    seeds = {
        "experiment": list(experiments()), "json": list(experiments())[:40], "lines": list(lines()),
        "equations": ["\n".join(cell).encode() for cell in CELLS], "set": [text.encode() for text in SET],
        "model": [file.read_bytes() for _, file in found], "safetensors": [file.read_bytes() for _, file in found[:20]],
        "import_json": [json.dumps(model).encode() for model in
                        (import_models.keras_model(), import_models.guitarml_model(), import_models.nam_model())],
        "import_torch": [import_models.state_dict(tensors, dtype) for dtype in ("F32", "F16")
                         for tensors in (import_models.LSTM_TENSORS, import_models.RNN_TENSORS)],
        "import_onnx": [(GOLDEN / name).read_bytes() for name in ("loop_leaky.onnx", "loop_cell.onnx", "scan_cell.onnx")],
        "import_archive": list(archives()),
        "npy": [data.npy((3, 1), [1, 2, 3])], "ts": [data.TS.encode()], "idx": [data.idx((1,), b"\0")],
        "gzip": [data.gzipped(b""), data.gzipped(b"a" * 300), data.gzipped(bytes(range(100))), gzip.compress(b"stored", 0),
                 gzip.compress(b"a") + gzip.compress(b"b"), named()],
        "csv": [b"time,x,y\n1,2,3\n4,5,6\n"], "number_table": [b"1 2\n3 4\n"],
    }
    kinds = {"onnx": "import_onnx", "onnx-step": "import_onnx", "torch": "import_torch", "keras": "import_json"}
    for to, content in exported(tool, work, found):
        seeds[kinds[to]].append(content)
    shutil.rmtree(work)
    for name, files in seeds.items():
        place = folder / name
        place.mkdir()
        for number, content in enumerate(file for file in files if len(file) <= MOST):
            (place / f"{number:03}").write_bytes(content)


if __name__ == "__main__":
    main()
