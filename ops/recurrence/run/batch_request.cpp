#include "lagtape/ops/recurrence/run/batch_request.h"

#include <algorithm>
#include <cmath>

namespace lagtape::recurrence {

namespace {

/// The number of missing targets among those that would be scored, each row's own steps.
std::int64_t missing_targets(const SequenceBatch& batch, const StackDefinition& stack,
                             std::span<const std::int64_t> lengths) {
  const std::int64_t rows = batch.x.size(0), steps = reads_every_step(stack.at) ? batch.x.size(1) : 1;
  const bool has_classes = stack.loss == Loss::cross_entropy;
  const std::int64_t width = has_classes ? 1 : batch.targets.size(-1);
  const auto count = [&](auto values, auto is_missing) {
    std::int64_t missing = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t own = steps == 1 || lengths.empty() ? steps : lengths[static_cast<std::size_t>(row)];
      const auto first = values.begin() + row * steps * width;
      missing += std::count_if(first, first + own * width, is_missing);
    }
    return missing;
  };
  if (has_classes) return count(std::span(batch.classes), [](std::int32_t target) { return target < 0; });
  return with_scalar(batch.targets.dtype(), [&]<class T>() {
    return count(batch.targets.values<T>(), [](T target) { return std::isnan(target); });
  });
}

/// The factors of esr and dc: one over the energy of the whole batch's targets.
SignalFactors factors_of(const SequenceBatch& batch, const LossFunction& loss,
                         std::span<const std::int64_t> lengths) {
  const std::int64_t rows = batch.x.size(0), steps = batch.x.size(1), width = batch.targets.size(-1);
  SignalSums sums;
  with_scalar(batch.targets.dtype(), [&]<class T>() {
    const T* targets = batch.targets.values<T>().data();
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t own = lengths.empty() ? steps : lengths[static_cast<std::size_t>(row)];
      for (std::int64_t j = 0; j < width; ++j)
        add_target_energy(sums, targets + row * steps * width + j, own, width, loss.options.pre_emphasis);
    }
  });
  return signal_factors(sums, loss.esr_weight(), loss.dc_weight());
}

}  // namespace

PreparedRequest::PreparedRequest(const BatchRequest& request, const StackDefinition& stack)
    : BatchRequest(request) {
  const Shape& shape = batch.x.shape();
  if (stack.at != ReadAt::last_padded_step) lengths = batch.lengths;
  sequences = batch.draws.sequences;
  for (std::int64_t r = static_cast<std::int64_t>(sequences.size()); r < shape[0]; ++r)
    sequences.push_back(r);
  if (!loss) return;
  if (stack.loss.is_signal()) {
    signal = factors_of(batch, stack.loss, lengths);
    loss_scale = 1;
    return;
  }
  double scored = static_cast<double>(shape[0] * (reads_every_step(stack.at) ? shape[1] : 1));
  if (reads_every_step(stack.at) && !lengths.empty()) {
    scored = 0;
    for (std::int64_t n : lengths) scored += static_cast<double>(n);
  }
  if (stack.loss.is_real())
    scored *= static_cast<double>(stack.target_width() * stack.loss.terms_of_target());
  if (stack.loss != Loss::none)
    scored -= static_cast<double>(missing_targets(batch, stack, lengths) * stack.loss.terms_of_target());
  loss_scale = 1 / std::max(scored, 1.0);  // without any target the loss is 0
}

}  // namespace lagtape::recurrence
