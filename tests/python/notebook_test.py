"""The notebook of the examples runs, and keeps its figures."""

import json
import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "tools" / "python" / "examples" / "quickstart.ipynb"
LARGEST = 300_000  # bytes


def figures(notebook):
    """The numbers of the cells with a figure."""
    return [i for i, cell in enumerate(notebook["cells"])
            if any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))]


def test_the_notebook_keeps_its_figures_and_is_small():
    notebook = json.loads(NOTEBOOK.read_text())
    assert NOTEBOOK.stat().st_size < LARGEST
    assert len(figures(notebook)) == 3
    errors = [output for cell in notebook["cells"] for output in cell.get("outputs", []) if output["output_type"] == "error"]
    assert not errors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_draws_them_again(tmp_path):
    for name in ("nbformat", "nbclient", "ipykernel", "matplotlib", "pandas"):
        pytest.importorskip(name, reason=f"not run: {name} is missing")
    import nbclient
    import nbformat

    kept = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(run, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert figures(run) == figures(kept)
    text = "".join(output.get("text", "") for cell in run["cells"] for output in cell.get("outputs", []))
    assert "the same bits as the batch: True" in text
    assert "the same bits after going back: True" in text
    assert "the same bits as the estimator: True" in text
    assert float(text.split("RMSE of the two days: ")[1].split()[0]) < 2  # the noise alone is 1, a day before 9
    assert float(text.split("best other method: ")[1].split()[0]) < 1
    assert float(text.split("of the 30 others: ")[1].split()[0]) > 0.8
