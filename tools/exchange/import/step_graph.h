#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// The node of a step's value.
enum class StepKind : std::uint8_t {
  input,       ///< the model's input
  constant,    ///< `weight`, a vector, or `number`
  map,         ///< weight @ a + bias
  element,     ///< `function` of one or two values, element-wise; one number broadcasts
  sum,         ///< the sum of a's numbers
  concat,      ///< values one after the other
  slice,       ///< `width` numbers of a, starting at `begin`
  layer_norm,  ///< (a - mean) / sqrt(variance + number) * weight + bias
  embedding,   ///< the rows of weight selected by a's numbers
  recurrence,  ///< recurrence number `begin`, applied to a
  over_time,  ///< `function` of the values of all steps so far: "first", "last", "mean", "sum", "maximum", "minimum"
  at_step,  ///< a's value at step `begin` out of `number` steps; -1: at the last of any number
  state,    ///< state number `begin` of cell `number`, before the step
  cell,     ///< its last operand is the input; the others are the states of cell `begin` after the step
};

/// A vector that is computed at every step.
struct StepValue {
  StepKind kind = StepKind::input;
  std::string function = {};  ///< an element function of equations, or "+", "-", "*", "/"
  std::vector<int> inputs = {};
  std::int64_t width = 0, begin = 0;
  int weight = -1, bias = -1;
  double number = 0;

  auto operator<=>(const StepValue&) const = default;
};

/// The values of a step, each computed from those before it. Equal computations share one value.
class StepGraph {
 public:
  int add(StepValue value);
  const StepValue& operator[](int value) const { return values_[static_cast<std::size_t>(value)]; }
  int size() const { return static_cast<int>(values_.size()); }
  std::int64_t width(int value) const { return (*this)[value].width; }

  /// The tensor with that name, made by `make` if it is missing.
  template <class Make>
  int weight(const std::string& name, Make make) {
    const auto [place, is_new] = weight_names_.emplace(name, 0);
    if (is_new) place->second = kept(make());
    return place->second;
  }
  const Tensor& tensor(int weight) const { return weights_[static_cast<std::size_t>(weight)]; }

  int number(double value);
  int vector(const std::vector<double>& values);  ///< one number if all are equal
  /// The numbers of a constant value, `width` of them.
  std::vector<double> constants(int value, std::int64_t width) const;
  int element(const std::string& function, int a);
  int element(const std::string& function, int a, int b);
  int scaled(int a, double k) { return element("*", a, number(k)); }
  int shifted(int a, double k) { return element("+", a, number(k)); }
  int slice(int value, std::int64_t begin, std::int64_t width);
  int concat(const std::vector<int>& parts);
  int map(int value, int weight, int bias = -1);

  std::vector<ForeignLayer> recurrences;       ///< ForeignRecurrence
  std::vector<std::vector<int>> first_states;  ///< constants of each cell

 private:
  int kept(Tensor tensor);  ///< the equal weight among them, or a new one

  std::vector<StepValue> values_;
  std::map<StepValue, int> known_;
  std::vector<Tensor> weights_;
  std::map<std::string, int> weight_names_;
};

}  // namespace lagtape::foreign
