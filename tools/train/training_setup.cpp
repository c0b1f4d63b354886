#include "lagtape/tools/train/training_setup.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lagtape/cells/models/linear_term.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/baselines/linear_fit.h"
#include "lagtape/data/batches.h"
#include "lagtape/data/series/windows.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/source.h"

namespace lagtape {

namespace {

/// How many targets of each class the sequences have.
std::vector<double> class_counts(const Dataset& set, Loss loss, ThreadPool& pool) {
  constexpr std::int64_t kAtOnce = 256;
  const DataShape& shape = set.shape();
  std::vector<double> counts(
      static_cast<std::size_t>(loss == Loss::binary_cross_entropy ? 2 : shape.classes));
  for (std::int64_t first = 0; first < set.size(); first += kAtOnce) {
    const Batch data = gather(set, indices_in_order(set, first, kAtOnce), Dtype::f32, pool);
    const SequenceBatch batch = sequence_batch(data, shape, loss);
    const std::int64_t stride = shape.every_step ? data.x.size(1) : 1;
    for (std::int64_t row = 0; row < data.size(); ++row) {
      const std::int64_t steps = shape.every_step ? data.lengths[static_cast<std::size_t>(row)] : 1;
      for (std::int64_t place = row * stride; place < row * stride + steps; ++place) {
        const double target = loss == Loss::binary_cross_entropy
                                  ? batch.targets.at(place)
                                  : batch.classes[static_cast<std::size_t>(place)];
        if (target >= 0)
          counts[static_cast<std::size_t>(target)] += 1;  // neither -1 nor NaN, which are missing
      }
    }
  }
  return counts;
}

Model model_to_begin_with(const Experiment& experiment) try {
  return load_model(experiment.train.init);
} catch (const InputError& error) {
  throw error.within({.file = experiment.where, .pointer = "/train/init"});
}

/// Puts the vectors that the task was given for its words into a model; says how many there are.
std::optional<KnownWords> start_from_vectors(const Experiment& experiment, const Task& task, Model& model) {
  if (!task.read_vectors) return std::nullopt;
  Parameter& table = *model.parameters().begin();  // tokens go into the first layer alone
  const KnownWords words = task.read_vectors(table.value);
  const std::string error = value_error(model.fitted().parameters().front(), table.value);
  if (!error.empty())
    throw InputError({.file = experiment.where, .pointer = "/data/vectors"}, Rule::out_of_range,
                     text_of(table.name, ": ", error, "."));
  return words;
}

/// Fits the linear term that the data ask for, if they do, and puts it into the model.
void fit_residual(TrainingSetup& setup, ThreadPool& pool) {
  if (!setup.task.shape.linear) return;
  const LinearFit fit = fit_linear_term(setup.task, pool);
  for (Parameter& parameter : setup.model.parameters()) {
    const bool is_constant = parameter.name.ends_with(kLinearConstant);
    if (!is_constant && !parameter.name.ends_with(kLinearWeights)) continue;
    const std::vector<double>& values = is_constant ? fit.constant : fit.weights;
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
      parameter.value.set(i, values[static_cast<std::size_t>(i)]);
  }
}

/// Names the columns of a recording where the experiment reads all or has their numbers: other files have them elsewhere.
void name_columns(const Task& task, Json& data) {
  const auto* windows = dynamic_cast<const WindowDataset*>(task.train.get());
  if (windows == nullptr) return;
  const Panel& panel = windows->panel();
  const std::set<std::string> different(panel.names.begin(), panel.names.end());
  if (panel.names.empty() || different.size() < panel.names.size() || different.contains("")) return;
  bool reads_all = true;
  for (const char* key : {"input", "past", "future", "static", "target"}) {
    if (!data.contains(key) || !data[key].is_array()) continue;
    reads_all = reads_all && std::string_view(key) == "target";
    for (Json& column : data[key])
      if (column.is_number_integer()) column = panel.names[column.get<std::size_t>()];
  }
  if (!reads_all) return;
  data["input"] = Json::array();
  for (const PanelInput& input : panel.input) {
    const Column& column = panel.column(input.column);
    const auto is_named = [&](const Json& one) { return one == column.name; };
    if (column.kind == ColumnKind::number && std::ranges::none_of(data["input"], is_named))
      data["input"].push_back(column.name);
  }
}

/// Writes what the data decided into the experiment that goes with the model.
void keep_found(const Task& task, Model& model) {
  if (model.provenance().document.is_null()) return;
  Json document = document_of(model);
  const Json before = document;
  for (const auto& [key, value] : task.found) document["data"][key] = value;
  name_columns(task, document["data"]);
  if (document == before) return;
  model.set_provenance(provenance_of(std::move(document)));
}

/// Throws InputError for the first target of a recording that is not a count.
void require_counts(const Experiment& experiment, const Dataset& data) {
  const auto* windows = dynamic_cast<const WindowDataset*>(&data);
  if (windows == nullptr) return;
  const Panel& panel = windows->panel();
  for (const std::int64_t target : panel.target) {
    const Column& column = panel.column(target);
    for (std::int64_t row = 0; row < panel.rows; ++row) {
      const double value = column.measured(row);
      if (std::isnan(value) || (value >= 0 && value == std::floor(value))) continue;
      const PanelSeries& series = panel.series[static_cast<std::size_t>(panel.series_of(row))];
      const std::string when =
          panel.axis.times.empty()
              ? text_of("row ", row - series.first)
              : panel.axis.format.write(panel.axis.times[static_cast<std::size_t>(row)], panel.axis.zone);
      throw InputError(
          {.file = experiment.where, .pointer = "/loss"}, Rule::shape,
          text_of(name_of(experiment.loss), " needs targets that are whole numbers from 0 on"),
          text_of(value, " in the column ", quote(column.name, 40), " at ", when,
                  panel.series.size() > 1 ? text_of(" of the series ", quote(series.name(), 40)) : ""));
    }
  }
}

}  // namespace

Experiment with_class_weights(const Experiment& experiment, const Task& task, ThreadPool& pool) {
  if (!experiment.balanced_classes) return experiment;
  if (task.fresh)
    throw InputError(
        {.file = experiment.where, .pointer = "/loss/class_weights"}, Rule::not_supported,
        "\"balanced\" counts the classes of the training set, which never ends here. Give numbers.");
  std::vector<double> weights = class_counts(*task.train, experiment.loss, pool);
  double targets = 0, classes = 0;
  for (const double count : weights) {
    targets += count;
    classes += count > 0 ? 1 : 0;
  }
  for (double& weight : weights) weight = weight > 0 ? targets / (classes * weight) : 1;
  Experiment result = experiment;
  result.loss.options.class_weights = std::move(weights);
  result.model.loss = result.loss;
  result.fitted = nullptr;  // made with the loss of before
  return result;
}

Experiment with_count_scales(const Experiment& experiment, Task& task) {
  const TargetDistribution* distribution = experiment.loss.distribution();
  if (distribution == nullptr || !distribution->of_counts) return experiment;
  if (!task.fresh) require_counts(experiment, *task.train);
  if (std::ranges::any_of(task.series, [](const auto& one) { return !one.second.output.empty(); })) {
    if (!experiment.loss.options.scale.empty())
      throw InputError({.file = experiment.where, .pointer = "/loss/scale"}, Rule::conflict,
                       "each series has its own scale here", {},
                       R"("normalize_target": "all" takes this one for all series.)");
    Scaling& all = task.normalization.output;
    all.mean.assign(all.mean.size(), 0);
    all.scale.assign(all.scale.size(), 1);
    return experiment;
  }
  Experiment result = experiment;
  std::vector<double>& scale = result.loss.options.scale;
  if (scale.empty()) scale = std::move(task.normalization.output.mean);
  for (double& mean : scale)
    mean = mean > 0 ? mean : 1;  // of counts that are all 0; others are refused later
  task.normalization.output = {};
  result.model.loss = result.loss;
  result.fitted = nullptr;  // made with the loss of before
  return result;
}

std::optional<InitialWeights> start_from_init(const Experiment& experiment, Model& model) {
  const std::string& path = experiment.train.init;
  if (path.empty()) return std::nullopt;
  const Model other = model_to_begin_with(experiment);
  InitialWeights result{.from = path, .taken = {}, .drawn = {}};
  for (Parameter& parameter : model.parameters()) {
    const auto found = std::ranges::find_if(other.parameters(), [&](const Parameter& candidate) {
      return candidate.name == parameter.name && candidate.value.shape() == parameter.value.shape();
    });
    if (found == other.parameters().end()) {
      result.drawn.push_back(parameter.name);
      continue;
    }
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i) parameter.value.set(i, found->value.at(i));
    result.taken.push_back(parameter.name);
  }
  if (!result.taken.empty()) return result;
  throw InputError(
      {.file = experiment.where, .pointer = "/train/init"}, Rule::missing,
      text_of(path, " has no parameter of the name and shape of one of this model, such as ",
              result.drawn.front(), " ", to_string(model.parameters().begin()->value.shape()), "."));
}

TrainingSetup set_up(const Experiment& given, ThreadPool& pool) {
  const PlainArithmetic plain;
  Task task = given.load_task(pool);
  Experiment experiment = with_count_scales(with_class_weights(given, task, pool), task);
  Model model = undrawn_model(experiment, task.shape);
  keep_found(task, model);
  return {std::move(task), std::move(experiment), std::move(model)};
}

void start_from_files(TrainingSetup& setup, ThreadPool& pool) {
  setup.words = start_from_vectors(setup.experiment, setup.task, setup.model);
  setup.weights = start_from_init(setup.experiment, setup.model);
  fit_residual(setup, pool);
}

}  // namespace lagtape
