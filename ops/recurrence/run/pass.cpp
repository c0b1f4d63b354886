#include "lagtape/ops/recurrence/run/pass.h"

namespace lagtape::recurrence {

PreparedPass::PreparedPass(const Pass& pass, const StackDefinition& stack) : Pass(pass) {
  const Shape& shape = batch.x.shape();
  if (stack.at != ReadAt::last_padded_step) lengths = batch.lengths;
  sequences = batch.draws.sequences;
  for (std::int64_t r = static_cast<std::int64_t>(sequences.size()); r < shape[0]; ++r)
    sequences.push_back(r);
  if (!loss) return;
  double scored = static_cast<double>(shape[0] * (reads_every_step(stack.at) ? shape[1] : 1));
  if (reads_every_step(stack.at) && !lengths.empty()) {
    scored = 0;
    for (std::int64_t n : lengths) scored += static_cast<double>(n);
  }
  if (stack.loss == Loss::mse) scored *= static_cast<double>(stack.output_width());
  loss_scale = 1 / scored;
}

}  // namespace lagtape::recurrence
