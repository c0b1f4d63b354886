"""Cells written in Python are recorded as the equations that one would write, and give the program of the built-in cell."""

import json
import keyword
import pathlib
import re

import numpy as np
import pytest
from conftest import changed, run_tool

import lagtape as lt
from lagtape import _lagtape

ROWS = pathlib.Path(__file__).resolve().parents[1] / "cells" / "rows"


def program_of(layer, cells=None, input=3):
    return _lagtape.program(json.dumps(cells or {}), json.dumps(layer), input)


# ---- Cells as one would write them, beside the built-in ones ----


def tau_gru(s, units, tau=20, dt=1, alpha=1, beta=1):
    h, x = s.state("h", units), s.input

    def activation(i, seen):
        W, b = s.weight(f"W{i}", (units, units)), s.weight(f"W{i}.bias", units)
        U, c = s.weight(f"U{i}", (units, x.size)), s.weight(f"U{i}.bias", units)
        return (W @ seen + b) + (U @ x + c)

    u = lt.tanh(activation(1, h))
    z = lt.tanh(activation(2, h[-lt.floor(tau / dt)]))
    g = lt.sigmoid(activation(3, h))
    a = lt.sigmoid(activation(4, h))
    s.next(h, (1 - dt * g) * h + dt * g * (beta * u + alpha * a * z))
    return s.next_of(h)


def lem(s, units, dt=1):
    z, y, x = s.state("z", units), s.state("y", units), s.input

    def activation(i, seen):
        W, b = s.weight(f"W{i}", (units, units)), s.weight(f"W{i}.bias", units)
        V, c = s.weight(f"V{i}", (units, x.size)), s.weight(f"V{i}.bias", units)
        return (W @ seen + b) + (V @ x + c)

    dz = dt * lt.sigmoid(activation(1, y))
    dy = dt * lt.sigmoid(activation(2, y))
    z_next = (1 - dz) * z + dz * lt.tanh(activation("z", y))
    y_next = (1 - dy) * y + dy * lt.tanh(activation("y", z_next))
    s.next(z, z_next)
    s.next(y, y_next)
    return y_next


def lstm(s, units):
    h, c, x = s.state("h", units), s.state("c", units), s.input

    def activation(gate):
        W, b = s.weight(f"W_{gate}", (units, units)), s.weight(f"W_{gate}.bias", units)
        U, d = s.weight(f"U_{gate}", (units, x.size)), s.weight(f"U_{gate}.bias", units)
        return (W @ h + b) + (U @ x + d)

    i, f = lt.sigmoid(activation("i")), lt.sigmoid(activation("f"))
    g, o = lt.tanh(activation("g")), lt.sigmoid(activation("o"))
    s.next(c, 1 * f * c + 1 * i * g)
    s.next(h, o * lt.tanh(s.next_of(c)))
    return s.next_of(h)


def unicornn(s, units, dt=0.1, alpha=1):
    z, y = s.state("z", units), s.state("y", units)
    drive = s.weight("V", (units, s.input.size)) @ s.input + s.weight("V.bias", units, init="zeros")
    w, c = s.weight("w", units), s.weight("c", units)
    scale = s.derived("s", dt * lt.sigmoid(c))
    s.next(z, z - scale * (lt.tanh(w * y + drive) + alpha * y))
    s.next(y, y + scale * s.next_of(z))
    return s.next_of(y)


@pytest.mark.parametrize("function, options", [
    (tau_gru, {"tau": 7, "dt": 0.5, "alpha": 0.7, "beta": 1.5}), (lem, {"dt": 0.3}), (lstm, {}),
    (unicornn, {"dt": 0.2, "alpha": 0.5}),
], ids=lambda value: getattr(value, "__name__", ""))
def test_a_cell_has_the_program_of_the_built_in_one(function, options):
    made = lt.cell(function, name=f"my_{function.__name__}")
    given = {**options, "arithmetic": "grid"} if function is unicornn else options
    built_in = {"cell": function.__name__, **options, **({"layers": 1, "dropout": 0} if function is unicornn else {})}
    assert made.program(5, 3, **given) == program_of({**built_in, "units": 5})
    assert made.program(5, 3, **given) != program_of({**built_in, "units": 6})


