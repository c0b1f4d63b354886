#include "lagtape/tools/exchange/import/nam_file.h"

#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/json_tensor.h"

namespace lagtape::foreign {
namespace {

/// Takes tensors from the front of a list of numbers.
class NumberList {
 public:
  NumberList(Tensor values, Place place) : values_(std::move(values)), place_(std::move(place)) {}

  Tensor take(const Shape& shape) {
    const std::int64_t count = element_count(shape);
    if (count > values_.numel() - taken_)
      throw InputError(place_, Rule::shape,
                       text_of(values_.numel(), " numbers are fewer than the sizes in /config need."));
    const Tensor part = rows_of(values_, taken_, count).reshaped(shape);
    taken_ += count;
    return part;
  }
  void finish() const {
    if (taken_ != values_.numel())
      throw unexpected(place_, Rule::shape, text_of(taken_, " numbers, which the sizes in /config need"),
                       text_of(values_.numel()));
  }

 private:
  Tensor values_;
  Place place_;
  std::int64_t taken_ = 0;
};

/// Columns begin .. begin + count - 1 of a matrix.
Tensor columns_of(const Tensor& matrix, std::int64_t begin, std::int64_t count) {
  return transposed(rows_of(transposed(matrix), begin, count));
}

bool is_zero(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    if (tensor.at(i) != 0) return false;
  return true;
}

}  // namespace

ForeignModel read_nam(const Json& root, const std::string& where) {
  if (const std::string kind = text_at(root, "architecture", {where}); kind != "LSTM")
    throw unexpected({.file = where, .pointer = "/architecture"}, Rule::not_supported,
                     "the supported architecture LSTM", quote(kind));
  const Json& config = object_at(root, "config", {where});
  const Place place{.file = where, .pointer = "/config"};
  check_keys(config, {"input_size", "hidden_size", "num_layers", "in_channels", "out_channels"}, place);
  ForeignModel model{.format = "nam", .input = count_at(config, "input_size", place)};
  const std::int64_t units = count_at(config, "hidden_size", place),
                     layers = count_at(config, "num_layers", place);
  const auto channels = [&](const char* key, std::int64_t missing) {
    return config.contains(key) ? count_at(config, key, place) : missing;
  };
  const std::int64_t outputs = channels("out_channels", 1);
  if (const std::int64_t inputs = channels("in_channels", model.input); inputs != model.input)
    throw unexpected(part_of(place, "in_channels"), Rule::conflict, text_of(model.input, ", as input_size"),
                     text_of(inputs));
  const Place list{.file = where, .pointer = "/weights"};
  NumberList weights(tensor_of(array_at(root, "weights", {where}), list), list);
  for (std::int64_t l = 0; l < layers; ++l) {
    ForeignCell cell;
    cell.units = units;
    cell.input = l == 0 ? model.input : units;
    const Tensor matrix = weights.take({4 * units, cell.input + units}), bias = weights.take({4 * units});
    cell.gates = split_gates(CellKind::lstm, gates_of(CellKind::lstm), columns_of(matrix, cell.input, units),
                             columns_of(matrix, 0, cell.input), {}, bias);
    cell.h0 = weights.take({units});
    cell.c0 = weights.take({units});
    if (is_zero(cell.h0)) cell.h0 = {};
    if (is_zero(cell.c0)) cell.c0 = {};
    model.layers.push_back({text_of("layer ", l), ForeignRecurrence{{cell}}});
  }
  const Tensor W = weights.take({outputs, units}), bias = weights.take({outputs});
  model.layers.push_back({"the map", ForeignDense{W, bias, ""}});
  weights.finish();
  return model;
}

}  // namespace lagtape::foreign
