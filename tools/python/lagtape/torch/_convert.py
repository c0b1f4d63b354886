"""Converts PyTorch models to lagtape models, and back."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor, nn

from .. import _lagtape
from .._arguments import json_of, text_of
from .._arrays import DTYPES
from .._errors import InputError
from .._model import Model
from ._recurrence import Recurrence

WHERE = "from_torch"  # names a file in messages
#: Functions, and the values that their options must have.
_FUNCTIONS: Dict[type, Tuple[str, Dict[str, Any]]] = {
    nn.ReLU: ("relu", {}), nn.Tanh: ("tanh", {}), nn.Sigmoid: ("sigmoid", {}), nn.SiLU: ("silu", {}),
    nn.ELU: ("elu", {"alpha": 1.0}), nn.GELU: ("gelu", {"approximate": "none"}),
    nn.LeakyReLU: ("leaky_relu", {"negative_slope": 0.01}), nn.Softplus: ("softplus", {"beta": 1.0, "threshold": 20.0})}
_CELLS = (nn.LSTMCell, nn.GRUCell, nn.RNNCell)
_NOTHING = (nn.Dropout, nn.Dropout1d, nn.AlphaDropout, nn.Identity)
#: The values of `at` for PyTorch modules, in the order in which they are tried.
_READS = ("every_step", "last_step", "mean")

Part = Tuple[str, nn.Module]


def from_torch(module: Any, *, readout: Optional[nn.Module] = None, at: Optional[str] = None, loss: Any = "mse",
               normalization: Optional[Mapping[str, Any]] = None, name: str = "from-torch", check: bool = True) -> Model:
    """See lagtape.from_torch."""
    if not isinstance(module, nn.Module) or not (readout is None or isinstance(readout, nn.Module)):
        wrong = module if not isinstance(module, nn.Module) else readout
        raise InputError(f"[{WHERE}] expected a module of PyTorch. Got {type(wrong).__name__}.")
    if at is not None and at not in _READS:
        _lagtape.refuse_name("at", text_of(at, f"[{WHERE}] at"), list(_READS))
    whole = module if readout is None else _Chain(module, readout)
    parts = list(_parts(whole, ""))
    dtype = _dtype_of(whole)
    experiment = {"name": text_of(name, f"[{WHERE}] name"), "loss": loss, "precision": {torch.float32: "f32", torch.float64: "f64"}[dtype]}
    own = [part for _, part in parts if isinstance(part, Recurrence)]
    if own:
        if at not in (None, own[0].at):
            raise InputError(f"[{WHERE}] the Recurrence reads at {own[0].at!r}. Got at={at!r}.")
        build, reads = _build_from_recurrence, [own[0].at]
    else:
        build, reads = _build_from_modules, list(_READS) if at is None else [at]
    scaling = _scaling_of(normalization)
    if not check:
        return build(whole, parts, {**experiment, "at": reads[0]}, scaling)
    read = _read_that_agrees(whole, parts, dtype, reads, lambda at: build(whole, parts, {**experiment, "at": at}, ""))
    return build(whole, parts, {**experiment, "at": read}, scaling)


class _Chain(nn.Module):
    """Modules applied in sequence. If one returns several outputs, the first is passed on."""

    def __init__(self, *modules: nn.Module):
        super().__init__()
        self.parts = nn.ModuleList(modules)

    def forward(self, x: Any) -> Any:
        for part in self.parts:
            x = _first(_call(part, x))
        return x


def _first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs


def _call(module: nn.Module, x: Any) -> Any:
    """The output of a module, including an nn.Sequential with recurrences, whose forward cannot handle their states."""
    if type(module) is not nn.Sequential:
        return module(x)
    view: Any = _View(module)
    return _Chain.forward(view, x)


class _View:
    def __init__(self, module: nn.Module):
        self.parts = module.children()


def _parts(module: nn.Module, name: str) -> Iterator[Part]:
    """The modules that do the computing, in the order in which they were defined."""
    if isinstance(module, (Recurrence, nn.RNNBase, nn.Linear, nn.Embedding, *_CELLS, *_FUNCTIONS)):
        yield name, module
    elif isinstance(module, _NOTHING) or type(module) is nn.Flatten:
        return
    elif any(True for _ in module.children()):
        for key, child in module.named_children():
            yield from _parts(child, f"{name}.{key}" if name else key)
    elif any(True for _ in module.parameters()) or type(module).__module__.startswith("torch.nn"):
        supported = "Recurrence, LSTM, GRU, RNN, their cells, Linear, Embedding, Dropout, ReLU, Tanh and other functions"
        raise InputError(f"[{WHERE}] {name or 'the module'} ({type(module).__name__}) has no counterpart. Supported: {supported}.")


def _dtype_of(module: nn.Module) -> torch.dtype:
    found = {parameter.dtype for parameter in module.parameters()}
    if found - {torch.float32, torch.float64} or not found:
        raise InputError(f"[{WHERE}] parameters are float32 or float64. Got {', '.join(sorted(map(str, found))) or 'none'}.")
    return torch.float64 if torch.float64 in found else torch.float32


def _arrays(tensors: Mapping[str, Tensor]) -> Dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(tensor.detach().double().cpu().numpy()) for name, tensor in tensors.items()}


def _scaling_of(normalization: Optional[Mapping[str, Any]]) -> str:
    """{"input": (mean, scale), "output": (mean, scale)} in the form that the library reads."""
    if normalization is None:
        return ""
    if not isinstance(normalization, Mapping) or not set(normalization) <= {"input", "output"}:
        raise InputError(f"[{WHERE}] normalization is {{\"input\": (mean, scale), \"output\": (mean, scale)}}. Got {normalization!r}.")
    numbers: Dict[str, List[float]] = {}
    for side in ("input", "output"):
        pair: Sequence[Any] = normalization.get(side) or ([], [])
        try:
            mean, scale = (np.atleast_1d(np.asarray(values, float)).tolist() for values in pair)
        except (TypeError, ValueError):
            raise InputError(f"[{WHERE}] normalization: {side} is (mean, scale), a number or a list each. Got {pair!r}.") from None
        numbers[f"{side}_mean"], numbers[f"{side}_scale"] = mean, scale
    return json_of(numbers)


# ---- two ways to build a model ----


def _model(made: Any) -> Model:
    model = Model.__new__(Model)
    model._model = made
    return model


def _build_from_modules(whole: nn.Module, parts: Sequence[Part], experiment: Dict[str, Any], scaling: str) -> Model:
    """Builds with the state_dict importer."""
    modules = []
    for name, part in parts:
        if type(part) in _FUNCTIONS:
            function, options = _FUNCTIONS[type(part)]
            for option, value in options.items():
                if getattr(part, option) != value:
                    raise InputError(f"[{WHERE}] {name} ({type(part).__name__}): {option} must be {value}. Got {getattr(part, option)}.")
            modules.append(("function", name, function))
        else:
            relu = getattr(part, "nonlinearity", "") or ("relu" if getattr(part, "mode", "") == "RNN_RELU" else "")
            modules.append(("embedding" if isinstance(part, nn.Embedding) else "weights", name, relu))
    return _model(_lagtape.build_from_modules(json_of(experiment), modules, _arrays(whole.state_dict()), scaling, WHERE))


def _build_from_recurrence(whole: nn.Module, parts: Sequence[Part], experiment: Dict[str, Any], scaling: str) -> Model:
    """Builds from a Recurrence, with an optional Embedding before it and Linear after it."""
    rest = list(parts)
    below = rest.pop(0)[1] if isinstance(rest[0][1], nn.Embedding) else None
    recurrence = rest.pop(0)[1]
    above = rest.pop(0)[1] if rest and isinstance(rest[0][1], nn.Linear) else None
    if rest or not isinstance(recurrence, Recurrence):
        found = ", ".join(type(part).__name__ for _, part in parts)
        raise InputError(f"[{WHERE}] beside a Recurrence there may be an Embedding below and a Linear above. Got {found}.")
    width = recurrence.output_size
    if above is not None and above.in_features != width:
        raise InputError(f"[{WHERE}] the readout takes {above.in_features} numbers, and the Recurrence gives {width}.")
    values = dict(recurrence.state_dict())
    layers = recurrence.definition["model"]["layers"]
    if below is not None:
        values = {_next_layer(name): value for name, value in values.items()}
        values["layers.0.E"] = below.weight
        layers = [{"layer": "embedding", "units": below.embedding_dim, "vocabulary": below.num_embeddings}, *layers]
    values["readout.W"] = torch.eye(width) if above is None else above.weight
    bias = None if above is None else above.bias
    values["readout.W.bias"] = torch.zeros(len(values["readout.W"])) if bias is None else bias
    model = {"layers": layers, "readout": {"units": len(values["readout.W"]), "at": experiment["at"]}}
    document = {"name": experiment["name"], "model": model, "loss": experiment["loss"]}
    if recurrence.definition.get("cells"):
        document["cells"] = recurrence.definition["cells"]
    document["train"] = {"precision": experiment["precision"]}
    input_size = 1 if below is not None else recurrence.input_size
    return _model(_lagtape.build_model(json_of(document), input_size, _arrays(values), scaling, WHERE))


def _next_layer(name: str) -> str:
    """The same name in the next layer: layers.1.W for layers.0.W."""
    stem, number, rest = name.split(".", 2)
    return f"{stem}.{int(number) + 1}.{rest}"


# ---- comparison of outputs ----


def _read_that_agrees(whole: nn.Module, parts: Sequence[Part], dtype: torch.dtype, reads: Sequence[str], build: Any) -> str:
    """The `at` with which the model matches the module's outputs for a random input. Raises InputError if none does."""
    layers = [part for _, part in parts if isinstance(part, nn.RNNBase)]
    batch_first = layers[0].batch_first if layers else True
    first = parts[0][1] if parts else whole
    generator = torch.Generator().manual_seed(0)
    if isinstance(first, nn.Embedding):
        x = torch.randint(first.num_embeddings, (2, 7), generator=generator)
    else:
        width = build(reads[0]).input_width
        x = torch.randn(2, 7, width, generator=generator, dtype=dtype)
    theirs = _outputs(whole, x if batch_first else x.transpose(0, 1))
    best: Tuple[float, str] = (float("inf"), "")
    for at in reads:
        model = build(at)
        ours = model.predict(np.ascontiguousarray(x.reshape(2, 7, -1).numpy(), model.dtype))
        other = theirs.transpose(0, 1) if at == "every_step" and not batch_first and theirs.dim() == 3 else theirs
        if tuple(other.shape) != ours.shape and other.numel() != ours.size:
            continue
        difference = float(np.abs(other.reshape(ours.shape).numpy() - ours).max()) / max(1.0, float(np.abs(ours).max()))
        if difference < (1e-5 if dtype == torch.float32 else 1e-10):
            return at
        best = min(best, (difference, at))
    chain = " -> ".join(type(part).__name__ for _, part in parts)
    found = f"They differ by {best[0]:.1e} for at={best[1]!r}" if best[1] else f"It gives {list(theirs.shape)} for [2, 7, ...]"
    raise InputError(f"[{WHERE}] the module does not give the numbers of its parts one after the other, {chain}. {found}. What its forward "
                     "does between them is not visible: write that as modules (nn.Sequential, nn.ReLU), define them in the order in which "
                     "they run, and in two directions read h_n and not the outputs of the last step.")


