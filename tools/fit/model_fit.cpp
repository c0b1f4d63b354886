#include "lagtape/tools/fit/model_fit.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/ops/recurrence/derive/tangent_stack.h"
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape {

/// One number of a parameter.
struct FittedNumber {
  std::string parameter;
  std::int64_t element = 0;
};

/// A reading: its place in the outputs, and a factor that gives residuals the units of the data.
struct FittedReading {
  std::int64_t row = 0, output = 0;
  double value = 0, factor = 1, shift = 0;  // the shift gives readings those units, too
};

namespace {

constexpr std::int64_t kMostWeights = 1 << 16;  // each number of a weight has a backward pass of its own
constexpr std::int64_t kMostReadings = 1 << 22;

/// "a", or "layers.1.a" where several parameters end like that.
std::string short_name(const Parameters& parameters, const std::string& name) {
  const auto last = [](const std::string& of) {
    if (!of.starts_with("layers.")) return of;
    std::size_t end = of.find('.', 7);
    while (end + 1 < of.size() && std::isdigit(static_cast<unsigned char>(of[end + 1]))) {
      const std::size_t next = of.find('.', end + 1);
      if (next == std::string::npos) break;
      end = next;
    }
    return of.substr(end + 1);
  };
  const auto same = [&](const Parameter& other) { return last(other.name) == last(name); };
  return std::ranges::count_if(parameters, same) == 1 ? last(name) : name;
}

std::string index_of(const Shape& shape, std::int64_t element) {
  if (shape.empty()) return {};
  if (shape.size() == 1) return text_of("[", element, "]");
  return text_of("[", element / shape.back(), ",", element % shape.back(), "]");
}

void refuse(const std::string& what, const std::string& hint = {}) {
  throw InputError({.op = "fit"}, Rule::not_supported, what, {}, hint);
}

TrainingSetup set_up_in_f64(const Experiment& given, ThreadPool& pool) {
  const std::vector<std::string> in_f64 = {"train.precision=f64"};
  TrainingSetup setup = set_up(read_experiment({document_of(given), given.where, "/"}, in_f64), pool);
  setup.model.draw(setup.experiment.seed);
  start_from_files(setup, pool);
  return setup;
}

void check_model(const TrainingSetup& setup) {
  const ChainDefinition& chain = setup.model.chain();
  const bool is_one_op = chain.parts.size() == 1 && !chain.parts[0].layer;
  if (!is_one_op) refuse("a model with layers of whole sequences is not fitted.", "Train it.");
  if (setup.task.shape.output == 0) refuse("a fit is to readings that are real numbers, not to classes.");
  if (setup.model.output_width() != setup.task.shape.output)
    refuse("a fit is of one prediction for each reading, as with the loss mse.");
  for (const StepProgram& layer : chain.parts[0].stack.layers)
    for (const StateDefinition& state : layer.states)
      if (state.arithmetic == Arithmetic::grid)
        refuse("states on the grid are not fitted.", "Set \"arithmetic\": \"float\".");
  if (setup.task.train->size() == Dataset::kUnlimited)
    refuse("a training set that never ends is not fitted.");
}

/// All targets that are there. Several targets of a step stay in units of their deviations, as in training.
std::vector<FittedReading> readings_of(const Batch& batch, const DataShape& shape,
                                       const Normalization& normalization) {
  std::vector<FittedReading> readings;
  const std::int64_t width = shape.output, steps = shape.every_step ? batch.y.size(1) : 1;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const Scaling& scaling = batch.normalization(b, normalization).output;
    const std::int64_t own = shape.every_step ? batch.lengths[b] : 1;
    for (std::int64_t i = 0; i < own * width; ++i) {
      const std::int64_t row = b * steps + i / width;
      const double value = batch.y.at(row * width + i % width);
      if (!std::isnan(value))
        readings.push_back({row, i % width, value, width == 1 ? scaling.restored_difference(1, 0) : 1,
                            width == 1 ? scaling.restored(0, 0) : 0});
    }
  }
  return readings;
}

}  // namespace

struct ModelFit::Implementation {
  using Changes = std::vector<std::vector<Tensor>>;  ///< [direction][weight]

  TrainingSetup setup;
  ThreadPool& pool;
  std::vector<FittedNumber> numbers = {};
  std::vector<FitParam> params = {};
  SequenceBatch batch = {};
  std::vector<FittedReading> readings = {};
  std::optional<SequenceOp> op = {}, tangent_op = {};
  std::optional<TangentStack> tangent = {};

  Implementation(const Experiment& experiment, ThreadPool& given)
      : setup(set_up_in_f64(experiment, given)), pool(given) {
    check_model(setup);
    find_numbers();
    read_data();
    const StackDefinition& stack = setup.model.stack();
    op.emplace(stack, Dtype::f64);
    tangent.emplace(stack, changing());
    tangent_op.emplace(tangent->stack(), Dtype::f64);
  }

  void find_numbers() {
    const Parameters& parameters = setup.model.parameters();
    if (parameters.count() > kMostNumbers)
      throw InputError({.op = "fit"}, Rule::out_of_range,
                       text_of("a fit is of at most ", kMostNumbers, " numbers"),
                       text_of(parameters.count(), " that are trained"),
                       "Train the model, or set params to \"train\": false.");
    for (const Parameter& parameter : parameters)
      for (std::int64_t i = 0; parameter.trainable && i < parameter.value.numel(); ++i) {
        numbers.push_back({parameter.name, i});
        params.push_back({short_name(parameters, parameter.name) + index_of(parameter.value.shape(), i),
                          parameter.value.at(i), parameter.bounds, parameter.unit});
      }
  }

