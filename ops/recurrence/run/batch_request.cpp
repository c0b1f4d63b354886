#include "lagtape/ops/recurrence/run/batch_request.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lagtape::recurrence {

namespace {

/// The number of targets that are missing among those that would be scored, each row's own steps.
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

PreparedRequest::PreparedRequest(const BatchRequest& request, const StackDefinition& stack,
                                 Lanes rows_as_lanes)
    : BatchRequest(request), lanes(std::move(rows_as_lanes)) {
  const Shape& shape = batch.x.shape();
  if (pieces.empty()) {
    rows = shape[0];
    if (stack.at != ReadAt::last_padded_step) lengths = batch.lengths;
    sequences = batch.draws.sequences;
    for (std::int64_t r = 0; r < rows; ++r) {
      places.push_back(r * shape[1]);
      begins.push_back(r);
    }
    ends = begins;
  }
  for (const RowPiece& piece : lanes.empty() ? pieces : std::span<const RowPiece>(lanes.rows)) {
    lengths.push_back(piece.steps);
    places.push_back(piece.row * shape[1] + piece.first);
    begins.push_back(piece.begins ? piece.row : -1);
    ends.push_back(piece.ends ? piece.row : -1);
    ++rows;
  }
  for (std::int64_t r = std::ssize(sequences); r < rows; ++r) sequences.push_back(r);
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
