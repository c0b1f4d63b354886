"""Shared by the tests of the Python module: the tool, and a run that it trained."""

import json
import os
import pathlib
import subprocess

import pytest

TOOL = os.environ["LAGTAPE_TOOL"]

EXPERIMENT = {
    "name": "waves",
    "data": {"task": "mackey_glass", "train": 8, "valid": 4, "test": 4, "length": 60},
    "model": {"layers": [{"cell": "tau_gru", "units": 6, "tau": 3}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 2, "batch": 4},
}


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds of processor time")


def run_tool(*arguments, code=0, **options):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def changed(**changes):
    """EXPERIMENT with other values at its top."""
    return {**json.loads(json.dumps(EXPERIMENT)), **changes}


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> pathlib.Path:
    """The run folder of EXPERIMENT, trained by the tool."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "waves.json").write_text(json.dumps(EXPERIMENT))
    run_tool("train", "waves.json", "--quiet", cwd=folder)
    return folder / "runs" / "waves-0"
