#include "lagtape/tools/train/update_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/optim/clip.h"
#include "lagtape/tools/train/divergence.h"

namespace lagtape {

namespace {

void copy_into(Tensor& to, const Tensor& from) {
  std::memcpy(to.raw(), from.raw(), from.numel() * byte_size(from.dtype()));
}

/// Names the first gradient that an optimizer, which squares it, cannot use; empty when there is none.
std::string unusable_gradient(const Parameters& parameters) {
  for (const Parameter& parameter : parameters) {
    const bool usable = with_scalar(parameter.grad.dtype(), [&]<class T>() {
      const auto values = parameter.grad.values<T>();
      return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value * value); });
    });
    if (!usable)
      return text_of(is_finite(parameter.grad) ? "the square of the gradient of " : "the gradient of ",
                     parameter.name);
  }
  return "";
}

/// The number of steps of the longest row.
std::int64_t longest_of(const SequenceBatch& batch) {
  return batch.lengths.empty() ? batch.x.size(1) : *std::ranges::max_element(batch.lengths);
}

}  // namespace

UpdateResult result_of(const SegmentProgress& progress) {
  return {.loss = progress.loss / progress.scored, .made = progress.made, .skipped = progress.skipped};
}

std::vector<Tensor> copy_values(const Parameters& parameters) {
  std::vector<Tensor> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.value.clone());
  return values;
}

void assign_values(Parameters& parameters, const std::vector<Tensor>& values) {
  auto value = values.begin();
  for (Parameter& parameter : parameters) copy_into(parameter.value, *value++);
}

UpdateStep::UpdateStep(const Experiment& experiment, Model& model, ModelOp& op, ThreadPool& pool)
    : model_(model),
      op_(op),
      pool_(pool),
      optimizer_(experiment.optimizer.make(model.parameters())),
      truncate_(experiment.train.truncate),
      clip_(experiment.train.clip),
      skip_(experiment.train.skip_not_finite) {
  for (const Parameter& parameter : model.parameters())
    before_.emplace_back(parameter.value.shape(), parameter.value.dtype());
}

std::int64_t UpdateStep::updates_of(std::int64_t steps) const {
  if (truncate_ == 0 || !reads_every_step(model_.at())) return 1;
  return (steps + truncate_ - 1) / truncate_;
}

UpdateResult UpdateStep::train_on(std::span<const SequenceBatch> batches, double lr,
                                  std::optional<SegmentProgress>& segments,
                                  const std::function<void()>& pause) {
  if (batches.size() > 1) return train_on_several(batches, lr);
  const SequenceBatch& batch = batches.front();
  if (truncate_ == 0 || truncate_ >= batch.x.size(1)) return update(batch, lr, nullptr, nullptr);
  if (!reads_every_step(model_.at())) return train_on_end(batch, lr);
  if (!segments) segments.emplace();
  while (!train_on_next(batch, lr, *segments)) pause();
  const UpdateResult outcome = result_of(*segments);
  segments.reset();
  return outcome;
}

bool UpdateStep::train_on_next(const SequenceBatch& batch, double lr, SegmentProgress& progress) {
  const bool first = progress.steps == 0;
  Segment segment = segment_of(batch, progress.steps, truncate_);
  const Window initial = first ? Window{} : carry(progress.window, progress.rows, segment.rows);
  double weight = 0;
  for (const std::int64_t length : segment.batch.lengths) weight += static_cast<double>(length);
  const UpdateResult one = update(segment.batch, lr, first ? nullptr : &initial, &progress.window);
  if (std::isfinite(one.loss)) {
    progress.loss += weight * one.loss;
    progress.scored += weight;
  }
  progress.made += one.made;
  progress.skipped += one.skipped;
  progress.rows = std::move(segment.rows);
  progress.steps += truncate_;
  return progress.steps >= longest_of(batch);
}

