"""The tool's other commands: searches, tables, comparisons, reports, exports, drafts of experiments, benchmarks.

They run this installation's `lagtape` command, read the JSON it prints, and raise its problems as exceptions.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union, cast

from . import _lagtape
from ._arguments import Changes, Experiment, Path, assignments_of, count_of, json_of, known_arguments, path_of, text_of
from ._cell import with_cells
from ._errors import DivergenceError, Error, InputError, Problem
from ._given import is_frame, write_table
from ._model import Model
from ._tool_results import Bench, Comparison, Search, Table

if TYPE_CHECKING:
    from .experiments import Experiment as NewExperiment

_DIVERGED, _WRONG_INPUT, _INTERRUPTED = 3, 2, 130


@known_arguments
def search(search: Union[Path, Mapping[str, object]], *, out: Optional[Path] = None, runs: Optional[int] = None, jobs: Optional[int] = None,
           set: Changes = None, show: bool = False) -> Search:
    """Searches an experiment's settings, like `lagtape search`: {"runs": [{"settings", "loss", ...}], "ranking", ...}.

    search  a file, or a dict {"experiment", "method", "runs", "ranges"}, whose experiment is a file or a dict; a dict needs `out`
    out     the search folder; by default runs/ and the file's name. A search already there is continued
    runs    number of runs; jobs: how many at once
    show    trains nothing, and returns the results so far

        >>> rates = {"/optimizer/lr": {"choices": [0.01, 0.02]}}
        >>> found = lagtape.search({"experiment": experiment, "method": "grid", "ranges": rates}, out="search")
        >>> len(found["runs"])
        2

    Raises InputError, and DivergenceError if all runs diverged.
    """
    options = _options(out=out, runs=_count(runs, "runs", "search"), jobs=_count(jobs, "jobs", "search"), show=show)
    if not isinstance(search, Mapping):
        return cast(Search, _ask("search", path_of(search), *options, *_set(set), "--quiet"))
    if out is None:
        raise InputError("[search] a search that is a dict needs `out`, its folder.")
    with tempfile.TemporaryDirectory() as folder:
        given = dict(search)
        experiment = given.get("experiment")
        if isinstance(experiment, Mapping):
            given["experiment"] = _write(folder, "experiment.json", _absolute(with_cells(experiment)))
        elif "experiment" in given:
            given["experiment"] = os.path.abspath(path_of(experiment))
        return cast(Search, _ask("search", _write(folder, "search.json", given), *options, *_set(set), "--quiet"))


@known_arguments
def compare(*runs: Path, plot: Optional[Path] = None) -> Comparison:
    """Compares two or more runs: settings that differ, metrics over seeds, learning curves (charts in the folder `plot`).

        >>> other = lagtape.train(experiment, lr=0.003, out="other", progress=False)
        >>> lagtape.compare(run, other)["differing"]
        ['/optimizer/lr']

    Raises InputError if a folder is not a run.
    """
    return cast(Comparison, _ask("compare", *[path_of(run) for run in runs], *_options(plot=plot)))


@known_arguments
def table(folder: Path, *, out: Optional[Path] = None, only: Sequence[str] = (), seeds: Optional[int] = None, jobs: Optional[int] = None,
          set: Changes = None, show: bool = False) -> Table:
    """Trains the models of a paper's table, a folder with a table.json, and returns the results with the published
    numbers; with `show`, returns the results of existing runs.

    only   names of rows; seeds: runs per row; jobs: how many at once

        >>> rows = lagtape.table(f"{experiments}/mackey_glass", out="table", show=True)["rows"]
        >>> rows[0]["printed"] > 0
        True

    Raises InputError.
    """
    options = _options(out=out, seeds=_count(seeds, "seeds", "table"), jobs=_count(jobs, "jobs", "table"), show=show)
    names = [text_of(name, "[table] only") for name in only]
    return cast(Table, _ask("table", path_of(folder), *options, *_set(set), *(["--only", *names] if names else []), "--quiet"))


@known_arguments
def report(run: Path, output: Optional[Path] = None) -> str:
    """Writes a one-page report (.html) on a run, a folder of runs, or a search, by default to report.html in that
    folder, and returns its path.

        >>> run.report("waves.html")
        'waves.html'
        >>> run.report() == os.path.join(run.path, "report.html")
        True

    Raises InputError.
    """
    folder = path_of(run)
    return _write_output("report", folder, os.path.join(folder, "report.html") if output is None else output)


@known_arguments
def export(run: Union[Path, Model], format: str, output: Path, *, precision: str = "", weights: str = "", arithmetic: str = "",
           functions: str = "", lengths: bool = False) -> str:
    """Writes a trained model for other programs, and returns the file's path.

    run        a run, a weights file, or a model, such as one from `from_torch` or an estimator's `model_`
    format     "c99": one C file that needs only math.h; "onnx": whole sequences; "onnx-step": one step; "torch", "rtneural",
               "nam", "blob"
    precision  for "c99": "f32" or "f64"
    weights    for "c99": "float", "int16" or "int8"
    arithmetic for "c99": "float", "int16" or "int8" products
    functions  for "c99": "exact" or "fast"
    lengths    for "onnx": sequences of unequal lengths

        >>> run.export("c99", "waves.c")
        'waves.c'

    Raises InputError, including for layers that the format does not support.
    """
    options = _options(to=text_of(format, "[export] format"), precision=precision, weights=weights, arithmetic=arithmetic,
                       functions=functions, lengths=lengths)
    if not isinstance(run, Model):
        return _write_output("export", path_of(run), output, *options)
    with tempfile.TemporaryDirectory() as folder:
        weights_file = os.path.join(folder, "model.safetensors")
        run.save(weights_file)
        return _write_output("export", weights_file, output, *options)


@known_arguments
def new(data: object, cell: str = "tau_gru", *, units: Optional[int] = None, target: Union[str, Sequence[str]] = (),
        future: Union[str, Sequence[str]] = (), path: Optional[Path] = None) -> NewExperiment:
    """A starting experiment, as a dict, for a task or your own recording (.csv); `lagtape new` writes one with
    comments.

    data    the name of a task, the path of a recording, or a DataFrame or dict of columns to pass to `lagtape.train` as `data`
    units   size of the layer
    target  columns to predict; by default all numeric columns
    future  columns known ahead
    path    the task's files

        >>> lagtape.new("wave.csv", units=4)["data"]["task"]
        'series'

    Raises InputError.
    """
    options = _options(units=_count(units, "units", "new"), future=future if isinstance(future, str) else ",".join(future), path=path)
    for name in [target] if isinstance(target, str) else target:
        options += ["--target", text_of(name, "[new] target")]
    if not is_frame(data):
        return _experiment_in(_run("new", text_of(data, "[new] data"), text_of(cell, "[new] cell"), *options))
    with tempfile.TemporaryDirectory() as folder:
        write_table(os.path.join(folder, "data.csv"), data)
        made = _experiment_in(_run("new", "data.csv", text_of(cell, "[new] cell"), *options, folder=folder))
    cast(Dict[str, str], made["data"])["path"] = "data.csv"  # the `data` argument of `train` replaces it
    return made


def _experiment_in(text: str) -> NewExperiment:
    experiment: NewExperiment = json.loads(_lagtape.plain_json(text, "new"))
    return experiment


@known_arguments
def schema() -> Dict[str, object]:
    """The JSON Schema for experiments, for completion and checks in editors. `lagtape.Experiment` is the Python type.

        >>> lagtape.schema()["title"]
        'An experiment of lagtape'
    """
    found: Dict[str, object] = json.loads(_lagtape.schema())
    return found


@known_arguments
def bench(experiment: Experiment, *, set: Changes = None, plan: str = "", threads: Optional[int] = None, repeats: Optional[int] = None,
          stream: bool = False, steps: Optional[int] = None, row: str = "") -> Bench:
    """Times the forward and backward passes of an experiment's model in microseconds per time step: {"forward_us",
    "backward_us", "total_us", ...}; with `stream`, one step of a stream in nanoseconds. Compares with oneDNN's LSTM
    ("ratio") if the tool includes it.

        >>> lagtape.bench(experiment, repeats=1, threads=1)["total_us"]["median"] > 0
        True

    Raises InputError.
    """
    options = _options(plan=plan, threads=_count(threads, "threads", "bench"), repeats=_count(repeats, "repeats", "bench"), stream=stream,
                       steps=_count(steps, "steps", "bench"), row=row)
    if not isinstance(experiment, Mapping):
        return cast(Bench, _ask("bench", path_of(experiment), *options, *_set(set)))
    with tempfile.TemporaryDirectory() as folder:
        return cast(Bench, _ask("bench", _write(folder, "experiment.json", _absolute(with_cells(experiment))), *options, *_set(set)))


@functools.lru_cache(maxsize=None)
def _tool() -> str:
    """This installation's command: from the wheel, from the build folder that contains the package, or from the shell."""
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places = [os.path.join(sysconfig.get_path("scripts"), "lagtape"), os.path.join(build, "lagtape"), shutil.which("lagtape")]
    found = [place for place in places if place and os.path.isfile(place) and os.access(place, os.X_OK)]
    for place in found:
        if subprocess.run([place, "--version"], capture_output=True, text=True).stdout.split()[1:2] == [_lagtape.version]:
            return place
    raise Error(f"This needs the command lagtape {_lagtape.version}, which a wheel of a release has, and tools/quickstart.sh builds. "
                + (f"Found another version: {found[0]}." if found else "There is none on the PATH."))


