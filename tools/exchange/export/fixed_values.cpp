#include "lagtape/tools/exchange/export/fixed_values.h"

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const Tensor& tensor) {
  Numbers numbers(tensor.numel());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = tensor.at(i);
  return numbers;
}

/// Weight [out, in] @ a [groups, in].
Numbers product(const Tensor& weight, const Numbers& a, std::int64_t width) {
  const std::int64_t out = weight.size(0), in = weight.size(1);
  Numbers y(width);
  for (std::int64_t i = 0; i < width; ++i)
    for (std::int64_t j = 0; j < in; ++j) y[i] += weight.at(i % out * in + j) * a[i / out * in + j];
  return y;
}

/// A value from those of its operands; `b` is empty where there is only one.
Numbers value_of(const Instruction& v, const ExportedLayer& layer, const Numbers& a, const Numbers& b) {
  const std::int64_t width = v.shape.width();
  Numbers y(width);
  const auto from = [](const Numbers& numbers, std::int64_t i) {
    return numbers.size() == 1 ? numbers[0] : numbers[i];
  };
  switch (v.op) {
    case StepOp::product: return product(layer.weights[v.index], a, width);
    case StepOp::reshape: return a;
    case StepOp::concatenate: y = a; return y.insert(y.end(), b.begin(), b.end()), y;
    case StepOp::view:
      for (std::int64_t i = 0; i < width; ++i) y[i] = from(a, place_in_view(v, i));
      return y;
    case StepOp::slice: return {a.begin() + v.index, a.begin() + v.index + width};
    case StepOp::sum:
      for (std::size_t i = 0; i < a.size(); ++i) y[i / (a.size() / y.size())] += a[i];
      return y;
    case StepOp::broadcast:
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i / (y.size() / a.size())];
      return y;
    case StepOp::element:
      for (std::int64_t i = 0; i < width; ++i)
        y[i] = function_of(v.element).value(from(a, i), b.empty() ? 0 : from(b, i));
      return y;
    default: throw Error("[export] no rule for a fixed operation.");
  }
}

}  // namespace

std::vector<std::vector<double>> fixed_values(const ExportedLayer& layer) {
  std::vector<Numbers> values;
  for (const Instruction& v : layer.program.values) {
    Numbers y;
    if (v.op == StepOp::weight) {
      y = numbers_of(layer.weights[v.index]);
    } else if (v.op == StepOp::constant) {
      y = {v.value};
    } else if (v.op == StepOp::draw) {
      y.assign(v.shape.width(), layer.program.draws[v.index].evaluation);
    } else if (!is_leaf(v.op) && !values[v.a].empty() && (v.b < 0 || !values[v.b].empty())) {
      y = value_of(v, layer, values[v.a], v.b < 0 ? Numbers() : values[v.b]);
    }
    values.push_back(std::move(y));
  }
  return values;
}

}  // namespace lagtape