  void read_data() {
    const Task& task = setup.task;
    const std::int64_t rows = task.train->size();
    if (rows * std::max(task.shape.length, task.shape.output) > kMostReadings)
      refuse("there are too many readings for a fit.");
    const Batch data =
        gather(*task.train, indices_in_order(*task.train, 0, rows), Dtype::f64, pool, task.normalization);
    batch = sequence_batch(data, task.shape, setup.experiment.loss);
    readings = readings_of(data, task.shape, task.normalization);
    setup.model.normalization() = task.normalization;
  }

  void set(std::span<const double> values) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      setup.model.parameters()[numbers[i].parameter].value.set(numbers[i].element, values[i]);
  }

  std::vector<Tensor> weights() {
    Tape tape;
    std::vector<Tensor> all;
    for (const Var& weight : setup.model.weights(tape)) all.push_back(weight.value().clone());
    return all;
  }

  /// The derivatives of the step's weights by each number, from a backward pass for each number of a weight.
  Changes changes_of_weights() {
    Tape tape;
    const std::vector<Var> all = setup.model.weights(tape);
    Changes changes(numbers.size());
    std::int64_t count = 0;
    for (std::size_t w = 0; w < all.size(); ++w) {
      const Tensor& value = all[w].value();
      for (std::vector<Tensor>& direction : changes) direction.emplace_back(value.shape(), Dtype::f64);
      if ((count += value.numel()) > kMostWeights) refuse("the step has too many weights for a fit.");
      for (std::int64_t i = 0; i < value.numel(); ++i) {
        Tensor one(value.shape(), Dtype::f64);
        one.set(i, 1);
        setup.model.parameters().zero_grad();
        tape.backward(all[w], one);
        for (std::size_t d = 0; d < numbers.size(); ++d)
          changes[d][w].set(i, setup.model.parameters()[numbers[d].parameter].grad.at(numbers[d].element));
      }
    }
    return changes;
  }

  /// Which weights change with which number. A derivative may be 0 at a start by chance, so a second place is asked, too.
  std::vector<std::vector<bool>> changing() {
    std::vector<double> start, elsewhere;
    for (const FitParam& param : params) {
      start.push_back(param.start);
      elsewhere.push_back(param.bounds.from_scale(param.bounds.to_scale(param.start) + 0.0173));
    }
    std::vector<std::vector<bool>> result;
    for (const std::vector<double>& values : {elsewhere, start}) {
      set(values);
      const Changes changes = changes_of_weights();
      result.resize(changes.front().size(), std::vector<bool>(numbers.size()));
      for (std::size_t d = 0; d < numbers.size(); ++d)
        for (std::size_t w = 0; w < result.size(); ++w)
          for (std::int64_t i = 0; i < changes[d][w].numel(); ++i)
            if (changes[d][w].at(i) != 0) result[w][d] = true;
    }
    return result;
  }
};

ModelFit::ModelFit(const Experiment& experiment, ThreadPool& pool)
    : implementation_(std::make_unique<Implementation>(experiment, pool)) {}
ModelFit::~ModelFit() = default;

const std::vector<FitParam>& ModelFit::params() const { return implementation_->params; }
const Model& ModelFit::model() const { return implementation_->setup.model; }
const Experiment& ModelFit::experiment() const { return implementation_->setup.experiment; }

std::vector<double> ModelFit::residuals(std::span<const double> values) {
  Implementation& self = *implementation_;
  self.set(values);
  const Tensor outputs = self.op->evaluate(self.weights(), self.batch, self.pool);
  const std::int64_t width = self.setup.model.output_width();
  std::vector<double> residuals;
  for (const FittedReading& reading : self.readings)
    residuals.push_back((outputs.at(reading.row * width + reading.output) - reading.value) * reading.factor);
  return residuals;
}

std::vector<FitTrace> ModelFit::traces(std::span<const double> values) {
  Implementation& self = *implementation_;
  const std::vector<double> differences = residuals(values);
  std::vector<FitTrace> traces(static_cast<std::size_t>(self.setup.model.output_width()));
  for (std::size_t i = 0; i < self.readings.size(); ++i) {
    const FittedReading& reading = self.readings[i];
    FitTrace& trace = traces[static_cast<std::size_t>(reading.output)];
    trace.t.push_back(static_cast<double>(reading.row));
    trace.readings.push_back(reading.value * reading.factor + reading.shift);
    trace.fitted.push_back(trace.readings.back() + differences[i]);
  }
  for (std::size_t i = 0; i < traces.size(); ++i)
    traces[i].name = traces.size() == 1 ? "target" : text_of("target ", i + 1);
  return traces;
}

void ModelFit::start_from(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) implementation_->params[i].start = values[i];
}

DenseMatrix ModelFit::jacobian(std::span<const double> values) {
  Implementation& self = *implementation_;
  self.set(values);
  const std::vector<Tensor> weights = self.tangent->weights(self.weights(), self.changes_of_weights());
  const Tensor outputs = self.tangent_op->evaluate(weights, self.batch, self.pool);
  const std::int64_t width = self.setup.model.output_width();
  const auto count = static_cast<std::int64_t>(self.numbers.size());
  DenseMatrix jacobian(static_cast<std::int64_t>(self.readings.size()), count);
  for (std::int64_t r = 0; r < jacobian.rows; ++r) {
    const FittedReading& reading = self.readings[r];
    for (std::int64_t d = 0; d < count; ++d)
      jacobian.at(r, d) =
          outputs.at((reading.row * (count + 1) + d + 1) * width + reading.output) * reading.factor;
  }
  return jacobian;
}

}  // namespace lagtape
