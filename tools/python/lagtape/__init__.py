"""lagtape trains and runs recurrent networks with long memory on a CPU."""

from ._errors import DivergenceError, Error, InputError, Problem
from ._lagtape import version as __version__
from ._model import Model, Stream, load

__all__ = ["DivergenceError", "Error", "InputError", "Model", "Problem", "Stream", "load"]
