"""Makes the malformed files of this folder: one function a kind, one entry a file.

usage: make.py [FOLDER]

Without FOLDER it writes to files/ beside it. The files are a function of these scripts alone; replay_test.py holds that
those kept here are their output, and what the tool says of each.
"""

import pathlib
import sys

import data
import models

KINDS = {
    "experiment": (".json", models.experiments),
    "weights": (".safetensors", models.weights),
    "npy": (".npy", data.arrays),
    "csv": (".csv", data.tables),
    "npz": (".npz", data.archives),
    "idx": ("", data.images),
    "ts": (".ts", data.ts_files),
    "wav": (".wav", data.recordings),
    "lines": (".txt", data.lines),
    "table": (".json", data.comparisons),
}


def files():
    """Every file, {"KIND/NAME": bytes}."""
    return {f"{kind}/{name}{ending}": content for kind, (ending, make) in KINDS.items() for name, content in make()}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "files"
    for name, content in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
