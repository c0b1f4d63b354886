#include "lagtape/tools/forecast/closed_loop.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// The inputs of all steps in the model's precision, completed by predictions as they come.
template <class T>
class ClosedLoop {
 public:
  ClosedLoop(const Model& model, const ForecastInputs& given)
      : model_(model),
        given_(given),
        stream_(model.stream<T>()),
        inputs_(given.inputs.to(model.dtype())),
        width_(given.inputs.size(1)),
        outputs_(model.output_width()),
        total_(given.inputs.size(0)),
        predicted_({total_ - given.known, outputs_}, model.dtype()) {}

  Tensor run() {
    if (reads_every_step(model_.at())) {
      run_through();
    } else {
      for (std::int64_t step = given_.known; step < total_; ++step) read_window(step);
    }
    return std::move(predicted_);
  }

 private:
  T* row(std::int64_t step) { return inputs_.template values<T>().data() + step * width_; }

  void run_through() {
    std::vector<T> output(static_cast<std::size_t>(outputs_));
    for (std::int64_t step = 0; step + given_.horizon < total_; ++step) {
      check(step);
      stream_.step(row(step), output.data());
      take(step + given_.horizon, output);
    }
  }

  void read_window(std::int64_t step) {
    std::vector<T> output(static_cast<std::size_t>(outputs_));
    stream_.reset();
    const std::int64_t end = step - given_.horizon + 1;
    for (std::int64_t n = end - given_.window; n < end; ++n) {
      check(n);
      stream_.step(row(n), output.data());
    }
    take(step, output);
  }

  /// Takes the prediction of a step, which is also the input of that step where it is fed back.
  void take(std::int64_t step, const std::vector<T>& output) {
    if (step < given_.known) return;
    for (std::int64_t i = 0; i < outputs_; ++i)
      predicted_.set((step - given_.known) * outputs_ + i,
                     static_cast<double>(output[static_cast<std::size_t>(i)]));
    for (const Feedback& fed : given_.feedback)
      row(step)[fed.input] = output[static_cast<std::size_t>(fed.output)];
  }

  void check(std::int64_t step) {
    const T* begin = row(step);
    const T* bad = std::find_if_not(begin, begin + width_, [](T value) { return std::isfinite(value); });
    if (bad == begin + width_) return;
    const bool was_fed = step >= given_.known && std::ranges::find(given_.feedback, bad - begin,
                                                                   &Feedback::input) != given_.feedback.end();
    throw InputError(text_of("[forecast] input ", bad - begin, was_fed ? " is not finite" : " is not known",
                             " at step ", step, ", ", step - given_.known + 1, " steps after the past."));
  }

  const Model& model_;
  const ForecastInputs& given_;
  Stream<T> stream_;
  Tensor inputs_;
  std::int64_t width_, outputs_, total_;
  Tensor predicted_;
};

void check(const Model& model, const ForecastInputs& given) {
  const Tensor& x = given.inputs;
  if (x.rank() != 2 || x.size(1) != model.input_width() || given.known < 1 || given.known >= x.size(0)) {
    throw InputError(text_of("[forecast] inputs are [known + steps, ", model.input_width(),
                             "] with at least one step of either kind. Got ", to_string(x.shape()), " with ",
                             given.known, " known."));
  }
  if (given.horizon < 1)
    throw InputError(
        text_of("[forecast] a forecast needs a horizon of at least 1. Got ", given.horizon, "."));
  const std::int64_t needed = given.horizon - 1 + (reads_every_step(model.at()) ? 1 : given.window);
  if (given.known < needed)
    throw InputError(text_of("[forecast] the past is too short: expected at least ", needed, " steps, got ",
                             given.known, "."));
  for (const Feedback& fed : given.feedback)
    if (fed.input < 0 || fed.input >= model.input_width() || fed.output < 0 ||
        fed.output >= model.output_width())
      throw InputError(
          text_of("[forecast] the model has no output ", fed.output, " or no input ", fed.input, "."));
}

}  // namespace

Tensor closed_loop(const Model& model, const ForecastInputs& given) {
  check(model, given);
  return with_scalar(model.dtype(), [&]<class T>() { return ClosedLoop<T>(model, given).run(); });
}

}  // namespace lagtape
