#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"

namespace lagtape {
namespace {

/// The largest change of a state, relative to the state if that is above 1.
double largest_change(const Window& before, const Window& after) {
  double largest = 0;
  for (std::size_t s = 0; s < after.states.size(); ++s)
    for (std::int64_t i = 0; i < after.states[s].numel(); ++i) {
      const double value = after.states[s].at(i);
      const double change = std::abs(value - before.states[s].at(i)) / std::max(1.0, std::abs(value));
      if (!(change <= largest)) largest = change;
    }
  return largest;
}

/// The states after enough steps that neither doubling their number nor one more step changes anything.
template <class T>
Window settled_states(const Model& model, double input) {
  constexpr std::int64_t kFirst = 256, kMost = std::int64_t{1} << 22;
  constexpr double kTolerance = sizeof(T) == 4 ? 4e-6 : 1e-10;
  Stream<T> stream = model.stream<T>();
  const std::vector<T> x(kFirst * model.input_width(), static_cast<T>(input));
  std::vector<T> y(kFirst * model.output_width());
  Window before = stream.window();
  double change = 0;
  for (std::int64_t until = kFirst; until <= kMost; until *= 2) {
    while (stream.steps() < until) stream.block(x.data(), y.data(), kFirst);
    const Window almost = stream.window();
    stream.step(x.data(), y.data());  // an oscillation changes it, whatever its period
    Window after = stream.window();
    change = std::max(largest_change(before, after), largest_change(almost, after));
    if (change <= kTolerance) {
      if (model.at() == ReadAt::mean) after.states.pop_back();  // the sum of outputs so far
      return after;
    }
    before = std::move(after);
  }
  throw InputError({.op = "rest"}, Rule::not_supported,
                   text_of("with the input ", input, " the states still change by ", change, " after ", kMost,
                           " steps: the model does not settle"));
}

}  // namespace

const Window& Model::start() const { return implementation_->chain.start; }

void Model::set_start(Window start) {
  Implementation& m = *implementation_;
  const auto shapes = window_shapes(m.evaluation_chain, 1, m.dtype());
  if (!start.states.empty() && start.states.size() != shapes.size())
    throw InputError({.op = "start"}, Rule::shape, text_of("the layers have ", shapes.size(), " states"),
                     text_of(start.states.size()));
  for (std::size_t s = 0; s < start.states.size(); ++s) {
    Tensor& state = start.states[s];
    const auto& [shape, type] = shapes[s];
    if (state.shape() != shape)
      throw InputError({.op = "start"}, Rule::shape, text_of("state ", s, " is ", to_string(shape)),
                       to_string(state.shape()));
    state = state.to(type).clone();
    for (std::int64_t i = 0; i < state.numel(); ++i)
      if (!std::isfinite(state.at(i)))
        throw InputError({.op = "start"}, Rule::not_finite,
                         text_of("state ", s, ": number ", i, " is not finite: ", state.at(i)));
  }
  m.chain.start = m.evaluation_chain.start = std::move(start);
  m.predictors.clear();
}

void Model::settle(double input) {
  const PlainArithmetic plain;
  if (tokens() > 0)
    throw InputError({.op = "rest"}, Rule::not_supported, "the inputs are tokens, of which none is rest");
  set_start(with_scalar(dtype(), [&]<class T>() {
    if (!std::isfinite(static_cast<T>(input)))
      throw InputError({.op = "rest"}, Rule::not_finite,
                       text_of("the input is a number that ", name_of(dtype()), " can hold"), text_of(input));
    return settled_states<T>(*this, input);
  }));
}

}  // namespace lagtape
