#include "lagtape/cells/models/chain.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lagtape/cells/models/chain_implementation.h"
#include "lagtape/core/random.h"

namespace lagtape {
namespace {

/// Those of one link out of a window of the whole chain.
Window part_of(const Window& window, std::size_t first, std::size_t count) {
  return {{window.states.begin() + static_cast<std::ptrdiff_t>(first),
           window.states.begin() + static_cast<std::ptrdiff_t>(first + count)}};
}

}  // namespace

ChainOp::Implementation::Implementation(ChainDefinition definition, Dtype type, const SequenceSettings& given)
    : chain(std::move(definition)), dtype(type), settings(given) {
  for (const Link& link : chain.links) {
    ops.emplace_back();
    auto stacks = link.layer ? link.layer->ops() : std::vector<StackDefinition>{link.stack};
    for (StackDefinition& stack : stacks) {
      for (StepProgram& layer : stack.layers)
        for (StateDefinition& state : layer.states)
          state.arithmetic = chain.states.value_or(state.arithmetic);
      ops.back().emplace_back(stack, dtype, settings);
      made_with.push_back(settings);
    }
  }
}

SequenceBatch ChainOp::Implementation::seen(const SequenceBatch& batch) const {
  SequenceBatch result = batch;
  if (chain.at() == ReadAt::last_padded_step) result.lengths.clear();
  return result;
}

std::vector<std::int64_t> ChainOp::Implementation::steps_of_links(std::int64_t steps) const {
  std::vector<std::int64_t> all;
  for (const Link& link : chain.links) {
    all.push_back(steps);
    if (link.layer && link.layer->ends_sequences()) steps = 1;
  }
  return all;
}

DrawKey draws_of_part(const DrawKey& draws, std::size_t part) {
  constexpr std::uint64_t kUse = 0x70617274;  // "part"
  DrawKey own = draws;
  if (part > 0) own.seed = stream_name({kUse, draws.seed, part});
  return own;
}

ChainOp::ChainOp(ChainDefinition chain, Dtype dtype, SequenceSettings settings)
    : implementation_(std::make_unique<Implementation>(std::move(chain), dtype, settings)) {}
ChainOp::~ChainOp() = default;
ChainOp::ChainOp(ChainOp&&) noexcept = default;
ChainOp& ChainOp::operator=(ChainOp&&) noexcept = default;

const ChainDefinition& ChainOp::chain() const { return implementation_->chain; }
const Statistics& ChainOp::statistics() const { return implementation_->statistics; }

Tensor ChainOp::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                         const Window* initial, Window* final_window) {
  Implementation& op = *implementation_;
  if (op.is_one_op()) return op.ops[0][0].evaluate(weights, batch, pool, initial, final_window);
  SequenceBatch now = op.seen(batch);
  if (final_window != nullptr) *final_window = {};
  std::size_t state = 0;
  for (std::size_t l = 0; l < op.chain.links.size(); ++l) {
    const Link& link = op.chain.links[l];
    const auto own = weights.first(link.weights);
    weights = weights.subspan(link.weights);
    if (link.layer) {
      now.x = link.layer->evaluate(own, now.x, now, pool, op.ops[l]);
      if (link.layer->ends_sequences()) now.lengths.clear();
      continue;
    }
    const std::size_t states = state_count(link.stack);
    const Window begin = initial != nullptr ? part_of(*initial, state, states) : Window{};
    Window end;
    now.x = op.ops[l][0].evaluate(own, now, pool, initial != nullptr ? &begin : nullptr,
                                  final_window != nullptr ? &end : nullptr);
    if (final_window != nullptr) std::ranges::move(end.states, std::back_inserter(final_window->states));
    state += states;
  }
  return now.x;
}

}  // namespace lagtape