def _run(command: str, *arguments: str, folder: Optional[str] = None) -> str:
    """The output of a command. With --json its errors are objects, otherwise text for people."""
    done = subprocess.run([_tool(), command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          cwd=folder)
    if done.returncode == 0:
        return done.stdout
    if done.returncode == _INTERRUPTED:
        raise KeyboardInterrupt(done.stderr.strip())
    kind = {_DIVERGED: DivergenceError, _WRONG_INPUT: InputError}.get(done.returncode, Error)
    problems = _problems_in(done.stderr) if "--json" in arguments else []
    if not problems:
        raise kind(done.stderr.strip())
    lines = [": ".join([part for part in (one.file, one.pointer, one.item) if part] + [one.message]) for one in problems]
    raise InputError("\n".join(lines), problems) if kind is InputError else kind("\n".join(lines))


def _ask(command: str, *arguments: str) -> Any:
    return json.loads(_run(command, *arguments, "--json"))


def _problems_in(output: str) -> List[Problem]:
    """The problems of a failed command, from the last line it printed."""
    try:
        found = json.loads(output.strip().splitlines()[-1])["problems"]
    except (ValueError, KeyError, IndexError):
        return []
    fields = [{**(problem.get("place") or {}), **problem} for problem in found]
    return [Problem(**{name: one[name] for name in Problem._fields if one.get(name) is not None}) for one in fields]


def _write_output(command: str, run: str, output: Path, *options: str) -> str:
    output = path_of(output)
    _run(command, run, "--output", output, *options)
    return output


def _options(**options: Any) -> List[str]:
    """Command-line arguments for the options that are set: a path, a string, a number, or True."""
    arguments: List[str] = []
    for name, value in options.items():
        if value is None or value is False or value == "":
            continue
        arguments.append(f"--{name}")
        if value is not True:
            arguments.append(str(value) if isinstance(value, int) else path_of(value))
    return arguments


def _set(changes: Changes) -> Iterable[str]:
    for assignment in assignments_of(changes):
        yield from ("--set", assignment)


def _count(value: Optional[int], name: str, call: str) -> Optional[int]:
    return None if value is None else count_of(value, name, call)


def _absolute(experiment: Mapping[str, Any]) -> Dict[str, Any]:
    """An experiment whose relative data path starts at the current folder, wherever its file is."""
    made: Dict[str, Any] = json.loads(json_of(experiment))
    data = made.get("data")
    if isinstance(data, dict) and isinstance(data.get("path"), str):
        data["path"] = os.path.abspath(data["path"])
    return made


def _write(folder: str, name: str, value: Any) -> str:
    file = os.path.join(folder, name)
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(json_of(value))
    return file
