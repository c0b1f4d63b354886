#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/cells/build/cell.h"

namespace lagtape::test {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// A layer in f64 with values for the weights of its step, seen as a map from states to states: what the papers'
/// statements are about. A state is the present value of every state of the cell, one after the other; the values
/// before it, which only delays see, are zero unless given.
class Dynamics {
 public:
  /// Weights from U(-scale, scale).
  Dynamics(Layer layer, double scale, std::uint64_t seed);

  /// A weight of the step by its name ("W1", "W1.bias"). Throws Error for a name that it does not have.
  Tensor& weight(const std::string& name);
  /// Its largest sum of absolute values in a row.
  double row_sum_norm(const std::string& name);
  void fill(const std::string& name, double value);

  std::size_t size() const;  ///< numbers in a state
  std::int64_t input() const { return layer_.program.input.width(); }

  /// The states after every step, [T][size], of inputs x [T][input].
  Matrix run(const Vector& start, const Matrix& x) const;
  /// d(state after the last step) / d(state before the first one) by the engine's adjoint, [size][size].
  Matrix jacobian(const Vector& start, const Matrix& x) const;
  /// A value of the step by the name that its cell gave it ("g", "dt1"), at every step, [T][width].
  Matrix named(const std::string& name, const Vector& start, const Matrix& x) const;

 private:
  Matrix values(int value, const Vector& start, const Matrix& x) const;

  Layer layer_;
  std::vector<Tensor> weights_;
};

/// T inputs of `width` numbers from U(-scale, scale).
Matrix random_inputs(std::int64_t steps, std::int64_t width, double scale, std::uint64_t seed);
Vector random_state(std::size_t size, double scale, std::uint64_t seed);

double largest(const Vector& v);       ///< max |v_i|
double row_sum_norm(const Matrix& m);  ///< max_i sum_j |m_ij|

}  // namespace lagtape::test
