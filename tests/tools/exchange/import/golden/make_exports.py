"""Writes some of the modules of import_exports_test.py as PyTorch exports them beside itself, export_NN.onnx and its numbers
export_NN.onnx.data, without the notes about their sources, and export_outputs.safetensors: for each its input NN.x and what
onnxruntime gives for it, NN.y.

usage: make_exports.py        (torch 2.13.0, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0, safetensors 0.8.0)
"""

import pathlib
import sys
import tempfile

import numpy
import onnx
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[3] / "cli"))
import import_exports_test as exports  # noqa: E402

CHOSEN = {"both last states": "new, dynamic", "mean beside largest": "new, fixed", "states as one vector": "old, dynamic",
          "softmax": "old, fixed batch of 2", "gelu": "new, dynamic", "batch norm": "new, fixed", "first step": "new, fixed",
          "LSTM, both directions, last step": "old, fixed", "RNN, last state, 3 layers": "new, fixed",
          "normalization before": "new, dynamic", "embedding before": "new, fixed", "first state": "new, dynamic",
          "two recurrences": "old, dynamic", "residual stack": "new, fixed", "mean": "old, dynamic"}


def main():
    outputs = {}
    names = [name for name, make in exports.modules()]
    modules = dict(exports.modules())
    with tempfile.TemporaryDirectory() as temporary:
        for name, form in CHOSEN.items():
            number = names.index(name)
            path, x, y = exports.export(pathlib.Path(temporary), number, name, modules[name], form)
            model = onnx.load(path, load_external_data=False)
            model.graph.ClearField("value_info")
            for part in [model.graph, *model.graph.node, *model.graph.input, *model.graph.output, *model.graph.initializer]:
                part.ClearField("metadata_props")
                part.ClearField("doc_string")
            label = f"export_{number:02d}"
            for tensor in model.graph.initializer:
                for entry in tensor.external_data:
                    if entry.key == "location":
                        entry.value = f"{label}.onnx.data"
            (FOLDER / f"{label}.onnx").write_bytes(model.SerializeToString())
            data = path.with_name(path.name + ".data")
            if data.exists() and data.stat().st_size > 0:
                (FOLDER / f"{label}.onnx.data").write_bytes(data.read_bytes())
            outputs[f"{number:02d}.x"], outputs[f"{number:02d}.y"] = numpy.array(x), numpy.array(y)
    save_file(outputs, FOLDER / "export_outputs.safetensors")


if __name__ == "__main__":
    main()
