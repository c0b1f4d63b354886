#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/data/formats/array_sets.h"
#include "lagtape/data/normalize_options.h"
#include "lagtape/data/tasks/array_classes.h"

namespace lagtape {

/// The options of the task "arrays".
struct ArraysOptions {
  static constexpr double kUsualShare = -1;  ///< 0.15 of X and y, and none of a training set

  std::string path;
  ArrayClasses classes;
  std::int64_t tokens = 0;
  AxisOrder layout = AxisOrder::automatic;
  double train = 0.7, valid = kUsualShare, test = 0.15;
  std::int64_t split_seed = -1;  ///< -1: the experiment's seed
  bool every_step = false;       ///< the model reads out at every step
  std::int64_t lag = 0;          ///< as in TaskHints
  NormalizeOptions normalize;
};

/// The sequences of an .npz file, checked.
struct ArraysFile {
  ArraySets sets = {};
  DataShape shape = {};
  AxisOrder layout = AxisOrder::automatic;  ///< as found
  std::vector<std::string> notes = {};
};

/// Reads the sets in a file; the first decides the shape. Throws InputError with path and array.
ArraysFile read_arrays_file(const std::filesystem::path& path, const ArraysOptions& options);

}  // namespace lagtape
