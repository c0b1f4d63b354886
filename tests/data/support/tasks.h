#pragma once

#include <string>

#include "lagtape/data/registry.h"

namespace lagtape {

/// A task read from the text of an experiment's `data` object, with that object as it was filled in.
struct ReadTask {
  TaskLoader plan;
  Json filled;
};

inline ReadTask task_from(const std::string& text, const TaskHints& hints = {}) {
  const Json json = parse_json(text, "experiment.json");
  JsonErrors errors;
  JsonReader reader(json, "/data", errors);
  TaskLoader plan = read_task(reader, hints);
  errors.raise("experiment.json");
  return {std::move(plan), reader.filled()};
}

/// The same task, generated or read.
inline Task load(const std::string& text, std::uint64_t seed = 0, const std::filesystem::path& base = {},
                 const TaskHints& hints = {}) {
  ThreadPool pool(2);
  return task_from(text, hints).plan.load({.base = base, .seed = seed, .pool = pool});
}

/// The same to be scored alone.
inline Task load_to_score(const std::string& text, const std::filesystem::path& base = {}) {
  ThreadPool pool(2);
  return load_to_score(task_from(text, {}).plan, {.base = base, .seed = 0, .pool = pool});
}

/// Sequences first .. first + count - 1 of a set, gathered.
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
