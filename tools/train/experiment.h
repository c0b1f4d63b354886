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

/// Generates or reads data, whose draws depend on the seed; `known` are the series of a trained model. Throws
/// InputError.
using TaskLoading = std::function<Task(ThreadPool&, std::uint64_t seed, const SeriesNormalizations* known)>;

/// The `data` of an experiment.
struct DataSection {
  bool fresh = false;              ///< true: the training set never ends
  bool of_series = false;          ///< as in TaskLoader
  std::optional<DataShape> shape;  ///< if the file alone determines it
  TaskLoading load;
  TaskLoading load_to_score;  ///< all sequences as `test`; files need none for training and validation
};

/// An experiment, section by section. It is read from a file, or filled in by C++ code.
struct Experiment {
  std::string name;   ///< letters, digits, '.', '_', '-'
  std::string where;  ///< its name in messages
  std::uint64_t seed = 0;
  DataSection data = {};
  ModelDefinition model = {};
  LossFunction loss = {};  ///< also the model's
  bool balanced_classes =
      false;  ///< the loss lacks the class weights that `with_class_weights` computes from the data
  std::vector<std::string> metrics;
  OptimizerPlan optimizer = {};
  SchedulePlan schedule = {};
  TrainOptions train = {};

  // Made when a file is read, so nothing is parsed or built twice. Null for an experiment filled in by C++
  // code.
  /// The file with every default filled in and absolute paths: it reads back to the same.
  std::shared_ptr<const Json> document = {};
  std::shared_ptr<const FittedModel> fitted =
      {};  ///< the model, if the file alone determines the data's shape

  /// The series of the trained model to which this experiment belongs; null for one that is yet to be trained.
  std::shared_ptr<const SeriesNormalizations> known = {};

  /// Throws InputError.
  Task load_task(ThreadPool& pool) const { return data.load(pool, seed, known.get()); }
  Task load_to_score(ThreadPool& pool) const { return data.load_to_score(pool, seed, known.get()); }
  std::string json() const;  ///< The document's text; empty if there is none.
};

/// Reads an experiment, or a row of a file that contains several, and applies the `assignments`
/// ("train.epochs=3"). A relative `data.path` is relative to the file's folder, or to the current one if set by
/// an assignment. The file may contain comments (// and /* */) and trailing commas. Throws InputError with all
/// errors in the file at once, one per line: "FILE: /json/pointer: ...".
Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> assignments = {},
                           const std::string& row = {});

/// The same experiment with another seed.
Experiment with_seed(Experiment experiment, std::int64_t seed);

/// The same from a text. `where` names it in messages; paths are relative to `base`.
Experiment parse_experiment(const std::string& text, const std::string& where,
                            const std::filesystem::path& base, std::span<const std::string> assignments = {});

/// The widths of a model for such data and loss: a logit for each class, unless the loss is on one logit.
DataWidths widths_of(const LossFunction& loss, const DataShape& data);

/// The names of a target's numbers, if the data are a recording with named columns; else none.
std::vector<std::string> target_names(const Experiment& experiment);

/// The model of an experiment for such data, drawn from the seed. Throws InputError with JSON Pointers,
/// including if the loss or the read-out does not fit the data, and for more parameters than fit into memory.
Model build_model(const Experiment& experiment, const DataShape& data);

/// The same before its parameters are drawn, while they are zeros.
Model undrawn_model(const Experiment& experiment, const DataShape& data);

}  // namespace lagtape
