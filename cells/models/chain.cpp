#include "lagtape/cells/models/chain.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lagtape {
namespace {

/// States `first` to `first + count - 1` of a window of the whole chain.
Window states_of(const Window& window, std::size_t first, std::size_t count) {
  return {{window.states.begin() + static_cast<std::ptrdiff_t>(first),
           window.states.begin() + static_cast<std::ptrdiff_t>(first + count)}};
}

}  // namespace

Chain::Chain(ChainDefinition chain, Dtype type, const SequenceSettings& settings)
    : definition(std::move(chain)), dtype(type) {
  for (const ChainPart& part : definition.parts) {
    ops.emplace_back();
    auto stacks = part.layer ? part.layer->ops() : std::vector<StackDefinition>{part.stack};
    for (StackDefinition& stack : stacks) {
      stack.products = definition.products;
      for (StepProgram& layer : stack.layers)
        for (StateDefinition& state : layer.states)
          state.arithmetic = definition.states.value_or(state.arithmetic);
      ops.back().emplace_back(stack, dtype, settings);
    }
  }
}

SequenceBatch Chain::seen(const SequenceBatch& batch) const {
  SequenceBatch result = batch;
  if (definition.at() == ReadAt::last_padded_step) result.lengths.clear();
  return result;
}

Tensor Chain::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                       const Window* initial, Window* final_window) {
  const Window start = initial == nullptr ? start_window(definition, batch.x.size(0), dtype) : Window{};
  if (!start.states.empty()) initial = &start;
  if (is_one_op()) return ops[0][0].evaluate(weights, batch, pool, initial, final_window);
  SequenceBatch now = seen(batch);
  if (final_window != nullptr) *final_window = {};
  std::size_t state = 0;
  for (std::size_t i = 0; i < definition.parts.size(); ++i) {
    const ChainPart& part = definition.parts[i];
    const auto own = weights.first(part.weights);
    weights = weights.subspan(part.weights);
    if (part.layer) {
      now.x = part.layer->evaluate(own, now.x, now, pool, ops[i]);
      if (part.layer->ends_sequences()) now.lengths.clear();
      continue;
    }
    const std::size_t states = state_count(part.stack);
    const Window begin = initial != nullptr ? states_of(*initial, state, states) : Window{};
    Window end;
    now.x = ops[i][0].evaluate(own, now, pool, initial != nullptr ? &begin : nullptr,
                               final_window != nullptr ? &end : nullptr);
    if (final_window != nullptr) std::ranges::move(end.states, std::back_inserter(final_window->states));
    state += states;
  }
  return now.x;
}

}  // namespace lagtape