def test_the_equations_are_those_that_one_would_write():
    made = lt.cell(tau_gru, name="my_tau_gru")
    assert made.equations == [
        "u = tanh(W1 @ h + W1.bias + (U1 @ x + U1.bias))",
        "z = tanh(W2 @ h[-floor(tau / dt)] + W2.bias + (U2 @ x + U2.bias))",
        "g = sigmoid(W3 @ h + W3.bias + (U3 @ x + U3.bias))",
        "a = sigmoid(W4 @ h + W4.bias + (U4 @ x + U4.bias))",
        "h' = (1 - dt * g) * h + dt * g * (beta * u + alpha * a * z)"]
    assert made.definition["hyper"] == {"tau": 20, "dt": 1, "alpha": 1, "beta": 1}
    assert made.definition["state"] == {"h": ["units"]} and made.definition["output"] == "h'"
    assert made.definition["weights"]["U1"] == ["units", "input"]


# ---- Every cell's equations, run as Python ----


def source_of(definition):
    """The equations of an entry of "cells" as a Python function, nearly word for word."""
    def plain(text):
        for name in definition["weights"]:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.'])", python_name(name), text)
        text = re.sub(r"(\w+)'", r"\1_next", text)
        return re.sub(r"\blambda\b", "lambda_", text)

    def python_name(name):
        name = name.replace(".", "_")
        return name + "_" if keyword.iskeyword(name) else name

    def shape(value):
        sizes = value if isinstance(value, list) else [value]
        return "(" + "".join(f"{size}, " for size in sizes) + ")"

    lags = definition.get("lags", {})
    hyper = "".join(f", {name}={value}" for name, value in definition.get("hyper", {}).items())
    lines = [f"def recorded(step, units{hyper}):", "x, n, input = step.input, step.index, step.input.size",
             "uniform, normal, mask = step.uniform, step.normal, step.mask"]
    for kind in ("uniform", "normal", "mask"):
        lines.append(f"{kind}_once = lambda *shape, **more: step.{kind}(*shape, once=True, **more)")
    lines += [f"{name} = step.read({name!r}, {column})" for name, column in definition.get("reads", {}).items()]
    for name, sizes in definition.get("state", {}).items():
        lines.append(f"{name} = step.state({name!r}, {shape(sizes)})")
    for name, sizes in definition["weights"].items():
        made = f"step.lag({name!r}, {shape(sizes)}, largest={lags[name]})" if name in lags else f"step.weight({name!r}, {shape(sizes)})"
        lines.append(f"{python_name(name)} = {made}")
    for name, text in definition.get("derived", {}).items():
        matrix = any(f"{name} @" in equation for equation in [*definition["step"], *definition["derived"].values()])
        lines.append(f"{name} = step.derived({name!r}, {plain(text)}, matrix={matrix})")
    for equation in definition["step"]:
        target, text = equation.split(" = ", 1)
        lines.append(f"{plain(target)} = {plain(text)}")
        if target.endswith("'"):
            lines.append(f"step.next({target[:-1]}, {plain(target)})")
    output = definition["output"] if isinstance(definition["output"], list) else [definition["output"]]
    lines.append(f"return [{', '.join(plain(text) for text in output)}]")
    return "\n    ".join(lines)


def written_cells():
    for path in sorted(ROWS.glob("*.json")):
        for i, row in enumerate(json.loads(path.read_text()).get("equations", [])):
            if "units" in row["options"]:  # else a layer around a cell
                yield pytest.param(row, id=f"{path.stem}-{i}")


def fits(layer, cells, input):
    try:
        return bool(program_of(layer, cells, input))
    except lt.InputError:
        return False


