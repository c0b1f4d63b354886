#include "lagtape/cells/models/model_rate.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/random.h"

namespace lagtape {
namespace {

constexpr double kPush = 1e-6, kGrowth = 100;
constexpr std::int64_t kWarmUp = 512, kSteps = 256;

/// The value in a window [history + 1, rows, width] that many steps before the current one.
double value_before(const Tensor& state, double steps, std::int64_t element) {
  const std::int64_t count = state.size(0), size = state.numel() / count;
  const double at = std::max(0.0, static_cast<double>(count - 1) - steps);
  const auto older = static_cast<std::int64_t>(at);
  const double part = at - static_cast<double>(older), first = state.at(older * size + element);
  return part == 0 ? first : first + part * (state.at((older + 1) * size + element) - first);
}

/// Adds numbers within +-kPush to the states, as multiples of 2^-32, so states on the grid stay on it.
Window pushed(const Window& window) {
  Window result;
  RandomStream random(1, 0);
  for (const Tensor& state : window.states) {
    Tensor copy = state.clone();
    for (std::int64_t i = 0; i < copy.numel(); ++i) {
      const double push = kPush * (2 * random.next_uniform() - 1);
      copy.set(i, copy.at(i) + std::ldexp(std::nearbyint(std::ldexp(push, 32)), -32));
    }
    result.states.push_back(std::move(copy));
  }
  return result;
}

void run(Stream<double>& stream, double input, std::int64_t steps) {
  const std::vector<double> x(stream.input_width(), input);
  std::vector<double> y(stream.output_width());
  for (std::int64_t n = 0; n < steps; ++n) stream.step(x.data(), y.data());
}

/// The largest difference of states after kSteps of a constant input, between a stream that starts at `window`
/// and one that starts at a perturbed copy.
double distance(Stream<double>& stream, const Window& window, double input) {
  stream.restore(window, 0);
  run(stream, input, kSteps);
  const Window end = stream.window();
  stream.restore(pushed(window), 0);
  run(stream, input, kSteps);
  const Window other = stream.window();
  double largest = 0;
  for (std::size_t s = 0; s < end.states.size(); ++s)
    for (std::int64_t i = 0; i < end.states[s].numel(); ++i)
      if (const double d = std::abs(end.states[s].at(i) - other.states[s].at(i)); !(d <= largest))
        largest = d;
  return largest;
}

/// A stream over only the layers, in f64 and without rounding, which would swallow the smallest differences.
Stream<double> layers_stream(StackDefinition stack, std::span<const Tensor> weights) {
  stack.products = ProductFormat::scalar;
  stack.at = ReadAt::every_step;
  return Stream<double>(stack, weights);
}

}  // namespace

StackDefinition stack_at_rate(StackDefinition stack, const StreamOptions& options) {
  for (StepProgram& layer : stack.layers) layer = step_at_rate(layer, options.rate, options.interpolation);
  return stack;
}

Window at_rate(const Window& window, const StackDefinition& stack, double rate, Dtype dtype) {
  if (rate == 1) return window;
  Window result;
  auto state = window.states.begin();
  for (const StepProgram& layer : stack.layers)
    for (std::size_t s = 0; state != window.states.end() && s < layer.states.size(); ++s, ++state) {
      auto [shape, type] = state_window(layer, static_cast<int>(s), state->size(1), dtype);
      Tensor past(shape, type);
      const std::int64_t size = past.numel() / past.size(0);
      for (std::int64_t i = 0; i < past.numel(); ++i)
        past.set(i, value_before(*state, static_cast<double>(past.size(0) - 1 - i / size) / rate, i % size));
      result.states.push_back(std::move(past));
    }
  return result;
}

void check_stability(const Model& model, const StackDefinition& stack, const StreamOptions& options) {
  std::vector<Tensor> weights;
  for (const Tensor& weight : model.weights()) weights.push_back(weight.to(Dtype::f64));
  const StackDefinition& own_stack = model.evaluation_chain().parts.back().stack;
  Stream<double> own = layers_stream(own_stack, weights), other = layers_stream(stack, weights);
  for (const double input : {0.0, 0.1, -0.1, 0.3, -0.3}) {
    own.reset();
    run(own, input, kWarmUp);
    const Window window = own.window();
    const double near = distance(own, window, input),
                 far = distance(other, at_rate(window, stack, options.rate, Dtype::f64), input);
    if (far <= kGrowth * std::max(near, kPush)) continue;
    throw InputError({.op = "rate"}, Rule::not_supported,
                     text_of("at a rate of ", options.rate, " with ",
                             options.interpolation == Interpolation::cubic ? "cubic" : "linear",
                             " interpolation the model is not stable: with the constant input ", input,
                             " a difference of ", kPush, " in its states becomes ", far, " in ", kSteps,
                             " steps, and ", near, " at its own rate"),
                     {}, "Try the other interpolation, or resample.");
  }
}

}  // namespace lagtape
