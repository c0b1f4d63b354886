#include "lagtape/tools/train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/normalization_json.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/data/fingerprint.h"
#include "lagtape/optim/ridge_readout.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/plan_choice.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/training_check.h"

namespace lagtape {

namespace {

using Clock = std::chrono::steady_clock;

/// After so many skipped updates in a row no batch is taken to have a usable gradient.
constexpr std::int64_t kMostSkippedInARow = 100;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The 2-norm of each parameter, in f64.
std::vector<std::pair<std::string, double>> norms_of(const Parameters& parameters) {
  std::vector<std::pair<std::string, double>> norms;
  for (const Parameter& parameter : parameters) {
    double squares = 0;
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
      squares += parameter.value.at(i) * parameter.value.at(i);
    norms.emplace_back(parameter.name, std::sqrt(squares));
  }
  return norms;
}

/// Throws InputError when the data are scaled differently from those that the run began with.
void check_same_scaling(const TensorReader& reader, const Normalization& now) {
  const auto stored = reader.metadata().find("normalization");
  if (stored == reader.metadata().end()) {
    if (now.output.empty()) return;  // checkpoints did not have it when inputs alone were scaled
    throw InputError({.op = "checkpoint"}, Rule::conflict,
                     "the run is from before targets were scaled. Begin another run.");
  }
  if (normalization_from(stored->second, "") == now) return;
  throw InputError({.op = "checkpoint"}, Rule::conflict,
                   "the run was trained with data of other means and scales. Give the data that it began "
                   "with, or begin another run.");
}

/// Sets the parameters to their means, if there are any, as long as it lives.
class Averaged {
 public:
  Averaged(Parameters& parameters, const std::optional<WeightAverage>& average)
      : parameters_(parameters), updates_(average ? average->updates() : 0) {
    if (updates_ == 0) return;
    weights_ = copy_values(parameters);
    average->assign_to(parameters);
  }
  ~Averaged() {
    if (updates_ > 0) assign_values(parameters_, weights_);
  }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

  std::int64_t updates() const { return updates_; }

