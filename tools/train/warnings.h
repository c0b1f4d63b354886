#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/json/json.h"
#include "lagtape/data/task.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

/// How messages refer to a task's inputs and targets: "input 'temp'" if columns have names, else "input 3".
class ColumnTexts {
 public:
  /// `data`: the options of the task.
  ColumnTexts(const Task& task, const Json& data);

  std::string input(std::int64_t i) const { return text("input ", inputs_, i); }
  std::string target(std::int64_t i) const { return text("target ", targets_, i); }

 private:
  static std::string text(const char* role, const std::vector<std::string>& names, std::int64_t i);

  std::vector<std::string> inputs_ = {}, targets_ = {};
};

/// One text for each layer whose lags exceed the length of the sequences.
std::vector<std::string> lag_warnings(const Model& model, const DataShape& data);

/// One text for each column whose variation is lost in the model's precision.
std::vector<std::string> rounding_warnings(const Model& model, const ColumnTexts& names);

/// One text for each equation cell under the rules of version 0.1 (EquationCell::grammar).
std::vector<std::string> grammar_warnings(const Model& model);

/// One text for each cell of a version 0.1 run whose experiment interprets it by other rules when trained
/// again: the run's weights and experiment files, which need not exist.
std::vector<std::string> retraining_warnings(const std::filesystem::path& weights,
                                             const std::filesystem::path& experiment);

/// One text for each layer with weights that no gradient reaches, such as those before a comparison that
/// produces spikes.
std::vector<std::string> gradient_warnings(const Model& model);

/// All warnings before training: these, quantiles without the median, and epochs with few updates.
std::vector<std::string> training_warnings(const Trainer& trainer, const Model& model, const Task& task);

}  // namespace lagtape