UpdateResult UpdateStep::train_on_end(const SequenceBatch& batch, double lr) {
  const std::int64_t before = batch.x.size(1) - truncate_;
  const SequenceBatch first = segment_of(batch, 0, before).batch;
  Window window;
  op_.evaluate(model_.weights(), first, pool_, nullptr, &window);
  if (!std::ranges::all_of(window.states, is_finite)) {
    if (skip_) return {.loss = std::numeric_limits<double>::quiet_NaN(), .skipped = 1};
    throw DivergenceError(first_not_finite(model_, op_, first, pool_, nullptr) + " is not finite");
  }
  return update(segment_of(batch, before, truncate_).batch, lr, &window, nullptr);
}

UpdateResult UpdateStep::update(const SequenceBatch& batch, double lr, const Window* initial,
                                Window* final_window) {
  model_.parameters().zero_grad();
  const double loss = add_gradients(batch, 1, initial, final_window);
  return finish_update(loss, batch, lr, initial);
}

UpdateResult UpdateStep::train_on_several(std::span<const SequenceBatch> batches, double lr) {
  double all = 0;
  for (const SequenceBatch& batch : batches) all += scored_steps(batch);
  model_.parameters().zero_grad();
  double loss = 0;
  for (const SequenceBatch& batch : batches) {
    const double share = scored_steps(batch) / all;
    const double own = add_gradients(batch, share, nullptr, nullptr);
    if (!std::isfinite(own)) return finish_update(own, batch, lr, nullptr);
    loss += share * own;
  }
  return finish_update(loss, batches.front(), lr, nullptr);
}

double UpdateStep::scored_steps(const SequenceBatch& batch) const {
  if (!reads_every_step(model_.at())) return static_cast<double>(batch.x.size(0));
  double steps = 0;
  for (const std::int64_t length : batch.lengths) steps += static_cast<double>(length);
  return steps;
}

double UpdateStep::add_gradients(const SequenceBatch& batch, double share, const Window* initial,
                                 Window* final_window) {
  const Tape::Mark start = tape_->mark();
  std::vector<Var> history;
  if (initial) {
    for (const Tensor& state : initial->states) history.push_back(tape_->constant(state));
  }
  const std::vector<Var> weights = model_.weights(*tape_);
  const Var loss = op_.loss(*tape_, weights, batch, pool_, history, final_window);
  const double value = loss.value().item();
  if (std::isfinite(value)) tape_->backward(share == 1 ? loss : loss * share);
  tape_->rewind(start);
  return value;
}

UpdateResult UpdateStep::finish_update(double value, const SequenceBatch& batch, double lr,
                                       const Window* initial) {
  Parameters& parameters = model_.parameters();
  if (clip_ > 0) clip_gradient_norm(parameters, clip_);
  std::string unusable = std::isfinite(value) ? unusable_gradient(parameters) : "the loss";
  if (unusable.empty()) {
    auto before = before_.begin();
    for (const Parameter& parameter : parameters) copy_into(*before++, parameter.value);
    if (op_.has_statistics()) {
      op_.update_statistics(parameters);
      unusable = restore_unless_finite();
    }
  }
  if (!unusable.empty()) {
    if (skip_) return {.loss = value, .skipped = 1};
    throw DivergenceError(
        (std::isfinite(value) ? unusable : first_not_finite(model_, op_, batch, pool_, initial)) +
        " is not finite");
  }
  optimizer_->step(parameters, lr);
  if (const std::string name = restore_unless_finite(); !name.empty())
    throw DivergenceError(text_of(name, " is not finite"));
  if (average_) average_->add(parameters);
  return {.loss = value, .made = 1};
}

std::string UpdateStep::restore_unless_finite() {
  Parameters& parameters = model_.parameters();
  for (const Parameter& parameter : parameters) {
    if (is_finite(parameter.value)) continue;
    assign_values(parameters, before_);
    return parameter.name;
  }
  return "";
}

}  // namespace lagtape