@pytest.mark.parametrize("row", list(written_cells()))
def test_equations_run_as_python_give_their_own_program(row):
    names = {name: getattr(lt, name) for name in lt._functions.__all__}
    names["slice"] = lambda v, begin, end: v[begin:end]
    exec(source_of(row["definition"]), names)
    made = lt.cell(names["recorded"])
    units = row["options"]["units"]
    layer, cells = {"cell": "written", "units": units}, {"written": row["definition"]}
    input = next(width for width in (6, units, 2 * units, 3 * units) if fits(layer, cells, width))
    expected = program_of(layer, cells, input)
    assert made.program(units, input) == expected and " = " in expected
    assert program_of(layer, {"written": made.definition}, input) == expected


def test_all_cells_but_those_around_others_are_among_them():
    assert len({param.id.rsplit("-", 1)[0] for param in written_cells()}) >= 18


# ---- What the language can do ----


def entry_of(function, **options):
    return lt.cell(function, **options).definition


def test_a_value_used_twice_is_an_equation_and_a_variable_gives_the_name():
    def twice(s, units):
        h = s.state("h", units)
        shared = lt.tanh(s.weight("W", (units, units)) @ h)
        s.next(h, (lambda hidden: shared * hidden + hidden)(lt.exp(h)))
        return s.next_of(h), shared

    assert entry_of(twice)["step"] == ["shared = tanh(W @ h)", "v = exp(h)", "h' = shared * v + v"]
    assert entry_of(twice)["output"] == ["h'", "shared"]


def test_what_is_nested_deep_is_several_equations():
    @lt.cell(static=["depth"])
    def deep(s, units, depth=2000):
        h = s.state("h", units)
        v = h
        for _ in range(depth):
            v = lt.tanh(v + 1)
        s.next(h, v)
        return v

    assert 10 < len(deep.equations) < 100 and deep.program(2).count("tanh") == 2000


def test_names_that_are_taken_are_changed():
    def taken(s, units):
        h = s.state("h", units)
        tanh = lt.tanh(h)
        n = tanh + 1
        s.next(h, n * tanh * n)
        return n

    assert entry_of(taken)["step"] == ["tanh_2 = tanh(h)", "n_2 = tanh_2 + 1", "h' = n_2 * tanh_2 * n_2"]


def test_brackets_stand_where_order_matters():
    def brackets(s, units, a=2.0):
        h = s.state("h", units)
        s.next(h, h - (h + a) - a * (h / (h * a)) - -(h - 1e-5) * -3 + (a - 1) * h)
        return s.next_of(h)

    assert entry_of(brackets)["step"] == ["h' = h - (h + a) - a * (h / (h * a)) - -(h - 1e-05) * -3 + (a - 1) * h"]


def test_matrices_are_derived_without_being_asked_for():
    def skew(s, units, gamma=0.01):
        h = s.state("h", units)
        M = s.weight("M", (units, units))
        A = M - M.T - gamma * lt.eye(units)
        s.next(h, lt.tanh(A @ h) + lt.expm(M - M.T) @ h)
        return s.next_of(h)

    entry = entry_of(skew)
    assert entry["derived"] == {"A": "M - transpose(M) - gamma * eye(units)", "A_2": "expm(M - transpose(M))"}
    assert entry["step"] == ["h' = tanh(A @ h) + A_2 @ h"]
    assert "weight A_2 [4, 4]" in lt.cell(skew).program(4)


