#include "lagtape/tools/exchange/export/plain/keras_file.h"

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/tools/exchange/export/plain/plain_model.h"

namespace lagtape {
namespace {

using Gates = std::vector<std::string>;

Json numbers(const Tensor& vector) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < vector.numel(); ++i) list.push_back(vector.at(i));
  return list;
}

/// A matrix [out, in] as Keras has it, [in, out].
Json kernel(const Tensor& matrix) {
  const std::int64_t out = matrix.size(0), in = matrix.size(1);
  Json rows = Json::array();
  for (std::int64_t j = 0; j < in; ++j) {
    Json row = Json::array();
    for (std::int64_t i = 0; i < out; ++i) row.push_back(matrix.at(i * in + j));
    rows.push_back(row);
  }
  return rows;
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor sum = a.clone();
  for (std::int64_t i = 0; i < sum.numel(); ++i) sum.set(i, a.at(i) + b.at(i));
  return sum;
}

Json weights_of(const GatedLayer& layer) {
  if (layer.cell == "linear")
    return std::vector<Json>{kernel(layer.weight("W")), numbers(layer.weight("W.bias"))};
  const Gates gates = layer.cell == "lstm" ? Gates{"_i", "_f", "_g", "_o"} : Gates{"_z", "_r", "_n"};
  const Tensor input_bias = layer.stacked("U", gates, ".bias"),
               state_bias = layer.stacked("W", gates, ".bias");
  Json bias = Json::array();
  if (layer.cell == "lstm" || layer.resets_before) {
    bias = numbers(sum_of(input_bias, state_bias));
  } else {
    bias.push_back(numbers(input_bias));
    bias.push_back(numbers(state_bias));
  }
  Json weights = Json::array();
  weights.push_back(kernel(layer.stacked("U", gates)));
  weights.push_back(kernel(layer.stacked("W", gates)));
  weights.push_back(bias);
  return weights;
}

Json shape_of(std::int64_t width) {
  Json shape = Json::array();
  shape.push_back(Json());
  shape.push_back(Json());
  shape.push_back(Json(width));
  return shape;
}

}  // namespace

std::string keras_file(const Model& model) {
  const PlainArithmetic arithmetic;
  const PlainModel plain = plain_model(model, {"RTNeural", {"lstm", "gru", "linear"}, true, true});
  Json layers = Json::array();
  for (const GatedLayer& layer : plain.layers) {
    Json entry = Json::object();
    entry["type"] = layer.cell == "linear" ? Json("dense") : Json(layer.cell);
    entry["activation"] = layer.cell == "linear" ? Json(layer.function) : Json("tanh");
    entry["shape"] = shape_of(layer.units);
    entry["weights"] = weights_of(layer);
    layers.push_back(entry);
  }
  Json root = Json::object();
  root["in_shape"] = shape_of(plain.layers.front().input);
  root["layers"] = layers;
  return root.dump() + "\n";
}

}  // namespace lagtape
