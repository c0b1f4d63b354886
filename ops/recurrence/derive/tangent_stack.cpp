#include "lagtape/ops/recurrence/derive/tangent_stack.h"

#include <algorithm>
#include <iterator>

namespace lagtape {

TangentStack::TangentStack(const StackDefinition& stack, const std::vector<std::vector<bool>>& changes)
    : stack_(stack) {
  std::size_t first = 0;
  const auto add = [&](const StepProgram& program, bool input) {
    const auto begin = changes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(program.weights.size());
    std::vector<std::vector<bool>> own(begin, begin + count);
    if (own.empty() && !changes.empty()) own.emplace_back(changes[0].size());  // has the number of directions
    programs_.push_back(tangent_of(program, own, {.input = input}));
    counts_.push_back(program.weights.size());
    first += program.weights.size();
    return programs_.back().program;
  };
  for (std::size_t l = 0; l < stack.layers.size(); ++l) stack_.layers[l] = add(stack.layers[l], l > 0);
  if (stack.readout) stack_.readout = add(*stack.readout, !stack.layers.empty());
}

std::vector<Tensor> TangentStack::weights(std::span<const Tensor> weights,
                                          std::span<const std::vector<Tensor>> changes) const {
  std::vector<Tensor> all;
  std::size_t first = 0;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    std::vector<std::vector<Tensor>> own;
    for (const std::vector<Tensor>& direction : changes) {
      const auto begin = direction.begin() + static_cast<std::ptrdiff_t>(first);
      own.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(counts_[i]));
    }
    std::ranges::copy(tangent_weights(programs_[i], weights.subspan(first, counts_[i]), own),
                      std::back_inserter(all));
    first += counts_[i];
  }
  return all;
}

}  // namespace lagtape