def test_trained_lags_draws_groups_and_the_step_s_number():
    def much(s, units, p=0.1):
        h = s.state("h", (2, units))
        theta = s.lag("theta", (), largest=8, init=3)
        noise = s.normal(2, units, once=True, evaluate=0.5)
        s.next(h, h[-theta] * s.mask(p, 2, units) + 0.1 * noise + 0 * s.index)
        return lt.reshape(s.next_of(h), 2 * units)

    entry = entry_of(much)
    assert entry["lags"] == {"theta": 8} and entry["init"] == {"theta": 3} and entry["state"] == {"h": [2, "units"]}
    assert entry["step"][-1] == "h' = h[-theta] * mask(p, 2, units) + 0.1 * noise + 0 * n"
    assert entry["step"][0] == "noise = normal_once(2, units, evaluate = 0.5)"
    assert "mask(0.1)[2, 3] every step" in lt.cell(much).program(3)


def test_numpy_s_functions_and_numbers_are_taken():
    def numpy_cell(s, units):
        h = s.state("h", units)
        s.next(h, np.tanh(np.float32(0.5) * h + np.int64(2)) ** 2 + abs(h))
        return s.next_of(h)

    assert entry_of(numpy_cell)["step"] == ["h' = tanh(0.5 * h + 2) ** 2 + abs(h)"]


def test_options_that_are_no_numbers_are_given_as_they_are():
    @lt.cell(static=["depth"])
    def gated(s, units, tau=2, gating=True, depth=1):
        h = s.state("h", units)
        drive = s.weight("W", (units, units)) @ h[-tau]
        for _ in range(depth):
            drive = lt.tanh(drive)
        s.next(h, (1 - lt.sigmoid(drive)) * h if gating else drive)
        return s.next_of(h)

    assert "sigmoid" in gated.program(3) and "sigmoid" not in gated.program(3, gating=False)
    assert gated.program(3, gating=False, depth=3, tau=5).count("tanh") == 3
    described = lt.inspect(changed(model={"layers": [{"cell": "gated", "units": 3}, {"cell": gated, "units": 4, "gating": False}]}))
    assert ["sigmoid" in layer["program"] for layer in described["layers"]] == [True, False, False]
    assert list(described["experiment"]["cells"]) == ["gated", "gated_2"]


def test_a_cell_may_be_a_part_of_another():
    @lt.cell
    def inner(s, units, leak=0.5):
        h = s.state("h", units)
        s.next(h, leak * h + s.weight("U", (units, s.input.size)) @ s.input)
        return s.next_of(h)

    def outer(s, units, rate=0.25):
        return lt.tanh(inner(s, units, leak=rate))

    assert entry_of(outer)["step"] == ["h' = rate * h + U @ x"] and entry_of(outer)["output"] == "tanh(h')"
    assert inner.equations == ["h' = leak * h + U @ x"]


def test_comparisons_past_inputs_and_computed_matrices_become_equations():
    def events(s, units, limit=0.5, period=12):
        h, A = s.state("h", units), s.state("A", (units, s.input.size))
        R = s.weight("R", (2, 3, 3))
        near = lt.where((h > limit) * (s.index % period < 6), h, 0.5 * h)
        s.next(A, 0.9 * A + lt.outer(lt.tanh(h), s.input[-3]))
        heads = lt.reshape(R @ lt.reshape(near, 2, 3), units)
        s.next(h, heads + A @ s.input + lt.floor(0.1 * s.index) - (h <= -limit))
        return s.next_of(h)

    entry = entry_of(events)
    assert entry["weights"] == {"R": [2, 3, 3]}
    assert entry["step"] == [
        "near = where((h > limit) * (n % period < 6), h, 0.5 * h)",
        "A' = 0.9 * A + outer(tanh(h), x[-3])",
        "heads = reshape(R @ reshape(near, 2, 3), units)",
        "h' = heads + A @ x + floor(0.1 * n) - (h <= -limit)"]
    assert "x.past" in lt.cell(events, name="events").program(6, 2)


def test_functions_are_those_of_the_library():
    known = {entry["name"] for entry in lt.list("functions")}
    others = {"arange", "clip", "concat", "cumsum", "einsum", "expand", "expm", "eye", "gelu", "logsumexp", "matrix_transpose", "max", "mean", "min", "mod",
              "norm", "ones", "outer", "reshape", "roll", "silu", "sinc", "softmax", "softsign", "strict_upper", "sum", "transpose", "where", "zeros"}
    assert set(lt._functions.__all__) == known | others
    assert known | others | set(lt._complex.__all__) <= lt._step._FUNCTIONS


