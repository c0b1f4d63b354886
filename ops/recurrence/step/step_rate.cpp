#include "lagtape/ops/recurrence/step/step_rate.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_copy.h"

namespace lagtape {
namespace {

/// A step that reads further into the past.
class StepAtRate final : public StepCopy {
 public:
  StepAtRate(const StepProgram& program, double rate, Interpolation interpolation)
      : StepCopy(program), rate_(rate), interpolation_(interpolation) {}

 private:
  StepVar past(int state, std::int64_t lag_of_training) override {
    constexpr double kWhole = 1e-9;
    const double lag = rate_ * static_cast<double>(lag_of_training + 1) - 1;
    const auto nearest = std::llround(lag);
    if (std::abs(lag - static_cast<double>(nearest)) < kWhole)
      return tape().lag(StepCopy::state(state), nearest);
    const auto below = static_cast<std::int64_t>(std::floor(lag));
    // Values after the current one are not known yet: short lags, and negative ones, use the current value and
    // earlier ones.
    if (interpolation_ == Interpolation::linear)
      return through(state, std::max<std::int64_t>(0, below), 2, lag);
    // Four points amplify far from their middle; three do not within half a step of theirs.
    if (lag > 0.5 && lag < 1) return through(state, 0, 3, lag);
    return through(state, std::max<std::int64_t>(0, below - 1), 4, lag);
  }

  StepVar real_past(const Instruction&) override {
    throw InputError({.op = "rate"}, Rule::not_supported,
                     "a step with trained lags runs at its own rate only");
  }
  StepVar step_index(const Instruction&) override {
    throw InputError({.op = "rate"}, Rule::not_supported,
                     "a step that reads its index n runs at its own rate only");
  }

  /// The value at `lag` of the polynomial through `count` past values.
  StepVar through(int state, std::int64_t first, std::int64_t count, double lag) {
    StepVar sum;
    for (std::int64_t j = 0; j < count; ++j) {
      double factor = 1;
      for (std::int64_t m = 0; m < count; ++m)
        if (m != j) factor *= (lag - static_cast<double>(first + m)) / static_cast<double>(j - m);
      const StepVar term = factor * tape().lag(StepCopy::state(state), first + j);
      sum = j == 0 ? term : sum + term;
    }
    return sum;
  }

  double rate_;
  Interpolation interpolation_;
};

}  // namespace

Interpolation interpolation_named(const std::string& name) {
  if (name == "linear") return Interpolation::linear;
  if (name == "cubic") return Interpolation::cubic;
  throw InputError(unknown_name("interpolation", name, {"linear", "cubic"}));
}

StepProgram step_at_rate(const StepProgram& program, double rate, Interpolation interpolation) {
  if (!(rate >= kSmallestRate && rate <= kLargestRate))
    throw InputError({.op = "rate"}, Rule::out_of_range,
                     text_of("a recurrence runs at ", kSmallestRate, " to ", kLargestRate, " times its rate"),
                     text_of(rate));
  if (rate == 1) return program;
  return StepAtRate(program, rate, interpolation).record();
}

}  // namespace lagtape
