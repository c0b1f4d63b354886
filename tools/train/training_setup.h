#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The parameters that a training run copied from another model.
struct InitialWeights {
  std::string from;                ///< the run folder or weights file
  std::vector<std::string> taken;  ///< names
  std::vector<std::string> drawn;  ///< names of those that the other model lacks, or has in another shape
};

/// The start of training: its data, and the experiment and the model completed from them.
struct TrainingSetup {
  Task task;
  Experiment experiment;
  Model model;
  std::optional<KnownWords> words = {};        ///< words that start with a vector from the user's file
  std::optional<InitialWeights> weights = {};  ///< parameters that start with those of `train.init`
};

/// The experiment with numbers instead of "balanced" class weights: N / (K n) for a class with n of the N
/// targets in the training set, where K is the number of classes that occur there. Other classes have 1. Throws
/// InputError if the training set is endless. Other experiments are unchanged.
Experiment with_class_weights(const Experiment& experiment, const Task& task, ThreadPool& pool);

/// The experiment with the means from the targets' scaling as the scales of a count loss that has none, and the
/// task without that scaling: counts are not scaled. With other losses both are unchanged.
Experiment with_count_scales(const Experiment& experiment, Task& task);

/// Loads the data and builds the model, whose parameters are zeros until they are drawn. Throws InputError.
TrainingSetup set_up(const Experiment& experiment, ThreadPool& pool);

/// Copies word vectors and the parameters of `train.init`, if the experiment specifies any, into the drawn
/// model before the first step, and the linear term that the data request ("residual"). Throws InputError.
void start_from_files(TrainingSetup& setup, ThreadPool& pool);

/// Copies to a model the values from `train.init` for parameters with the same name and shape. Returns nothing
/// without such a file. Throws InputError if no parameter matches.
std::optional<InitialWeights> start_from_init(const Experiment& experiment, Model& model);

}  // namespace lagtape
