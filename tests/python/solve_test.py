"""Equations in continuous time: `lt.solve` gives what `lagtape solve` prints, as arrays."""

import lagtape as lt
import numpy as np
import pytest

DELAY = {"params": {"a": -1.0, "tau": {"start": 1, "min": 0.2, "max": 3}}, "state": {"x": 1}, "history": {"x": 1},
         "ode": ["dx = a * x(t - tau)"], "solver": {"h": {"lag": "tau", "parts": 32}}}


def test_states_and_derivatives_are_arrays():
    times = [0.5, 2.5, 10]
    solved = lt.solve(DELAY, times, derivatives=True)
    assert solved["t"].tolist() == times
    assert solved["y"]["x"] == pytest.approx([0.5, -0.39583333333333333, 0.020241126543209877], abs=2e-9)
    assert solved["d"]["tau"]["x"][-1] == pytest.approx(0.4382688492063492, abs=1e-7)
    assert "d" not in lt.solve(DELAY, "0:1:0.5")
    assert lt.solve(DELAY, "10", params={"tau": 0.97})["y"]["x"][0] == pytest.approx(0.009380915015564695, abs=1e-7)


def test_inputs_are_arrays_or_tables(tmp_path):
    filling = {"params": {"c": 2.0}, "state": {"y": 1}, "history": {"y": 0}, "input": "u", "ode": ["dy = u - c * y"], "solver": {"h": 0.01}}
    solved = lt.solve(filling, [1.0], input=(np.array([0.0, 5.0]), np.array([3.0, 0.0])))
    assert solved["y"]["y"][0] == pytest.approx(1.5 * (1 - np.exp(-2)), abs=1e-8)
    (tmp_path / "u.csv").write_text("time,u\n0,3\n5,0\n")
    assert lt.solve(filling, [1.0], input=tmp_path / "u.csv")["y"]["y"] == solved["y"]["y"]
    with pytest.raises(lt.InputError, match="a row each"):
        lt.solve(filling, [1.0], input=(np.zeros(2), np.zeros(3)))


def test_what_is_wrong_is_an_error():
    with pytest.raises(lt.InputError, match="unknown param 'tu'; did you mean 'tau'"):
        lt.solve(DELAY, [1.0], params={"tu": 1})
