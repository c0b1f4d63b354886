#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lagtape/ops/recurrence/equations/right_side.h"

namespace lagtape {

/// Numbers with their derivatives in several directions: n values, then the derivatives of each.
struct Duals {
  std::vector<double> v, d;

  Duals() = default;
  Duals(std::size_t n, std::size_t directions) : v(n), d(n * directions) {}
};

/// Marks the values that these need and, with `partials`, their derivatives.
std::vector<bool> needed_values(const RightSide& side, const std::vector<int>& roots, bool partials);

/// The values of some numbers of a right-hand side with their derivatives, by forward tangents: first all
/// values, including the derivative of each function with respect to its operands, then the tangents. In f64,
/// one row.
class DualProgram {
 public:
  /// Fills in the values of leaves that change over time (tangents: false) or their derivatives, which come
  /// second.
  using Leaf = std::function<void(int value, bool tangents)>;

  /// The weights, one list each; `directions` lists the numbers with respect to which to differentiate:
  /// (weight, element).
  DualProgram(const RightSide& side, const std::vector<int>& roots,
              const std::vector<std::vector<double>>& weights,
              const std::vector<std::pair<int, std::int64_t>>& directions);

  /// The leaves that `run` reads, in order.
  std::vector<int> leaves() const;
  void run(const Leaf& leaf);

  std::span<double> values(int value) { return {&v_[offset_[value]], width_[value]}; }
  std::span<double> tangents(int value) {
    return {d_.data() + offset_[value] * directions_, width_[value] * directions_};
  }
  /// The first value that is not finite although its operands are; -1: none.
  int first_that_is_not_finite();

 private:
  void evaluate(int id);
  void differentiate(int id);
  void differentiate_by_matrix(int id);
  void add_scaled(int id, int operand, int partial);

  const StepProgram& program_;
  const std::vector<RightSide::Partials>& partials_;
  const std::vector<std::vector<double>>& weights_;
  std::vector<std::pair<int, std::int64_t>> by_;
  std::size_t directions_;
  std::vector<std::size_t> offset_, width_;
  std::vector<double> v_, d_;
  std::vector<int> values_order_, tangents_order_;  // values that change over time
};

}  // namespace lagtape