 private:
  Parameters& parameters_;
  std::int64_t updates_;
  std::vector<Tensor> weights_;
};

BatchOptions batches_of(const Experiment& experiment, const Task& task, ThreadPool& pool) {
  const TrainOptions& train = experiment.train;
  BatchOptions options{.batch = train.batch * train.accumulate, .length_buckets = train.length_buckets};
  if (!train.balanced) return options;
  try {
    options.classes = classes_of(*task.train, pool);
  } catch (const InputError& error) {
    throw error.within({.file = experiment.where, .pointer = "/train/sampling"});
  }
  return options;
}

std::string place_of(const TrainingPosition& position, bool fresh) {
  return fresh ? text_of("step ", position.step)
               : text_of("epoch ", position.epoch + 1, ", step ", position.step_of_epoch);
}

}  // namespace

Trainer::Trainer(const Experiment& experiment, const Task& task, Model& model, ThreadPool& pool, Ranks* ranks)
    : experiment_(experiment),
      task_(task),
      model_(model),
      pool_(pool),
      op_(model_op(experiment, model, ranks)),
      update_step_(experiment, model, op_, pool),
      order_(*task.train, batches_of(experiment, task, pool), experiment.seed),
      steps_(task.fresh ? experiment.train.steps : experiment.train.epochs * order_.steps_per_epoch()),
      plan_(choose_plan(experiment, op_, std::min(experiment.train.batch, task.train->size()),
                        steps_at_once(experiment, task.shape), pool.threads())) {
  check_training(experiment, task, model, op_, pool);
  if (!task.fresh) fingerprint_ = lagtape::fingerprint(*task.train, pool);
  model_.normalization() = normalization_of_model(task.normalization, experiment.loss);
  for (const auto& [name, of] : task.series)
    model_.series()[name] = normalization_of_model(of, experiment.loss);
}

void Trainer::run(const TrainerHooks& hooks) {
  const PlainArithmetic plain;
  const Clock::time_point started = Clock::now();
  const double seconds_before = state_.seconds;
  Clock::time_point saved = started;
  const auto save = [&] {
    state_.seconds = seconds_before + seconds_since(started);
    if (hooks.save) hooks.save();
    saved = Clock::now();
  };
  const auto pause = [&] {
    if (hooks.stop_requested && hooks.stop_requested()) throw Interrupted("interrupted");
    if (seconds_since(saved) > hooks.save_interval) save();
  };
  try {
    if (const auto* ridge = dynamic_cast<const Ridge*>(&update_step_.optimizer());
        ridge && state_.position.step == 0)
      solve(*ridge, hooks);
    while (true) {
      pause();
      if (evaluation_is_due()) {
        state_.seconds = seconds_before + seconds_since(started);
        evaluate_valid(hooks);
        save();
        is_enough_ = hooks.is_enough && hooks.is_enough();
      }
      if (is_finished()) return;
      step(hooks, pause);
    }
  } catch (const Interrupted&) {
    save();
    throw Interrupted(text_of("interrupted after ", place()));
  }
}

std::string Trainer::place() const {
  const std::string steps = text_of("step ", state_.position.step, " of ", steps_);
  return state_.segments ? text_of(steps, ", within the next one") : steps;
}

SafetensorsFile Trainer::pack() const {
  SafetensorsFile file =
      pack_state(state_, model_.parameters(), update_step_.optimizer(), update_step_.average());
  file.metadata["experiment"] = experiment_.json();
  file.metadata["steps"] = std::to_string(steps_);
  file.metadata["normalization"] = json_of(task_.normalization);
  file.metadata["data"] = std::to_string(fingerprint_);
  return file;
}

void Trainer::unpack(TensorReader& reader) {
  const auto length = reader.metadata().find("steps");
  std::int64_t before = 0;
  if (length != reader.metadata().end()) {
    std::from_chars(length->second.data(), length->second.data() + length->second.size(), before);
  }
  if (before < 1)
    throw InputError({.op = "checkpoint"}, Rule::damaged,
                     "the file does not say how long its run was to be.");
  check_same_scaling(reader, task_.normalization);
  const TrainingPosition at = position_in(reader);
  check_position(at);
  if (at.step > steps_) {
    const std::string done =
        task_.fresh ? text_of("/train/steps: ", at.step, " steps")
                    : text_of("/train/epochs: ", at.epoch, " epochs and ", at.step_of_epoch, " steps");
    throw InputError({experiment_.where}, Rule::out_of_range, text_of(done, " are done already"),
                     text_of(task_.fresh ? experiment_.train.steps : experiment_.train.epochs));
  }
  if (before != steps_ && at.step > 0 && depends_on_length(experiment_.schedule.factor, steps_, before)) {
    throw InputError({.file = experiment_.where, .pointer = "/schedule"}, Rule::conflict,
                     text_of("it depends on the length of the whole run, which was ", before,
                             " steps and would be ", steps_, ". Keep train.epochs, or begin another run."));
  }
  state_ = unpack_state(reader, op_, model_.parameters(), update_step_.optimizer(), update_step_.average());
  if (state_.segments) check_segments();
  steps_before_ = before;
  const auto data = reader.metadata().find("data");
  has_other_data_ = data != reader.metadata().end() && data->second != std::to_string(fingerprint_);
}

void Trainer::check_position(const TrainingPosition& at) const {
  const std::int64_t of_epoch = order_.steps_per_epoch();
  const bool fits = task_.fresh ? at.epoch == 0 && at.step_of_epoch == at.step
                                : at.step_of_epoch < of_epoch && at.epoch <= at.step &&
                                      at.step - at.step_of_epoch == at.epoch * of_epoch;
  if (fits) return;
  throw InputError(
      {.op = "checkpoint"}, Rule::conflict,
      text_of("the run is after ", at.epoch, " epochs and ", at.step_of_epoch, " steps, and after ", at.step,
              " steps in all: with the present data these do not agree."));
}

void Trainer::check_segments() {
  const SegmentProgress& progress = *state_.segments;
  const std::vector<std::int64_t> indices =
      order_.indices(state_.position.epoch, state_.position.step_of_epoch);
  std::vector<std::int64_t> lengths;
  for (const std::int64_t index : indices) lengths.push_back(task_.train->length(index));
  if (experiment_.train.truncate > 0 && is_within(progress, lengths)) return;
  throw InputError({.op = "checkpoint"}, Rule::conflict,
                   text_of("the run is after ", progress.steps,
                           " steps of the sequences of a batch: the present batch is another."));
}

void Trainer::load_kept() {
  if (state_.kept) assign_values(model_.parameters(), state_.kept->parameters);
}

bool Trainer::is_finished() const { return state_.position.step >= steps_ || has_stopped_early(); }

bool Trainer::has_stopped_early() const {
  const std::int64_t patience = experiment_.train.patience;
  return is_enough_ || (patience > 0 && state_.average.stalled >= patience);
}

bool Trainer::evaluation_is_due() const {
  const TrainingPosition& at = state_.position;
  if (at.step == 0 || at.step == state_.evaluated_step) return false;
  if (!task_.fresh) return at.step_of_epoch == 0;
  return (at.step - 1) % experiment_.train.evaluate_every == 0 || is_finished();
}

void Trainer::solve(const Ridge& ridge, const TrainerHooks& hooks) {
  const Clock::time_point started = Clock::now();
  const std::int64_t batches = task_.fresh ? steps_ : order_.steps_per_epoch();
  TrainingPosition done;
  const double loss = solve_readout(ridge, model_, pool_, [&]() -> SequenceBatch {
    if (hooks.stop_requested && hooks.stop_requested()) throw Interrupted("interrupted");
    if (done.step == batches) return {};
    const std::vector<std::int64_t> indices = order_.indices(0, done.step++);
    state_.sequences += static_cast<double>(indices.size());
    if (hooks.stepped) hooks.stepped({.position = done, .steps = batches});
    SequenceBatch batch = training_batch(indices);
    state_.time_steps += static_cast<double>(batch.x.size(1));
    return batch;
  });
  state_.position = {task_.fresh ? 0 : experiment_.train.epochs, task_.fresh ? steps_ : 0, steps_};
  state_.loss_sum = loss * state_.sequences;
  state_.training_seconds += seconds_since(started);
}

void Trainer::step(const TrainerHooks& hooks, const std::function<void()>& pause) {
  Clock::time_point started = Clock::now();
  const auto count_time = [&] {
    state_.training_seconds += seconds_since(started);
    started = Clock::now();
  };
  TrainingPosition& at = state_.position;
  const std::vector<std::int64_t> indices = order_.indices(at.epoch, at.step_of_epoch);
  const auto batch = static_cast<std::size_t>(experiment_.train.batch);
  std::vector<SequenceBatch> batches;
  for (std::size_t first = 0; first < indices.size(); first += batch)
    batches.push_back(
        training_batch(std::span(indices).subspan(first, std::min(batch, indices.size() - first))));
  const double lr =
      experiment_.optimizer.lr *
      experiment_.schedule.factor(
          {.epoch = at.epoch, .step = at.step, .steps = steps_, .plateaus = state_.plateau.plateaus});
  TrainingPosition next = at;
  next.step += 1;
  next.step_of_epoch += 1;
  UpdateResult outcome;
  try {
    outcome = update_step_.train_on(batches, lr, state_.segments, [&] {
      count_time();
      if (const auto& done = *state_.segments; hooks.within_step)
        hooks.within_step({at, steps_, result_of(done).loss, share_of(done, batches[0])});
      pause();
      started = Clock::now();
    });
    state_.skipped_in_a_row = outcome.made > 0 ? 0 : state_.skipped_in_a_row + outcome.skipped;
    if (state_.skipped_in_a_row >= kMostSkippedInARow)
      throw DivergenceError(text_of(state_.skipped_in_a_row,
                                    " updates in a row were skipped, as loss or gradient was not finite"));
  } catch (const DivergenceError& error) {
    throw DivergenceError(text_of("training diverged in ", place_of(next, task_.fresh), ": ", error.what()));
  }
  at = next;
  if (!task_.fresh && at.step_of_epoch == order_.steps_per_epoch()) {
    at.epoch += 1;
    at.step_of_epoch = 0;
  }
  state_.lr = lr;
  if (std::isfinite(outcome.loss)) {
    state_.loss_sum += outcome.loss * static_cast<double>(indices.size());
    state_.sequences += static_cast<double>(indices.size());
  }
  state_.skipped += outcome.skipped;
  state_.skipped_in_all += outcome.skipped;
  count_time();
  for (const SequenceBatch& one : batches) state_.time_steps += static_cast<double>(one.x.size(1));
  if (hooks.stepped) hooks.stepped({.position = at, .steps = steps_, .loss = outcome.loss});
}

SequenceBatch Trainer::training_batch(std::span<const std::int64_t> indices) const {
  const std::int64_t epoch = state_.position.epoch;
  Batch data = gather(*task_.train, indices, model_.dtype(), pool_, task_.normalization, epoch);
  if (experiment_.train.warmup > 0) leave_out_first(data, experiment_.train.warmup);
  SequenceBatch batch = sequence_batch(data, task_.shape, experiment_.loss);
  batch.draws.seed = experiment_.seed;
  batch.draws.epoch = static_cast<std::uint64_t>(epoch);
  batch.training = true;
  return batch;
}

void Trainer::evaluate_valid(const TrainerHooks& hooks) {
  update_step_.release_memory();
  const Averaged averaged(model_.parameters(), update_step_.average());
  EvaluationReport report;
  report.averaged = averaged.updates();
  report.position = state_.position;
  report.train_loss = state_.loss_sum / state_.sequences;
  report.skipped = state_.skipped;
  report.lr = state_.lr;
  report.seconds = state_.seconds;
  report.valid =
      evaluate(experiment_, model_, op_, *task_.valid, pool_, {.stop_requested = hooks.stop_requested});
  if (experiment_.train.evaluate_test)
    report.test =
        evaluate(experiment_, model_, op_, *task_.test, pool_, {.stop_requested = hooks.stop_requested});
  if (experiment_.train.weight_norms) report.weight_norms = norms_of(model_.parameters());
  double value = report.train_loss;
  if (!report.valid.empty()) {
    value = value_of(report.valid, experiment_.metrics.empty() ? "loss" : experiment_.metrics.front());
    if (!std::isfinite(value_of(report.valid, "loss"))) {
      throw DivergenceError(text_of("training diverged: after step ", report.position.step,
                                    " the loss on valid is not finite"));
    }
  }
  has_smaller_loss_ = !state_.kept || report.valid.empty() ||
                      value_of(report.valid, "loss") < value_of(state_.kept->valid, "loss");
  report.kept = report.valid.empty() || !experiment_.train.keep_best || !state_.kept ||
                is_better(value, state_.kept->value);
  if (report.kept) {
    state_.kept =
        KeptState{report.position, value, report.averaged, report.valid, copy_values(model_.parameters())};
  }
  report.average_begins = begin_average(report, value);
  count_plateau(report, value);
  state_.evaluated_step = state_.position.step;
  state_.loss_sum = state_.sequences = 0;
  state_.skipped = 0;
  if (hooks.evaluated) hooks.evaluated(report);
}

bool Trainer::is_better(double value, double than) const {
  const bool larger_is_better =
      !experiment_.metrics.empty() && metric(experiment_.metrics.front()).larger_is_better;
  if (!is_rankable(larger_is_better, value)) return !is_rankable(larger_is_better, than) && has_smaller_loss_;
  return lagtape::is_better(larger_is_better, value, than);
}

void Trainer::count_plateau(const EvaluationReport& report, double value) {
  if (experiment_.schedule.patience == 0) return;
  PlateauState& plateau = state_.plateau;
  const bool improved =
      !plateau.best || (report.valid.empty() ? value < *plateau.best : is_better(value, *plateau.best));
  if (improved) plateau.best = value;
  plateau.stalled = improved ? 0 : plateau.stalled + 1;
  if (plateau.stalled < experiment_.schedule.patience) return;
  plateau.plateaus += 1;
  plateau.stalled = 0;
}

bool Trainer::begin_average(const EvaluationReport& report, double value) {
  AverageState& state = state_.average;
  const std::optional<AverageOptions>& options = experiment_.train.average;
  state.evaluations += 1;
  if (!report.valid.empty()) {
    const bool improved = !state.best || is_better(value, *state.best);
    state.stalled = improved ? 0 : state.stalled + 1;
    if (improved) state.best = value;
  }
  if (!options || state.begun) return false;
  const bool stalled = options->patience > 0 && state.stalled >= options->patience;
  const bool late = options->latest > 0 && state.evaluations >= options->latest;
  if (!stalled && !late) return false;
  state.begun = report.position;
  update_step_.average().emplace(model_.parameters());
  return true;
}

}  // namespace lagtape
