#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// The value of a window [history + 1, rows, width] so many steps before the present one, on the line between two
/// values, and beyond the oldest one that itself.
double value_before(const Tensor& state, double steps, std::int64_t element) {
  const std::int64_t count = state.size(0), size = state.numel() / count;
  const double at = std::max(0.0, static_cast<double>(count - 1) - steps);
  const auto older = static_cast<std::int64_t>(at);
  const double part = at - static_cast<double>(older), first = state.at(older * size + element);
  return part == 0 ? first : first + part * (state.at((older + 1) * size + element) - first);
}

/// A window with as many past values as the layers of `stack` need, which lie 1 / rate steps apart.
Window at_rate(const Window& window, const StackDefinition& stack, double rate, Dtype dtype) {
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

}  // namespace

template <class T>
Stream<T> Model::stream(const StreamOptions& options) const {
  if (dtype_of<T> != dtype())
    throw InputError(
        text_of("[stream] the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  const ChainDefinition& chain = evaluation_chain();
  if (!chain.obstacle().empty()) throw InputError(text_of("[stream] ", chain.obstacle()));
  StackDefinition stack = chain.parts.back().stack;
  Window start = start_window(chain, options.rows, dtype());
  if (options.rate != 1) {
    for (StepProgram& layer : stack.layers) layer = step_at_rate(layer, options.rate, options.interpolation);
    start = at_rate(start, stack, options.rate, dtype());
  }
  std::vector<Tensor> own = weights();
  const bool has_table = tokens() > 0;
  const std::span<const Tensor> weights = std::span<const Tensor>(own).subspan(has_table ? 1 : 0);
  return Stream<T>(stack, weights, options.rows, best_level(), has_table ? own.front() : Tensor(),
                   normalization(), start);
}

template <class T>
Stream<T> Model::stream(std::int64_t rows) const {
  return stream<T>(StreamOptions{.rows = rows});
}

template Stream<float> Model::stream(const StreamOptions&) const;
template Stream<double> Model::stream(const StreamOptions&) const;
template Stream<float> Model::stream(std::int64_t) const;
template Stream<double> Model::stream(std::int64_t) const;

}  // namespace lagtape
