#pragma once

#include <span>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape::cli {

/// A model and the experiment behind it.
struct Source {
  Experiment experiment;
  Model model;
  bool has_data = true;  ///< false for a model that was made in C++, whose file has no experiment
};

/// Whether an argument names a run (a folder, a weights file) and not an experiment.
bool is_run(const std::string& path);

/// The trained model of a run folder or weights file. Throws InputError that says what else the path is.
Model load_model(const std::string& path);

/// Says on stderr which layers look back further than the sequences reach.
void warn_of_lags(const Model& model, const DataShape& data);

/// Warns on stderr of data whose differences the model's precision would round away.
void warn_of_rounding(const Model& model);

/// The same with its experiment, which assignments change.
Source load_run(const std::string& path, std::span<const std::string> assignments = {});

/// The same, or an experiment with an untrained model.
Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool);

/// The shape of an experiment's data, read from them where the file alone does not decide it.
DataShape data_shape(const Experiment& experiment, ThreadPool& pool);

/// Says on stderr how many words begin with a vector from a file.
void announce_vectors(const KnownWords& words);

}  // namespace lagtape::cli
