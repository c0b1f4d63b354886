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
  std::optional<KnownWords> words = {};        ///< words that begin with a vector from the user's file
  std::optional<InitialWeights> weights = {};  ///< parameters that begin with those of another model
  std::vector<std::string> warnings =
      {};  ///< warnings of what may keep a model from learning, or makes its scores too good
  std::vector<std::string> notes =
      {};               ///< facts about the data's files, sizes of the sets, shares of the classes
  double left_out = 0;  ///< share of the series without a window in the training set
};

/// Makes all checks of a training before its first step, data included, and examines up to 1000 sequences of the
/// training set: inputs that never change, inputs that are the target of the same step, rare classes, targets far from
/// the size of a model's first outputs, and sequences shorter than the model's largest lag. Throws InputError.
ExperimentCheck check_experiment(const Experiment& experiment, ThreadPool& pool);

}  // namespace lagtape
