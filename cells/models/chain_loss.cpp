#include <algorithm>

#include "lagtape/cells/models/chain_implementation.h"
#include "lagtape/cells/models/model_op_implementation.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

Var record_outputs(SequenceOp& op, Tape& tape, std::span<const Var> weights, const Var& x,
                   const SequenceBatch& batch, ThreadPool& pool) {
  return op.outputs(tape, weights, x, batch, pool);
}

}  // namespace

Var ChainOp::loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
                  std::span<const Var> initial, Window* final_window) {
  Implementation& op = *implementation_;
  Var x = tape.constant(batch.x);
  op.statistics.clear();
  if (op.is_one_op()) return op.ops[0][0].loss(tape, weights, x, batch, pool, initial, final_window);
  op.prepare(batch.x.size(0), batch.x.size(1), pool.threads());
  SequenceBatch now = op.seen(batch);
  if (final_window != nullptr) *final_window = {};
  std::size_t parameter = 0;
  for (std::size_t l = 0; l < op.chain.links.size(); ++l) {
    const Link& link = op.chain.links[l];
    const bool last = l + 1 == op.chain.links.size();
    const auto own = weights.first(link.weights);
    weights = weights.subspan(link.weights);
    now.draws = draws_of_part(batch.draws, l);
    if (link.layer) {
      Statistics statistics;
      x = link.layer->record({tape, now, pool, op.ops[l], record_outputs, statistics}, own, x);
      for (auto& [place, value] : statistics) op.statistics.emplace_back(parameter + place, std::move(value));
      if (link.layer->ends_sequences()) now.lengths.clear();
    } else {
      const auto begin = initial.empty() ? initial : initial.first(state_count(link.stack));
      initial = initial.subspan(begin.size());
      Window end;
      Window* const to = final_window != nullptr ? &end : nullptr;
      SequenceOp& one = op.ops[l][0];
      x = last ? one.loss(tape, own, x, now, pool, begin, to)
               : one.outputs(tape, own, x, now, pool, begin, to);
      if (to != nullptr) std::ranges::move(end.states, std::back_inserter(final_window->states));
    }
    parameter += link.parameters;
  }
  return x;
}

Var ModelOp::loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
                  std::span<const Var> initial, Window* final_window) {
  return implementation_->training.loss(tape, weights, batch, pool, initial, final_window);
}

}  // namespace lagtape
