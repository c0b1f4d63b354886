"""The estimators among those of aeon and sktime, by their own checks, where these are installed."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def failures(results):
    return {name: result for name, result in results.items() if result != "PASSED"}


@pytest.mark.parametrize("name", ["SequenceClassifier", "SequenceRegressor"])
def test_aeon_s_checks_pass(name):
    checking = pytest.importorskip("aeon.testing.estimator_checking", reason="not run: aeon is missing")
    import lagtape.aeon

    results = checking.check_estimator(getattr(lagtape.aeon, name), raise_exceptions=False)
    assert len(results) > 20 and not failures(results)


@pytest.mark.parametrize("name", ["SequenceClassifier", "Forecaster"])
def test_sktime_s_checks_pass(name):
    checking = pytest.importorskip("sktime.utils.estimator_checks", reason="not run: sktime is missing")
    import lagtape.sktime

    results = checking.check_estimator(getattr(lagtape.sktime, name), raise_exceptions=False, verbose=False)
    assert len(results) > 20 and not failures(results)
