#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lagtape {

/// Finds the inputs that equal a target at every step, step by step. Inputs that were equal so far are one class, and
/// a target knows the classes that it equals, so that the time grows as inputs and targets and not as their product.
class EqualColumns {
 public:
  EqualColumns(std::int64_t inputs, std::int64_t targets);

  /// The inputs and targets of a step; a target of NaN is missing and equals everything.
  void add(std::span<const double> x, std::span<const double> y);

  /// The number of pairs that were equal at every step at which the target was known, of which there was one.
  std::int64_t count() const;
  /// The first pairs of an input and a target, ordered by input; at most `most`.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(std::size_t most) const;
  /// The number of targets that were given up: gaps made them equal to too many classes at a time.
  std::int64_t given_up() const { return given_up_; }

 private:
  using Ids = std::vector<std::int32_t>;
  enum class State : std::uint8_t { unknown, followed, given_up };

  void split(std::span<const double> x);
  void follow(std::size_t target, std::span<const double> x, double value);
  void begin(std::size_t target, std::span<const double> x, double value);
  double value_of(std::int32_t id, std::span<const double> x) const;

  std::vector<Ids> classes_;                  ///< the inputs of each
  std::vector<Ids> of_target_;                ///< the classes that a target has equalled
  std::vector<State> states_;                 ///< a target is unknown until its first number
  std::int64_t given_up_ = 0, followed_ = 0;  ///< targets, and entries of of_target_
  /// What this step split off each class, by value, and what was NaN.
  std::unordered_map<std::int32_t, std::pair<std::unordered_map<double, std::int32_t>, Ids>> parts_;
  std::unordered_map<double, Ids> by_value_;  ///< the classes of this step, if a target begins
};

}  // namespace lagtape
