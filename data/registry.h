#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/dataset.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// What a task may use besides its own options.
struct TaskContext {
  std::filesystem::path base;  ///< folder of the experiment file: relative paths start here
  std::uint64_t seed = 0;      ///< of the experiment
  ThreadPool& pool;
  /// Nothing trains on these data, all of them are scored: there may be none for training and validation.
  bool score_only = false;
};

/// What defaults of a task may depend on: read before the task.
struct TaskHints {
  std::int64_t batch = 1;   ///< train.batch
  bool every_step = false;  ///< the model reads out at every step
  bool real_loss = true;    ///< the loss is of real numbers, mse
};

/// A task whose options were read, before anything is generated or any file is opened.
struct TaskLoader {
  std::optional<DataShape> shape;  ///< when the options alone decide it
  bool fresh = false;
  /// Generates or reads the data. Throws InputError.
  std::function<Task(const TaskContext&)> load;
};

/// One row a task.
struct TaskEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper, section
  /// Reads the options of `data` (all but "task") and notes errors in the reader; does not call finish.
  TaskLoader (*read)(JsonReader& reader, const TaskHints& hints);
  /// The files that `path` names: where they come from, their checksums. Empty for generated data.
  std::string_view files = {};
  /// What a sequence and its target are, one equation or sentence a line.
  std::string_view equations = {};
};

std::span<const TaskEntry> tasks();

/// A task whose `test` has the sequences of train, valid and test, in that order. Throws InputError, and
/// Error for a task that is fresh.
Task load_to_score(const TaskLoader& plan, TaskContext context);

/// Reads the experiment's `data` object, "task" and the options of that task, and finishes the reader. Errors
/// are noted in the reader; with any, the plan may have no `load`.
TaskLoader read_task(JsonReader& reader, const TaskHints& hints = {});

}  // namespace lagtape
