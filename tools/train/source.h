#pragma once

#include <span>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// A model and its experiment.
struct Source {
  Experiment experiment;
  Model model;
  bool has_data = true;    ///< false for a model made in C++, whose file has no experiment
  bool has_values = true;  ///< false for a model of zeros (`undrawn`)
};

/// Throws InputError for a row of a run.
void refuse_row(const std::string& path, const std::string& row);

/// Whether a path is a run (a folder or a weights file) rather than an experiment.
bool is_run(const std::string& path);

/// The trained model of a run folder or weights file. Throws InputError that says what the path is instead.
Model load_model(const std::string& path);

/// A trained model with its experiment, changed by assignments. Throws InputError.
Source load_run(const std::string& path, std::span<const std::string> assignments = {});

/// A trained model with its experiment, or an experiment file, or a row of one, with its untrained model. Throws
/// InputError.
Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool,
                   const std::string& row = {});

/// An experiment with its untrained model. Throws InputError.
Source untrained(Experiment experiment, ThreadPool& pool);

/// An experiment with a model of zeros, for uses that depend only on shapes. Throws InputError.
Source undrawn(Experiment experiment, ThreadPool& pool);

/// The shape of an experiment's data, which are read if the experiment file alone does not determine it.
DataShape data_shape(const Experiment& experiment, ThreadPool& pool);

/// Advice for a message about missing data: the option that sets their new place. Empty if all files and
/// folders in the experiment's document exist.
std::string advice_on_missing_data(const Json& experiment);

/// Adds that advice to a message about missing data.
void advise_on_missing_data(Experiment& experiment);

}  // namespace lagtape