def test_complex_values_arrays_spikes_and_flags_become_equations():
    def many(s, units):
        h, g, dt = s.state("h", units), s.state("g", units), s.read("dt", -1)
        z = lt.complex(h, g) * np.exp(1j * g) / (1 + 2j)
        s.next(h, z.real * np.array([1, 0.5, 0, 2]) + np.square(h))
        s.next(g, np.where((h > 0) & ~(g <= 2), np.arctan2(g, h), dt * lt.spike(h - 1, "atan", 2)) + lt.stop(np.imag(z)))
        return np.reshape(s.next_of(g), (2, 2))[:, -1]

    entry = entry_of(many)
    assert entry["reads"] == {"dt": -1}
    assert entry["step"] == [
        "z = complex(h, g) * exp(complex(0.0, 1.0) * g) / complex(1.0, 2.0)",
        "h' = real(z) * [1.0, 0.5, 0.0, 2.0] + h ** 2",
        "g' = where((h > 0) and (g <= 2) == 0, atan2(g, h), dt * spike(h - 1, 'atan', 2)) + stop(imag(z))"]
    assert entry["output"] == "reshape(g', 2, 2)[:, -1]"
    assert "surrogate" in lt.cell(many, name="many").program(4, 3)


def test_states_and_weights_have_up_to_four_dimensions(tmp_path):
    def heads(s, units, heads=2):
        n = units // heads
        S, K = s.state("S", (heads, n, n)), s.weight("K", (heads, n, s.input.size))
        k = K @ s.input
        s.next(S, 0.9 * S + lt.einsum("hi,hj->hij", k, k))
        return np.reshape(lt.einsum("hij,hj->hi", s.next_of(S), k), units)

    model = lt.train({"name": "heads", "data": {"task": "random", "length": 5, "input": 3, "output": 1, "train": 8},
                      "model": {"layers": [{"cell": lt.cell(heads), "units": 8}], "readout": {"units": 1, "at": "every_step"}},
                      "loss": "mse", "train": {"epochs": 1, "batch": 4}}, out=tmp_path / "run", progress=False).model()
    values = model.parameters
    K = np.stack([values["layers.0.K.0"], values["layers.0.K.1"]])
    x, S = np.random.default_rng(0).normal(size=(1, 5, 3)), np.zeros((2, 4, 4))
    for seen in x[0]:
        k = K @ seen
        S = 0.9 * S + np.einsum("hi,hj->hij", k, k)
        y = values["readout.W"] @ np.einsum("hij,hj->hi", S, k).ravel() + values["readout.W.bias"]
    np.testing.assert_allclose(model.predict(x)[0, -1], y, rtol=1e-4, atol=1e-6)


# ---- Use ----


def test_the_tool_goes_on_with_what_python_trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lt.cell(tau_gru, name="mine")
    experiment = changed(model={"layers": [{"cell": "mine", "units": 6, "tau": 3}]})
    run = lt.train(experiment, out="mine")
    built_in = lt.train(changed(), out="built_in")
    x = np.random.default_rng(0).random((20, 1)).astype(np.float32)
    y = run.model().predict(x)
    assert np.array_equal(y, built_in.model().predict(x)) and np.ptp(y) > 0
    np.save("x.npy", x)
    run_tool("predict", "mine", "--input", "x.npy", "--output", "y.npy", cwd=tmp_path)
    assert np.array_equal(np.load("y.npy"), y)
    run_tool("train", "mine/experiment.json", "--out", "again", "--quiet", cwd=tmp_path)
    assert (tmp_path / "again/weights.safetensors").read_bytes() == (tmp_path / "mine/weights.safetensors").read_bytes()
