#include "lagtape/tools/train/experiment_check.h"

#include "lagtape/tools/train/warnings.h"

namespace lagtape {

ExperimentCheck check_experiment(const Experiment& experiment, ThreadPool& pool) {
  const Task task = experiment.load_task(pool);
  Model model = build_model(experiment, task.shape);
  ExperimentCheck found{.params = model.parameters().count(),
                        .words = start_from_vectors(experiment, task, model)};
  const Trainer trainer(experiment, task, model, pool);
  found.warnings = training_warnings(trainer, model, task);
  found.notes = task.notes;
  return found;
}

}  // namespace lagtape
