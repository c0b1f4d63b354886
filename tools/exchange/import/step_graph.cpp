#include "lagtape/tools/exchange/import/step_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape::foreign {

int StepGraph::add(StepValue value) {
  const auto [place, is_new] = known_.emplace(value, size());
  if (is_new) values_.push_back(std::move(value));
  return place->second;
}

int StepGraph::kept(Tensor tensor) {
  // Exporters write the weights of a cell anew for each step.
  const auto equal = [&](const Tensor& other) {
    if (other.shape() != tensor.shape()) return false;
    const std::span<const double> a = other.values<double>(), b = std::as_const(tensor).values<double>();
    return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  };
  const auto found = std::ranges::find_if(weights_, equal);
  if (found != weights_.end()) return static_cast<int>(found - weights_.begin());
  weights_.push_back(std::move(tensor));
  return static_cast<int>(weights_.size()) - 1;
}

int StepGraph::number(double value) {
  if (!std::isfinite(
          value)) {  // refused with the values of all weights; not equal to itself, it has no place in a map
    const int kept = weight(text_of("number ", std::bit_cast<std::int64_t>(value)),
                            [&] { return Tensor::from({1}, std::vector<double>{value}, Dtype::f64); });
    return add({.kind = StepKind::constant, .width = 1, .weight = kept});
  }
  return add({.kind = StepKind::constant, .width = 1, .number = value});
}

int StepGraph::vector(const std::vector<double>& values) {
  if (std::ranges::all_of(values, [&](double value) { return value == values.front(); }))
    return number(values.front());
  std::string name = "vector";
  for (const double value : values) name += std::to_string(std::bit_cast<std::int64_t>(value)) + " ";
  const auto width = std::ssize(values);
  return add({.kind = StepKind::constant, .width = width, .weight = weight(name, [&] {
                                                            return Tensor::from({width}, values, Dtype::f64);
                                                          })});
}

std::vector<double> StepGraph::constants(int value, std::int64_t width) const {
  const StepValue& constant = (*this)[value];
  std::vector<double> numbers(static_cast<std::size_t>(width), constant.number);
  if (constant.weight >= 0)
    for (std::int64_t i = 0; i < width; ++i)
      numbers[static_cast<std::size_t>(i)] = tensor(constant.weight).at(i);
  return numbers;
}

int StepGraph::element(const std::string& function, int a) {
  return add({.kind = StepKind::element, .function = function, .inputs = {a}, .width = width(a)});
}

int StepGraph::element(const std::string& function, int a, int b) {
  return add({.kind = StepKind::element,
              .function = function,
              .inputs = {a, b},
              .width = std::max(width(a), width(b))});
}

int StepGraph::slice(int value, std::int64_t begin, std::int64_t width) {
  const StepValue whole = (*this)[value];
  if (begin == 0 && width == whole.width) return value;
  if (whole.kind == StepKind::slice) return slice(whole.inputs[0], whole.begin + begin, width);
  if (whole.kind == StepKind::concat)  // of one part only
    for (std::int64_t at = 0; const int part : whole.inputs) {
      if (begin >= at && begin + width <= at + this->width(part)) return slice(part, begin - at, width);
      at += this->width(part);
    }
  return add({.kind = StepKind::slice, .inputs = {value}, .width = width, .begin = begin});
}

int StepGraph::concat(const std::vector<int>& parts) {
  if (parts.size() == 1) return parts.front();
  std::int64_t width = 0;
  for (const int part : parts) width += this->width(part);
  return add({.kind = StepKind::concat, .inputs = parts, .width = width});
}

int StepGraph::map(int value, int weight, int bias) {
  return add({.kind = StepKind::map,
              .inputs = {value},
              .width = tensor(weight).size(0),
              .weight = weight,
              .bias = bias});
}

}  // namespace lagtape::foreign
