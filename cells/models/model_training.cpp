#include <algorithm>
#include <iterator>
#include <utility>

#include "lagtape/cells/models/model_op_implementation.h"

namespace lagtape {

Var ModelOp::loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
                  std::span<const Var> initial, Window* final_window) {
  Implementation& model = *implementation_;
  Chain& chain = model.training;
  std::vector<Var> start;
  if (initial.empty()) {
    for (const Tensor& state : start_window(chain.definition, batch.x.size(0), chain.dtype).states)
      start.push_back(tape.constant(state));
    initial = start;
  }
  Var x = tape.constant(batch.x);
  model.statistics.clear();
  if (chain.is_one_op()) return chain.ops[0][0].loss(tape, weights, x, batch, pool, initial, final_window);
  model.prepare(batch.x.size(0), batch.x.size(1), pool.threads());
  SequenceBatch now = chain.seen(batch);
  if (final_window != nullptr) *final_window = {};
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < chain.definition.parts.size(); ++i) {
    const ChainPart& part = chain.definition.parts[i];
    const bool last = i + 1 == chain.definition.parts.size();
    const auto own = weights.first(part.weights);
    weights = weights.subspan(part.weights);
    now.draws = draws_of_part(batch.draws, i);
    if (part.layer) {
      Statistics statistics;
      x = part.layer->record({tape, now, pool, chain.ops[i], statistics}, own, x);
      for (auto& [place, value] : statistics)
        model.statistics.emplace_back(parameter + place, std::move(value));
      if (part.layer->ends_sequences()) now.lengths.clear();
    } else {
      const auto begin = initial.empty() ? initial : initial.first(state_count(part.stack));
      initial = initial.subspan(begin.size());
      Window end;
      Window* const to = final_window != nullptr ? &end : nullptr;
      SequenceOp& one = chain.ops[i][0];
      x = last ? one.loss(tape, own, x, now, pool, begin, to)
               : one.outputs(tape, own, x, now, pool, begin, to);
      if (to != nullptr) std::ranges::move(end.states, std::back_inserter(final_window->states));
    }
    parameter += part.parameters;
  }
  return x;
}

}  // namespace lagtape
