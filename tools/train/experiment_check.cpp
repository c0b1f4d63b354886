#include "lagtape/tools/train/experiment_check.h"

#include "lagtape/tools/train/class_weights.h"
#include "lagtape/tools/train/data_check.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape {

ExperimentCheck check_experiment(const Experiment& given, ThreadPool& pool) {
  const Task task = given.load_task(pool);
  const Experiment experiment = with_class_weights(given, task, pool);
  // Few parameters are drawn, since a range of first values may be one that they cannot have.
  constexpr std::int64_t kMostDrawn = 1 << 22;
  Model model = undrawn_model(experiment, task.shape);
  if (model.parameters().count() <= kMostDrawn) model.draw(experiment.seed);
  ExperimentCheck found{.cost = training_cost(experiment, model),
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
