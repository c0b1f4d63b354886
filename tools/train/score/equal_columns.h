#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lagtape {

/// Finds the inputs that equal a target at every step, step by step. Inputs and targets that have been equal so
/// far form one class, so the time grows with inputs plus targets rather than their product.
class EqualColumns {
 public:
  EqualColumns(std::int64_t inputs, std::int64_t targets);

  /// The inputs and targets of a step; a NaN target is missing and equals everything.
  void add(std::span<const double> x, std::span<const double> y);

  /// The number of pairs that were equal at every step with a known target, with at least one such step.
  std::int64_t count() const;
  /// The first pairs of an input and a target, ordered by input; at most `most`.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(std::size_t most) const;
  /// The number of dropped targets: gaps put them into too many classes with the same inputs.
  std::int64_t given_up() const { return given_up_; }

 private:
  using Ids = std::vector<std::int32_t>;
  /// Inputs and targets that were equal at every step at which these targets were known. With gaps, other
  /// classes may have the same inputs.
  struct Class {
    Ids inputs, targets;
    bool has_gaps = false;
  };

  void split(Class whole, std::span<const double> x, std::span<const double> y);

  Ids inputs_, unknown_;  ///< all inputs; the targets without a number so far
  std::vector<Class> classes_;
  std::int64_t left_ = 300'000'000;  ///< inputs of classes with gaps that may still be compared
  std::int64_t given_up_ = 0;
};

}  // namespace lagtape
