#include "lagtape/data/task.h"

#include "lagtape/core/error.h"
#include "lagtape/data/joined.h"

namespace lagtape {

const Dataset& Task::split(const std::string& name) const {
  if (name == "train") return *train;
  if (name == "valid") return *valid;
  if (name == "test") return *test;
  throw InputError(unknown_name("split", name, {"train", "valid", "test"}));
}

Task load_to_score(const TaskLoader& loader, TaskContext context) {
  context.score_only = true;
  Task task = loader.load(context);
  task.test = joined({task.train, task.valid, task.test});
  return task;
}

}  // namespace lagtape
