#include "lagtape/tools/exchange/import/import_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/tests/cells/support/cell_row.h"

// Models of PyTorch and ONNX that golden/make_torch.py and golden/make_onnx.py wrote, with the outputs of PyTorch and
// onnxruntime.

namespace lagtape {
namespace {

using namespace test;

std::filesystem::path golden_folder() { return source_folder() / "tests/tools/exchange/import/golden"; }

/// The largest difference of two tensors; infinity where their sizes differ, or where `wanted` holds no numbers that a
/// model of zeros would miss.
double largest_difference(const Tensor& got, const Tensor& wanted) {
  double largest = 0, size = 0;
  if (got.numel() != wanted.numel()) return INFINITY;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    size = std::max(size, std::abs(wanted.at(i)));
    if (!(std::abs(got.at(i) - wanted.at(i)) <= largest)) largest = std::abs(got.at(i) - wanted.at(i));
  }
  return size > 0.01 ? largest : INFINITY;
}

/// The outputs of a stream for x [T, input].
template <class T>
Tensor streamed(const Model& model, const Tensor& x) {
  Stream<T> stream = model.stream<T>();
  const Tensor input = x.to(model.dtype());
  Tensor y({x.size(0), model.output_width()}, model.dtype());
  stream.block(input.values<T>().data(), y.values<T>().data(), x.size(0));
  return y;
}

/// The same bits step by step, where the model can stream.
void check_stream(const Model& model, const Tensor& x) {
  if (!model.evaluation_chain().obstacle().empty()) return;
  const Tensor y = model.predict(x);
  const Tensor steps = with_scalar(model.dtype(), [&]<class T>() { return streamed<T>(model, x); });
  const std::int64_t first = steps.numel() - y.numel();  // a model of the last step gives that step alone
  for (std::int64_t i = 0; i < y.numel(); ++i) CHECK(steps.at(first + i) == y.at(i));
}

Tensor row_of(const Tensor& x, std::int64_t row) {
  Tensor part({x.size(1), x.size(2)}, x.dtype());
  for (std::int64_t i = 0; i < part.numel(); ++i) part.set(i, x.at(row * part.numel() + i));
  return part;
}

TEST_CASE("random modules of PyTorch keep their outputs") {
  TensorReader outputs(read_safetensors(golden_folder() / "torch_outputs.safetensors"), "outputs");
  int doubles = 0;
  for (int number = 0; number < 30; ++number) {
    const std::string name = text_of(number < 10 ? "0" : "", number);
    CAPTURE(name);
    const ImportedModel imported = import_model(golden_folder() / ("torch_" + name + ".safetensors"));
    const Tensor x = outputs.take(name + ".x"), y = outputs.take(name + ".y");
    CHECK(imported.format == "torch");
    CHECK(largest_difference(imported.model.predict(x), y) <
          (imported.model.dtype() == Dtype::f64 ? 1e-12 : 1e-5));
    doubles += imported.model.dtype() == Dtype::f64 ? 1 : 0;
    check_stream(imported.model, row_of(x, 0));
  }
  CHECK(doubles == 9);
  outputs.finish();
}

TEST_CASE("ONNX models keep the outputs of onnxruntime") {
  TensorReader outputs(read_safetensors(golden_folder() / "onnx_outputs.safetensors"), "outputs");
  for (const std::string name : {"lstm_first_state", "gru_reset_before", "gru_reset_after_first_state",
                                 "rnn_relu_no_bias", "bidirectional_batch_first", "gemm_after_flattening",
                                 "skip_of_the_first_input", "last_state", "exported_by_torch"}) {
    CAPTURE(name);
    const ImportedModel imported = import_model(golden_folder() / (name + ".onnx"));
    const Tensor x = outputs.take(name + ".x"), y = outputs.take(name + ".y");
    CHECK(imported.format == "onnx");
    CHECK(largest_difference(imported.model.predict(x), y) < 1e-5);
    check_stream(imported.model, x);
  }
  outputs.finish();
}

TEST_CASE("modules that PyTorch exports keep the outputs of onnxruntime") {
  TensorReader outputs(read_safetensors(golden_folder() / "export_outputs.safetensors"), "outputs");
  for (const std::string name :
       {"05", "06", "13", "14", "15", "16", "24", "30", "39", "46", "50", "53", "54", "55", "57"}) {
    CAPTURE(name);
    const ImportedModel imported = import_model(golden_folder() / ("export_" + name + ".onnx"));
    const Tensor x = outputs.take(name + ".x"), y = outputs.take(name + ".y");
    CHECK(largest_difference(imported.model.predict(x), y) < 1e-5);
    if (name != "06") check_stream(imported.model, x);  // a mean over time is that of the steps so far
  }
  outputs.finish();
}

TEST_CASE(
    "a scale of the input is the model's normalization, and layers that lagtape has stay what they are") {
  const Model normalized = import_model(golden_folder() / "export_50.onnx").model;
  CHECK(normalized.normalization().input.mean == std::vector<double>{0.5, -1, 2});
  CHECK(normalized.normalization().input.scale == std::vector<double>{2, 0.5, 3});
  CHECK(normalized.layer_names() == std::vector<std::string>{"gru", "readout"});
  const Model embedded = import_model(golden_folder() / "export_53.onnx").model;
  CHECK(embedded.layer_names() == std::vector<std::string>{"embedding", "gru", "readout"});
}

TEST_CASE("state_dicts of cells, norms and averages keep the outputs of PyTorch") {
  TensorReader outputs(read_safetensors(golden_folder() / "dict_outputs.safetensors"), "outputs");
  const std::pair<std::string, std::string> dicts[] = {
      {"lstm_cell", ""},         {"gru_cells", ""},
      {"rnn_cell_no_bias", ""},  {"blocks", ""},
      {"weight_norm", "relu"},   {"parametrized_weight_norm", "relu"},
      {"spectral_norm", "relu"}, {"parametrized_spectral_norm", "relu"},
      {"gelu", "gelu"},          {"silu", "silu"},
      {"averaged", "relu"},      {"both_copies", "relu"}};
  for (const auto& [name, between] : dicts) {
    CAPTURE(name);
    const auto file = golden_folder() / ("dict_" + name + ".safetensors");
    ImportOptions options;
    options.between = between;
    const ImportedModel imported = import_model(file, options);
    CHECK(largest_difference(imported.model.predict(outputs.take(name + ".x")), outputs.take(name + ".y")) <
          1e-6);
    CHECK(imported.notes.size() == (name == "both_copies" ? 1 : 0));
    if (!between.empty()) CHECK(import_model(file).notes.back().starts_with("Linear maps follow each other"));
  }
  outputs.finish();
}

TEST_CASE(
    "loops, scans, heads on the memory, checkpoints and files of Keras keep the outputs of their programs") {
  const std::pair<std::string, std::vector<std::string>> programs[] = {
      {"loop_outputs",
       {"loop_leaky.onnx", "loop_cell.onnx", "scan_cell.onnx", "memory_head.onnx", "checkpoint.pt"}},
      {"keras_outputs", {"keras_layers.keras", "keras_loop.onnx", "keras_weights.h5"}}};
  for (const auto& [outputs_name, files] : programs) {
    TensorReader outputs(read_safetensors(golden_folder() / (outputs_name + ".safetensors")), "outputs");
    for (const std::string& file : files) {
      CAPTURE(file);
      std::string name = file.substr(0, file.find('.'));
      if (name.starts_with("keras_")) name = name.substr(6);
      const ImportedModel imported = import_model(golden_folder() / file);
      const Tensor x = outputs.take(name + ".x"), y = outputs.take(name + ".y");
      CHECK(largest_difference(imported.model.predict(x), y) < 1e-6);
      check_stream(imported.model, x);
    }
    outputs.finish();
  }
}

TEST_CASE("a model that lagtape's own cell computes is that cell, others are equations") {
  const Model own = import_model(golden_folder() / "exported_by_torch.onnx").model;
  CHECK(own.layer_names() == std::vector<std::string>{"lstm", "lstm", "readout"});
  const Model written = import_model(golden_folder() / "gru_reset_before.onnx").model;
  CHECK(written.layer_names() == std::vector<std::string>{"gru_reset_before", "readout"});
  CHECK(written.experiment().find("k = tanh((W_n @ (r * h) + W_n.bias) + (U_n @ x + U_n.bias))") !=
        std::string::npos);
}

TEST_CASE("a format that is not known is an error that names the nearest") {
  CHECK_THROWS_WITH_AS(
      import_model("model.json", {.format = "onxx"}),
      "unknown format 'onxx'; did you mean 'onnx'? Known: torch, keras, keras-weights, torch-json, "
      "rtneural, guitarml, nam, onnx",
      InputError);
}

}  // namespace
}  // namespace lagtape
