#pragma once

#include <span>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape::cli {

/// A model and its experiment.
struct Source {
  Experiment experiment;
  Model model;
  bool has_data = true;  ///< false for a model that was made in C++, whose file has no experiment
};

/// Whether a path is that of a run (a folder or a weights file) rather than of an experiment.
bool is_run(const std::string& path);

/// The trained model of a run folder or weights file. Throws InputError that says what the path is instead.
Model load_model(const std::string& path);

/// Warns on stderr of layers with lags beyond the length of the sequences.
void warn_of_lags(const Model& model, const DataShape& data);

/// Warns on stderr of data whose variation the model's precision would round away.
void warn_of_rounding(const Model& model);

/// A trained model with its experiment, changed by assignments.
Source load_run(const std::string& path, std::span<const std::string> assignments = {});

/// A trained model with its experiment, or an experiment file with its untrained model.
Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool);

/// The shape of an experiment's data, which are read if the experiment file alone does not decide it.
DataShape data_shape(const Experiment& experiment, ThreadPool& pool);

/// Prints on stderr how many words begin with a vector from the user's file.
void announce_vectors(const KnownWords& words);

}  // namespace lagtape::cli