def _outputs(module: nn.Module, x: Tensor) -> Tensor:
    modes = [(one, one.training) for one in module.modules()]
    module.eval()
    try:
        with torch.no_grad():
            outputs = _first(_call(module, x))
    except Exception as error:  # whatever a user module's forward raises
        raise InputError(f"[{WHERE}] the module cannot be called with x {list(x.shape)}, so its numbers cannot be compared: {error} "
                         "With check=False they are not; then name `at`.") from error
    finally:
        for one, training in modes:
            one.training = training
    if not isinstance(outputs, Tensor):
        raise InputError(f"[{WHERE}] the module gives no tensor but {type(outputs).__name__}, and its numbers cannot be compared. With "
                         "check=False they are not; then name `at`.")
    return outputs


def recurrence_of(run: Any, options: Dict[str, Any]) -> Tuple[Recurrence, nn.Linear]:
    """A run's layers and its read-out, with the run's parameter values."""
    model = run if isinstance(run, Model) else Model(run)
    section: Any = model.experiment["model"]
    dtype = torch.from_numpy(np.zeros(0, model.dtype)).dtype
    recurrence = Recurrence(section["layers"], model.input_width, at=section["readout"]["at"], dtype=dtype, seed=0,
                            cells=dict(model.experiment.get("cells") or {}) or None, **options)
    values = {name: torch.tensor(value) for name, value in model.parameters.items()}
    readout = nn.Linear(recurrence.output_size, model.output_width, dtype=dtype)
    try:
        readout.load_state_dict({"weight": values.pop("readout.W"), "bias": values.pop("readout.W.bias")})
        recurrence.load_state_dict(values)
    except (KeyError, RuntimeError) as error:
        raise InputError(f"[from_run] the run has other parameters than its layers and a read-out: {error}") from None
    numbers = json.loads(model._model.normalization)
    sides = {side: (numbers.get(f"{side}_mean") or [], numbers.get(f"{side}_scale") or []) for side in ("input", "output")}
    recurrence.normalization = {side: pair for side, pair in sides.items() if pair[0]} or None
    _check_numbers(model, recurrence, readout, sides)
    return recurrence, readout


def _check_numbers(model: Model, recurrence: Recurrence, readout: nn.Linear, sides: Dict[str, Any]) -> None:
    x = np.random.default_rng(0).normal(size=(2, 9, model.input_width)).astype(model.dtype)
    (mean, scale), (back_mean, back_scale) = ((np.asarray(pair[0] or 0.0), np.asarray(pair[1] or 1.0)) for pair in sides.values())
    wanted = (model.predict((x * scale + mean).astype(model.dtype)) - back_mean) / back_scale
    with torch.no_grad():
        found = readout(recurrence.eval()(torch.from_numpy(x))[0]).numpy()
    recurrence.train()
    if np.abs(found - wanted).max() > 1e-4 * max(1.0, np.abs(wanted).max()):
        raise InputError("[from_run] the run computes more than its layers and a read-out (first states that are not zeros, a residual), which "
                         "a Recurrence cannot.")
