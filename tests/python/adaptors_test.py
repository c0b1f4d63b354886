"""The estimators among those of aeon, by its own checks, where it is installed."""

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
