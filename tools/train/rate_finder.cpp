#include "lagtape/tools/train/rate_finder.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/joined.h"
#include "lagtape/tools/train/class_weights.h"
#include "lagtape/tools/train/initial_weights.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

namespace {

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

RateFinding find_rate(const Experiment& given, int threads) {
  constexpr double kKept = 0.9,
                   kRisen = 4;  // the share of the running mean that stays; the rise that ends the search
  ThreadPool pool(threads);
  Task task = given.load_task(pool);
  const Experiment experiment = with_class_weights(with_growing_rates(given), task, pool);
  Model model = build_model(experiment, task.shape);
  start_from_vectors(experiment, task, model);
  start_from_init(experiment, model);
  if (!task.fresh) task.valid = first_sequences(task.train, 0);
  Trainer trainer(experiment, task, model, pool);
  RateFinding finding;
  double mean = 0, best = 0;
  bool risen = false;
  TrainerHooks hooks;
  hooks.stepped = [&](const StepReport& report) {
    const auto updates = static_cast<double>(finding.losses.size() + 1);
    mean = kKept * mean + (1 - kKept) * report.loss;
    const double loss = mean / (1 - std::pow(kKept, updates));
    finding.rates.push_back(rate_of(report.position.step - 1));
    finding.losses.push_back(loss);
    best = finding.losses.size() == 1 ? loss : std::min(best, loss);
    risen = loss > kRisen * best || !std::isfinite(loss);
  };
  hooks.stop_requested = [&] { return risen || std::ssize(finding.rates) >= kUpdates; };
  try {
    trainer.run(hooks);
  } catch (const Interrupted&) {  // as was asked for
  } catch (const DivergenceError&) {
    if (finding.rates.empty()) throw;
  }
  const auto lowest = std::ranges::min_element(finding.losses) - finding.losses.begin();
  finding.suggested = finding.rates[static_cast<std::size_t>(lowest)] / 10;
  return finding;
}

}  // namespace lagtape
