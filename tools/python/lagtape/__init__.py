"""lagtape trains and runs recurrent networks with long memory on a CPU.

    run = lagtape.train("experiment.json", epochs=50)     # or an experiment as a dict (lagtape.Experiment)
    model = lagtape.load("runs/my-first-0")               # or run.model()
    y = model.predict(x)                                  # x [T, input] or [B, T, input]
    y_n = model.stream().step(x_n)

`cell` makes a cell from a Python function; the functions a step can use (`tanh`, `sigmoid`, ...) are here too.
"""

from ._cell import Cell, cell
from ._complex import *  # complex, real, spike, ...
from ._complex import __all__ as _complex_names
from ._errors import DivergenceError, Error, InputError, Problem
from ._experiment import analyze, check, data, inspect, list
from ._expression import Expression
from ._fit import Fit, fit
from ._forecast import evaluate, forecast, predict
from ._forecaster import Forecaster
from ._from_torch import from_torch
from ._functions import *  # tanh, where, concat, ...
from ._functions import __all__ as _names
from ._lagtape import version as __version__
from ._learner import Learner
from ._model import Model, Stream, import_model, load
from ._plots import Svg
from ._progress import Stop
from ._results import Scores
from ._run import Run
from ._sequence_models import SequenceClassifier, SequenceRegressor
from ._solve import Solution, solve
from ._step import Step
from ._tool import bench, compare, export, new, report, schema, search, table
from ._train import train
from .experiments import Experiment

__all__ = ["Cell", "DivergenceError", "Error", "Experiment", "Expression", "Fit", "Forecaster", "InputError", "Learner", "Model", "Problem", "Run",
           "Scores", "SequenceClassifier", "SequenceRegressor", "Solution", "Step", "Stop", "Stream", "Svg", "analyze", "bench", "cell",
           "check", "compare", "data", "evaluate", "export", "fit", "forecast", "from_torch", "import_model", "inspect", "list", "load", "new", "predict", "report",
           "schema", "search", "solve", "table", "train"]
__all__ += [*_names, *_complex_names]
