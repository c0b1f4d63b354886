"""Fits with error bars: `lt.fit` gives what `lagtape fit` prints, as arrays."""

import lagtape as lt
import numpy as np
import pytest

DECAY = {"name": "decay", "cells": {"decay": {"params": {"rate": {"start": 1.3, "min": 0, "unit": "1/h"}, "y0": {"start": 1, "min": 0}}, "state": {"y": 1},
                                              "history": {"y": "y0"}, "ode": ["dy = -rate * y"], "solver": {"h": 0.05}}}}


def readings():
    t = np.linspace(0, 3, 25)
    return {"t": t, "y": 2 * np.exp(-0.7 * t) + 0.01 * np.random.default_rng(0).normal(size=25)}


def test_a_fit_has_estimates_errors_covariance_and_residuals():
    data = readings()
    data["y"][7] = np.nan
    found = lt.fit(DECAY, data=data, profile="rate")
    assert list(found.params) == ["rate", "y0"]
    assert found.params["rate"].unit == "1/h"
    assert found.estimates == pytest.approx([0.7, 2], abs=0.02)
    assert found.standard_errors ** 2 == pytest.approx(np.diag(found.covariance))
    errors = found.standard_errors
    assert found.covariance == pytest.approx(found.correlation * np.outer(errors, errors))
    assert 0.1 < found.correlation[0, 1] < 1
    assert (found.intervals[:, 0] < found.estimates).all() and (found.estimates < found.intervals[:, 1]).all()
    assert found.residuals.shape == (24,)
    assert np.sqrt(np.mean(found.residuals ** 2)) == pytest.approx(found.rmse)
    assert np.isnan(found.data[0].reading[7]) and np.isfinite(found.data[0].fitted[7])
    assert found.profiles["rate"].low == pytest.approx(found.params["rate"].low, abs=2e-3)
    # the covariance of a linear model around the estimates
    t, kept = data["t"], np.isfinite(data["y"])
    jacobian = np.stack([-t * found.estimates[1] * np.exp(-found.estimates[0] * t), np.exp(-found.estimates[0] * t)], 1)[kept]
    variance = np.sum(found.residuals ** 2) / 22
    assert found.covariance == pytest.approx(variance * np.linalg.inv(jacobian.T @ jacobian), rel=1e-4)


def test_charts_are_written(tmp_path):
    lt.fit(DECAY, data=readings(), profile=["rate"], plot=tmp_path / "charts")
    assert sorted(file.name for file in (tmp_path / "charts").iterdir()) == ["fit.svg", "profile-rate.svg", "residuals.svg"]


def test_what_is_wrong_is_an_error():
    with pytest.raises(lt.InputError, match="unknown state 'z'"):
        lt.fit(DECAY, data={"t": [0, 1, 2], "z": [1, 2, 3]})
    with pytest.raises(lt.InputError, match="unknown param 'rte'"):
        lt.fit(DECAY, data=readings(), profile="rte")
