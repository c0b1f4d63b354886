#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The parameters that a training copied from another model.
struct InitialWeights {
  std::string from;                ///< the run folder or weights file
  std::vector<std::string> taken;  ///< names
  std::vector<std::string> drawn;  ///< names of those that the other model lacks in this shape
};

/// The start of a training: its data, and the experiment and the model completed by them.
struct TrainingSetup {
  Task task;
  Experiment experiment;
  Model model;
  std::optional<KnownWords> words = {};        ///< words that begin with a vector from the user's file
  std::optional<InitialWeights> weights = {};  ///< parameters that begin with those of `train.init`
};

/// The experiment with numbers in place of class weights that are "balanced": N / (K n) for a class with n of the N
/// targets of the training set, K the number of classes that occur there. Other classes have 1.
/// Throws InputError where the training set never ends. Other experiments stay as they are.
Experiment with_class_weights(const Experiment& experiment, const Task& task, ThreadPool& pool);

/// The experiment with the means of the targets' scaling as the scales of a loss of counts that has none, and the task
/// without that scaling: counts are not scaled. With other losses both stay as they are.
Experiment with_count_scales(const Experiment& experiment, Task& task);

/// Loads the data and builds the model, whose parameters are zeros until they are drawn. Throws InputError.
TrainingSetup set_up(const Experiment& experiment, ThreadPool& pool);

/// Puts word vectors and the parameters of `train.init`, if the experiment names any, into the drawn model before the
/// first step, and the linear term that the data ask for ("residual"). Throws InputError.
void start_from_files(TrainingSetup& setup, ThreadPool& pool);

/// Gives a model the values of `train.init`: those of parameters of the same name and shape. Returns nothing without
/// such a file. Throws InputError when no parameter fits.
std::optional<InitialWeights> start_from_init(const Experiment& experiment, Model& model);

}  // namespace lagtape
