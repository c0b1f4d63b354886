#include "lagtape/ops/recurrence/step/resets.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_copy.h"

namespace lagtape {
namespace {

/// The steps since a reset of a row that had none.
constexpr float kNever = 1 << 24;

void refuse_grid(const StepProgram& program) {
  for (const StateDefinition& state : program.states)
    if (state.arithmetic == Arithmetic::grid)
      throw InputError({.op = "reset"}, Rule::not_supported,
                       text_of("state ", state.name, " is on the grid and cannot begin again"), {},
                       "Give the layer \"arithmetic\": \"float\".");
}

class StepWithResetColumn final : public StepCopy {
 public:
  StepWithResetColumn(const StepProgram& program, std::int64_t column)
      : StepCopy(program, program.input.width()) {
    refuse_grid(program);
    const StepVar value = tape().sum(tape().slice(tape().input(), column, column + 1));
    reset_ = sign(relu(value));
    if (program.largest_lag() == 0) return;
    count_ = tape().state("resets", RowShape::scalar());
    tape().set_next(count_, count_ + reset_);
  }

 private:
  StepVar past(int state, std::int64_t lag) override {
    // The resets from that step to this one.
    const StepVar resets = lag == 0 ? reset_ : count_ - tape().lag(count_, lag) + reset_;
    return where_positive(StepCopy::past(state, lag), 0.5 - resets);
  }
  StepVar real_past(const Instruction&) override {
    throw InputError({.op = "reset"}, Rule::not_supported, "a step with trained lags has no resets");
  }
  StepVar step_index(const Instruction& index) override {
    return index.lag > 1 ? floor(tape().step_index() / static_cast<double>(index.lag)) : tape().step_index();
  }

  StepVar reset_, count_;
};

class StepWithResets final : public StepCopy {
 public:
  StepWithResets(const StepProgram& program, bool hands_on)
      : StepCopy(program, program.input.width() + 1), hands_on_(hands_on) {
    refuse_grid(program);
    since_ = tape().slice(tape().input(), input_width(), input_width() + 1);
  }

 private:
  std::int64_t input_width() const { return program().input.width(); }

  StepVar input() override { return tape().slice(tape().input(), 0, input_width()); }
  StepVar output(StepVar recorded) override {
    return hands_on_ ? tape().concatenate(recorded, since_) : recorded;
  }
  StepVar past(int state, std::int64_t lag) override {
    // A choice, since 0 times a state that has left all bounds is no number.
    return where_positive(StepCopy::past(state, lag), tape().sum(since_ - static_cast<double>(lag)));
  }
  StepVar real_past(const Instruction&) override {
    throw InputError({.op = "reset"}, Rule::not_supported, "a step with trained lags has no resets");
  }
  StepVar step_index(const Instruction&) override {
    throw InputError({.op = "reset"}, Rule::not_supported, "a step that reads its index n has no resets");
  }

  bool hands_on_;
  StepVar since_;
};

/// Copies rows of `width` numbers between tensors whose rows are `from` and `to` numbers wide.
template <class T>
Tensor copied(const Tensor& x, std::int64_t to_width, std::int64_t width, const std::vector<float>* last) {
  const std::int64_t rows = x.size(0) * x.size(1), from_width = x.size(2);
  Tensor copy({x.size(0), x.size(1), to_width}, x.dtype());
  const T* from = x.values<T>().data();
  T* to = copy.values<T>().data();
  for (std::int64_t i = 0; i < rows; ++i, from += from_width, to += to_width) {
    std::copy_n(from, width, to);
    if (last != nullptr) to[width] = static_cast<T>((*last)[static_cast<std::size_t>(i)]);
  }
  return copy;
}

}  // namespace

Resets::Resets(std::span<const std::uint8_t> mask, const Shape& batch, std::vector<std::int64_t> lengths)
    : rows_(batch[0]), steps_(batch[1]), lengths_(std::move(lengths)), since_(mask.size()) {
  if (std::ssize(mask) != rows_ * steps_)
    throw unexpected({.op = "reset"}, Rule::shape, text_of(rows_ * steps_, " numbers, one a step"),
                     text_of(mask.size()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const float before = i % static_cast<std::size_t>(steps_) == 0 ? kNever : since_[i - 1];
    since_[i] = mask[i] != 0 ? 0 : std::min(before + 1, kNever);
  }
}

Tensor Resets::beside(const Tensor& x) const {
  return with_scalar(x.dtype(), [&]<class T>() { return copied<T>(x, x.size(2) + 1, x.size(2), &since_); });
}

Tensor Resets::without(const Tensor& x) const {
  return with_scalar(x.dtype(),
                     [&]<class T>() { return copied<T>(x, x.size(2) - 1, x.size(2) - 1, nullptr); });
}

void Resets::forget(std::vector<Tensor>& states) const {
  for (std::int64_t b = 0; b < rows_; ++b) {
    const std::int64_t length = lengths_.empty() ? steps_ : lengths_[static_cast<std::size_t>(b)];
    const float since = since_[static_cast<std::size_t>(b * steps_ + length - 1)];
    if (since >= kNever) continue;
    for (Tensor& state : states) {
      if (state.empty()) continue;
      const std::int64_t history = state.size(0) - 1, width = state.size(2);
      with_scalar(state.dtype(), [&]<class T>() {
        for (std::int64_t j = 0; j < history - static_cast<std::int64_t>(since); ++j)
          std::fill_n(state.values<T>().data() + (j * rows_ + b) * width, width, T(0));
      });
    }
  }
}

StepProgram with_reset_column(const StepProgram& program, std::int64_t column) {
  return StepWithResetColumn(program, column).record();
}

StepProgram with_resets(const StepProgram& program, bool hands_on) {
  return StepWithResets(program, hands_on).record();
}

}  // namespace lagtape
