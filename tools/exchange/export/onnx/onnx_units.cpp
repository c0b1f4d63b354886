#include "lagtape/tools/exchange/export/onnx/onnx_units.h"

#include <vector>

namespace lagtape {
namespace {

/// A mean as a number of the model's precision and the rest, so that a small difference to a large mean keeps
/// its digits.
std::vector<double> rounded(const std::vector<double>& mean, Dtype dtype) {
  std::vector<double> values = mean;
  if (dtype == Dtype::f32)
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

std::vector<double> rest_of(const std::vector<double>& mean, Dtype dtype) {
  std::vector<double> rest = rounded(mean, dtype);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = mean[i] - rest[i];
  return rest;
}

}  // namespace

std::string add_input(OnnxWriter& graph, const ExportedModel& model, const OnnxShape& leading) {
  if (!model.table.empty()) {
    graph.input("tokens", OnnxType::i64, leading);
    return graph.node("Gather", {graph.constant("table", model.table), "tokens"});
  }
  OnnxShape shape = leading;
  shape.emplace_back(model.input);
  graph.input("x", onnx_type(model.dtype), shape);
  const Scaling& scaling = model.normalization.input;
  if (scaling.empty()) return "x";
  const Shape width = {model.input};
  const std::string mean =
      graph.numbers(width, rounded(scaling.mean, model.dtype), model.dtype, "input.mean");
  const std::string rest =
      graph.numbers(width, rest_of(scaling.mean, model.dtype), model.dtype, "input.mean_rest");
  const std::string scale = graph.numbers(width, scaling.scale, model.dtype, "input.scale");
  const std::string centered = graph.node("Sub", {graph.node("Sub", {"x", mean}), rest});
  return graph.node("Div", {centered, scale}, {}, "input.normalized");
}

void add_output(OnnxWriter& graph, const ExportedModel& model, const std::string& y,
                const OnnxShape& leading) {
  const Scaling& scaling = model.normalization.output;
  OnnxShape shape = leading;
  shape.emplace_back(model.output_width());
  std::string value = y;
  if (!scaling.empty()) {
    const Shape width = {model.output_width()};
    const std::string scale = graph.numbers(width, scaling.scale, model.dtype, "output.scale");
    const std::string rest =
        graph.numbers(width, rest_of(scaling.mean, model.dtype), model.dtype, "output.mean_rest");
    const std::string mean =
        graph.numbers(width, rounded(scaling.mean, model.dtype), model.dtype, "output.mean");
    value = graph.node("Add", {graph.node("Add", {graph.node("Mul", {value, scale}), rest}), mean});
  }
  graph.output(graph.node("Identity", {value}, {}, "y"), onnx_type(model.dtype), shape);
}

}  // namespace lagtape
