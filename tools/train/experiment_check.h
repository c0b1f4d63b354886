#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/train/training_cost.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape {

/// Facts about an experiment in which no error was found.
struct ExperimentCheck {
  TrainingCost cost;
  std::optional<KnownWords> words = {};        ///< words that start with a vector from the user's file
  std::optional<InitialWeights> weights = {};  ///< parameters that start with another model's values
  std::vector<std::string> warnings =
      {};  ///< warnings about what may keep a model from learning, or makes its scores too good
  std::vector<std::string> notes = {};  ///< facts about the data's files, set sizes, class frequencies
  double left_out = 0;                  ///< fraction of the series without a window in the training set
};

/// Makes all checks that training makes before its first step, including on the data, and examines up to 1000
/// training sequences: for inputs that never change, inputs that equal the target of the same step, rare
/// classes, targets far from the magnitude of a model's initial outputs, and sequences shorter than the model's
/// largest lag. Throws InputError.
ExperimentCheck check_experiment(const Experiment& experiment, ThreadPool& pool);

}  // namespace lagtape
