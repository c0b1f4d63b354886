#include "lagtape/tools/train/short_training.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/joined.h"
#include "lagtape/tools/train/trainer.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape {

namespace {

/// A training with its first parameters.
TrainingSetup drawn(const Experiment& experiment, ThreadPool& pool) {
  TrainingSetup setup = set_up(experiment, pool);
  setup.model.draw(setup.experiment.seed);
  start_from_files(setup, pool);
  return setup;
}

/// Trains until `take` returns true, or to the end.
void train_until(Trainer& trainer, const std::function<bool(const StepReport&)>& take) {
  bool is_enough = false;
  try {
    trainer.run({.stepped = [&](const StepReport& report) { is_enough = take(report); },
                 .stop_requested = [&] { return is_enough; }});
  } catch (const Interrupted&) {  // as was asked for
  }
}

constexpr std::int64_t kUpdates = 100;
constexpr double kFirst = 1e-6, kLast = 1;

double rate_of(std::int64_t update) {
  return kFirst * std::pow(kLast / kFirst, static_cast<double>(update) / (kUpdates - 1));
}

/// The same experiment with growing rates, and without an early end.
Experiment with_growing_rates(Experiment experiment) {
  experiment.optimizer.lr = 1;
  experiment.schedule.factor = [](const Progress& at) { return rate_of(at.step); };
  experiment.schedule.patience = 0;
  experiment.train.patience = 0;
  experiment.train.average.reset();
  experiment.train.epochs = experiment.train.steps = kUpdates;
  return experiment;
}

}  // namespace

DryRun dry_run(const Experiment& experiment, int threads) {
  constexpr std::int64_t kDryUpdates = 3;
  ThreadPool pool(threads);
  TrainingSetup setup = drawn(experiment, pool);
  Trainer trainer(setup.experiment, setup.task, setup.model, pool);
  DryRun result{.steps = trainer.steps(),
                .plan = std::string(name_of(trainer.plan().plan)),
                .plan_bytes = trainer.plan().bytes};
  train_until(trainer, [&](const StepReport& report) {
    result.updates = report.position.step;
    result.loss = report.loss;
    return result.updates >= kDryUpdates;
  });
  result.seconds_per_update = trainer.state().training_seconds / static_cast<double>(result.updates);
  result.seconds = result.seconds_per_update * static_cast<double>(result.steps);
  return result;
}

RateFinding find_rate(const Experiment& experiment, int threads) {
  constexpr double kKept = 0.9,
                   kRisen = 4;  // the share of the running mean that stays; the rise that ends the search
  ThreadPool pool(threads);
  TrainingSetup setup = drawn(with_growing_rates(experiment), pool);
  if (!setup.task.fresh) setup.task.valid = first_sequences(setup.task.train, 0);
  Trainer trainer(setup.experiment, setup.task, setup.model, pool);
  RateFinding finding;
  double mean = 0, best = 0;
  try {
    train_until(trainer, [&](const StepReport& report) {
      const auto updates = static_cast<double>(finding.losses.size() + 1);
      mean = kKept * mean + (1 - kKept) * report.loss;
      const double loss = mean / (1 - std::pow(kKept, updates));
      finding.rates.push_back(rate_of(report.position.step - 1));
      finding.losses.push_back(loss);
      best = finding.losses.size() == 1 ? loss : std::min(best, loss);
      return loss > kRisen * best || !std::isfinite(loss) || std::ssize(finding.rates) >= kUpdates;
    });
  } catch (const DivergenceError&) {
    if (finding.rates.empty()) throw;
  }
  const auto lowest = std::ranges::min_element(finding.losses) - finding.losses.begin();
  finding.suggested = finding.rates[static_cast<std::size_t>(lowest)] / 10;
  return finding;
}

}  // namespace lagtape
