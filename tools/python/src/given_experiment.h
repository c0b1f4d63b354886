#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/formats/given_files.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/source.h"

namespace lagtape::python {

/// An experiment as a user passes it: the path of a file or a run, or a JSON text whose paths are relative to
/// the current folder.
struct GivenExperiment {
  std::string place;                             ///< the path, or the text's name in messages
  std::optional<std::string> text;               ///< none: use what is at the path
  std::vector<std::string> set;                  ///< assignments, such as "train.epochs=3"
  std::string row = {};                          ///< in a file with several experiments
  std::shared_ptr<const GivenFiles> files = {};  ///< its data, if they are in memory

  /// Provides the files, which must exist while data are read.
  GivenScope give() const { return GivenScope(files.get()); }

  bool is_trained() const { return !text && is_run(place); }
  Experiment read() const;
  /// The experiment with its model, trained if it is a run.
  Source load(ThreadPool& pool) const;
};

}  // namespace lagtape::python
