#pragma once

#include <string>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

/// A task that was read from the text of an experiment's `data` object, and that object with all defaults.
struct ReadTask {
  TaskLoader loader;
  Json filled;
};

inline ReadTask task_from(const std::string& text, const TaskHints& hints = {}) {
  const Json json = parse_json(text, "experiment.json");
  JsonErrors errors;
  JsonReader reader(json, "/data", errors);
  TaskLoader loader = read_task(reader, hints);
  errors.raise("experiment.json");
  return {std::move(loader), reader.filled()};
}

/// The data of such a task.
inline Task load(const std::string& text, std::uint64_t seed = 0, const std::filesystem::path& base = {},
                 const TaskHints& hints = {}) {
  ThreadPool pool(2);
  return task_from(text, hints).loader.load({.base = base, .seed = seed, .pool = pool});
}

/// The same data, all of them in `test`.
inline Task load_to_score(const std::string& text, const std::filesystem::path& base = {}) {
  ThreadPool pool(2);
  return load_to_score(task_from(text, {}).loader, {.base = base, .seed = 0, .pool = pool});
}

/// The sequences first .. first + count - 1 of a set, gathered into a batch.
inline Batch take(const Dataset& dataset, std::int64_t first, std::int64_t count, Dtype dtype = Dtype::f64) {
  ThreadPool pool(1);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(first + i);
  return gather(dataset, indices, dtype, pool);
}

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.at(i));
  return values;
}

}  // namespace lagtape
