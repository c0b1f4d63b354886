#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_definition.h"
#include "lagtape/data/dataset.h"
#include "lagtape/data/task.h"
#include "lagtape/optim/optimizer.h"
#include "lagtape/optim/schedule.h"
#include "lagtape/tools/train/train_options.h"

namespace lagtape {

class Json;
struct FittedModel;

/// Generates or reads data, whose draws begin with a seed; `known` are the series of a trained model. Throws InputError.
using TaskLoading = std::function<Task(ThreadPool&, std::uint64_t seed, const SeriesNormalizations* known)>;

/// The `data` of an experiment.
struct DataSection {
  bool fresh = false;              ///< true: the training set never ends
  bool of_series = false;          ///< as that of TaskLoader
  std::optional<DataShape> shape;  ///< if the file alone decides it
  TaskLoading load;
  TaskLoading load_to_score;  ///< all sequences as `test`; files need none for training and validation
};

/// An experiment, section by section. It is read from a file, or filled in C++.
struct Experiment {
  std::string name;   ///< letters, digits, '.', '_', '-'
  std::string where;  ///< its name in messages
  std::uint64_t seed = 0;
  DataSection data = {};
  ModelDefinition model = {};
  LossFunction loss = {};  ///< also that of the model
  bool balanced_classes =
      false;  ///< the loss lacks the class weights that `with_class_weights` finds in the data
  std::vector<std::string> metrics;
  OptimizerPlan optimizer = {};
  SchedulePlan schedule = {};
  TrainOptions train = {};

  // Made when a file is read, so that nothing is parsed or built twice. Null for an experiment filled in C++.
  /// The file with every default filled in and absolute paths: it reads back to itself.
  std::shared_ptr<const Json> document = {};
  std::shared_ptr<const FittedModel> fitted =
      {};  ///< the model, when the file alone decides the data's shape

  /// The series of the trained model whose experiment this is; null for one that is to be trained.
  std::shared_ptr<const SeriesNormalizations> known = {};

  /// Throws InputError.
  Task load_task(ThreadPool& pool) const { return data.load(pool, seed, known.get()); }
  Task load_to_score(ThreadPool& pool) const { return data.load_to_score(pool, seed, known.get()); }
  std::string json() const;  ///< The text of the document; empty without one.
};

/// Reads an experiment, or a row of a file that has several, after the `assignments` ("train.epochs=3"). A relative
/// `data.path` starts at the folder of the file, or at the current one when an assignment gave it. The file may have
/// comments (// and /* */) and commas after a last element. Throws InputError with all errors of the file at once, one
/// a line: "FILE: /json/pointer: ...".
Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> assignments = {},
                           const std::string& row = {});

/// The same experiment with another seed.
Experiment with_seed(Experiment experiment, std::int64_t seed);

/// The same from a text. `where` names it in messages; relative paths start at `base`.
Experiment parse_experiment(const std::string& text, const std::string& where,
                            const std::filesystem::path& base, std::span<const std::string> assignments = {});

/// The widths of a model for such data and loss: a logit for each class, unless the loss is on one logit.
DataWidths widths_of(const LossFunction& loss, const DataShape& data);

/// The names of the numbers of a target, where the data are a recording with named columns; else none.
std::vector<std::string> target_names(const Experiment& experiment);

/// The model of an experiment for such data, drawn from the seed. Throws InputError with JSON Pointers, also when the
/// loss or the read-out does not fit the data, and for more parameters than fit into the memory.
Model build_model(const Experiment& experiment, const DataShape& data);

/// The same before its parameters are drawn, when they are zeros.
Model undrawn_model(const Experiment& experiment, const DataShape& data);

}  // namespace lagtape
