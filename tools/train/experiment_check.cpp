#include "lagtape/tools/train/experiment_check.h"

#include "lagtape/tools/train/class_weights.h"
#include "lagtape/tools/train/data_check.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape {

ExperimentCheck check_experiment(const Experiment& given, ThreadPool& pool) {
  const Task task = given.load_task(pool);
  const Experiment experiment = with_class_weights(given, task, pool);
  Model model = build_model(experiment, task.shape);
  ExperimentCheck found{.params = model.parameters().count(),
                        .words = start_from_vectors(experiment, task, model),
                        .weights = start_from_init(experiment, model)};
  const Trainer trainer(experiment, task, model, pool);
  found.warnings = training_warnings(trainer, model, task);
  found.notes = task.notes;
  DataCheck data = check_data(task, model, pool);
  found.notes.insert(found.notes.end(), data.notes.begin(), data.notes.end());
  found.warnings.insert(found.warnings.end(), data.warnings.begin(), data.warnings.end());
  return found;
}

}  // namespace lagtape
