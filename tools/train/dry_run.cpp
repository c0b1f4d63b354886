#include "lagtape/tools/train/dry_run.h"

#include "lagtape/core/error.h"
#include "lagtape/tools/train/class_weights.h"

namespace lagtape {

DryRun dry_run(const Experiment& given, int threads) {
  constexpr std::int64_t kUpdates = 3;
  ThreadPool pool(threads);
  const Task task = given.load_task(pool);
  const Experiment experiment = with_class_weights(given, task, pool);
  Model model = build_model(experiment, task.shape);
  start_from_vectors(experiment, task, model);
  start_from_init(experiment, model);
  Trainer trainer(experiment, task, model, pool);
  DryRun result{.steps = trainer.steps(),
                .plan = std::string(name_of(trainer.plan().plan)),
                .plan_bytes = trainer.plan().bytes};
  TrainerHooks hooks;
  hooks.stepped = [&](const StepReport& report) {
    result.updates = report.position.step;
    result.loss = report.loss;
  };
  hooks.stop_requested = [&] { return result.updates >= kUpdates; };
  try {
    trainer.run(hooks);
  } catch (const Interrupted&) {  // after the updates, as was asked for
  }
  result.seconds_per_update = trainer.state().training_seconds / static_cast<double>(result.updates);
  result.seconds = result.seconds_per_update * static_cast<double>(result.steps);
  return result;
}

}  // namespace lagtape
