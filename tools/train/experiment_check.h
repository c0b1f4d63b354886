#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/train/initial_weights.h"
#include "lagtape/tools/train/training_cost.h"

namespace lagtape {

/// What is known of an experiment in which no error was found.
struct ExperimentCheck {
  TrainingCost cost;
  std::optional<KnownWords> words = {};        ///< words that begin with a vector from the user's file
  std::optional<InitialWeights> weights = {};  ///< parameters that begin with those of another model
  std::vector<std::string> warnings = {};
  std::vector<std::string> notes = {};  ///< facts about the data's files
};

/// Checks everything that a training checks before its first step, data included. Throws InputError.
ExperimentCheck check_experiment(const Experiment& experiment, ThreadPool& pool);

}  // namespace lagtape
