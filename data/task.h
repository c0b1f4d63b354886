#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/data/dataset.h"

namespace lagtape {

class JsonReader;

/// The number of words in a task's vocabulary, and of those that have a vector in the user's file.
struct KnownWords {
  std::int64_t known = 0, all = 0;
};

/// The data of an experiment. `valid` and `test` may be empty; `train` is unlimited when `fresh`.
struct Task {
  DataShape shape;
  std::shared_ptr<const Dataset> train, valid, test;
  bool fresh = false;  ///< every step trains on new sequences: runs count steps, not epochs
  /// Estimated from the training sequences; empty for outputs that are classes.
  Normalization normalization = {};
  /// The normalizations of series that are scaled separately, by name; their sequences use them
  /// (Dataset::normalization).
  SeriesNormalizations series = {};
  /// Reads a file of word vectors into the rows of an embedding's table [shape.tokens, width]: rows of words
  /// that the file contains become their vectors, rows of tokens that are not words become zeros, and the rows
  /// of other words are unchanged. Null unless the user gave such a file. Only this call opens the file,
  /// because only the first step of a training run needs it. Throws InputError.
  std::function<KnownWords(Tensor& table)> read_vectors = {};
  /// For each target, the feature of shape.linear that is the term; empty: the term is a regression.
  std::vector<std::int64_t> seasonal = {};
  /// The options of `data` that were inferred from the files, by key. A model keeps them for files that it
  /// reads later.
  std::vector<std::pair<std::string, std::string>> found = {};
  std::vector<std::string> notes = {};  ///< notes about the files for the user, one sentence each

  /// The split with that name. Throws InputError with the nearest of train, valid, test.
  const Dataset& split(const std::string& name) const;
};

/// The context in which a task loads its data.
struct TaskContext {
  std::filesystem::path base;  ///< folder of the experiment file, where relative paths begin
  std::uint64_t seed = 0;      ///< the experiment's seed
  ThreadPool& pool;
  /// The series of a trained model; null during training.
  const SeriesNormalizations* known = nullptr;
  /// The data are only scored, not used for training: the training and validation sets may be empty.
  bool score_only = false;
};

/// Settings outside `data` on which a task's defaults depend. They are read before the task.
struct TaskHints {
  std::int64_t batch = 1;    ///< train.batch
  bool every_step = false;   ///< the model reads out at every step
  bool real_loss = true;     ///< the loss compares real numbers (mse)
  bool counts = false;       ///< the loss is a likelihood of counts, which are scaled by their mean only
  Dtype dtype = Dtype::f32;  ///< the precision in which the model computes
  std::int64_t lag = 0;      ///< the longest lag of the model's layers, as far as the options determine it
};

/// A task with its options, before any data are generated or any file is opened.
struct TaskLoader {
  std::optional<DataShape> shape = {};  ///< known if the options alone decide it
  bool fresh = false;
  bool of_series = false;  ///< sequences are parts of series, and their sets provide naive errors
  /// Generates or reads the data. Throws InputError.
  std::function<Task(const TaskContext&)> load = {};
};

/// A task's data with all sequences in `test`: those of train, valid and test, in that order. Throws
/// InputError, or Error for a fresh task.
Task load_to_score(const TaskLoader& loader, TaskContext context);

/// A task's description and its reader. Each task defines its own next to its code; registry.cpp lists them.
struct TaskEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper and section
  /// Inputs x and targets y, one equation or sentence per line.
  std::string_view equations = {};
  /// The files expected at `path`, where to get them, and their checksums. Empty for generated data.
  std::string_view files = {};
  /// Reads the options of `data` (all but "task") and notes errors in the reader; the caller calls finish.
  TaskLoader (*read)(JsonReader& reader, const TaskHints& hints);
};

}  // namespace lagtape
