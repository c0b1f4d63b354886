#include "lagtape/tools/fit/model_fit.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/batches.h"
#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/data/table/number.h"
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
  std::vector<std::size_t> params;  ///< of each group of readings, its place among the params of the fit
};

/// A reading: its place in the outputs, and a factor that gives residuals the units of the data.
struct FittedReading {
  std::int64_t row = 0, output = 0;
  double value = 0, factor = 1, shift = 0;  // the shift gives readings those units, too
  double deviation = 1;
};

/// Sequences whose numbers are the same: all of them, or where some numbers are each series' own those of one series.
struct FittedGroup {
  std::string name;  ///< of the series; empty: all
  SequenceBatch batch;
  std::vector<FittedReading> readings;
};

namespace {

constexpr std::int64_t kMostWeights = 1 << 16;  // each number of a weight has its own backward pass
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
  FitSection section;
  std::vector<FittedNumber> numbers = {};
  std::vector<FitParam> params = {};
  std::vector<FittedGroup> groups = {};
  std::vector<double> deviations = {};  // of each target; empty: not known
  std::optional<SequenceOp> op = {}, tangent_op = {};
  std::optional<TangentStack> tangent = {};

  Implementation(const Experiment& experiment, FitSection given_section, ThreadPool& given)
      : setup(set_up_in_f64(experiment, given)), pool(given), section(std::move(given_section)) {
    check_model(setup);
    read_deviations();
    read_data();
    find_numbers();
    const StackDefinition& stack = setup.model.stack();
    op.emplace(stack, Dtype::f64);
    tangent.emplace(stack, changing());
    tangent_op.emplace(tangent->stack(), Dtype::f64);
  }

  void read_deviations() {
    for (const auto& [key, is_given] :
         {std::pair("force", section.force != "none"), std::pair("grow", !section.grow.empty()),
          std::pair("shoot", section.shoot > 0)})
      if (is_given)
        throw InputError({.pointer = text_of("/fit/", key)}, Rule::not_supported,
                         "is for equations in continuous time, and this fit is of a model");
    for (const std::string& one : section.deviation) {
      const std::optional<double> number = parse_number<double>(one);
      if (!number || !(*number > 0))
        throw InputError({.pointer = "/fit/deviation"}, Rule::wrong_type,
                         "in the fit of a model a standard deviation is a number above 0", quote(one));
      deviations.push_back(*number);
    }
    if (deviations.size() == 1) deviations.resize(setup.task.shape.output, deviations.front());
  }

  void find_numbers() {
    const Parameters& parameters = setup.model.parameters();
    std::vector<std::string> known;
    for (const Parameter& parameter : parameters) {
      const std::string name = short_name(parameters, parameter.name);
      const auto is_in = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, name) != names.end();
      };
      known.push_back(name);
      if (!parameter.trainable || !(section.only.empty() || is_in(section.only))) continue;
      for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
        add_number(parameter, i, name + index_of(parameter.value.shape(), i), is_in(section.own));
    }
    for (const auto& [key, names] : {std::pair("own", section.own), std::pair("only", section.only)})
      for (const std::string& name : names)
        if (std::ranges::find(known, name) == known.end())
          throw InputError(unknown_name("param", name, known).within({.pointer = text_of("/fit/", key)}));
    if (std::ssize(params) > kMostNumbers)
      throw InputError(
          {.op = "fit"}, Rule::out_of_range, text_of("a fit is of at most ", kMostNumbers, " numbers"),
          text_of(params.size(), " that are trained"), "Train the model, or set params to \"train\": false.");
  }

  void add_number(const Parameter& parameter, std::int64_t element, const std::string& name, bool is_own) {
    FittedNumber number{parameter.name, element, {}};
    for (const FittedGroup& group : groups) {
      if (is_own || number.params.empty())
        params.push_back({is_own ? text_of(name, " of ", group.name) : name, parameter.value.at(element),
                          parameter.bounds, parameter.unit});
      number.params.push_back(params.size() - 1);
    }
    numbers.push_back(std::move(number));
  }

  void read_data() {
    const Task& task = setup.task;
    const std::int64_t rows = task.train->size();
    if (rows * std::max(task.shape.length, task.shape.output) > kMostReadings)
      refuse("there are too many readings for a fit.");
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> sequences;  // by series
    for (std::int64_t i = 0; i < rows; ++i) {
      const PanelSeries* series = section.own.empty() ? nullptr : series_of(*task.train, i);
      const std::string name = series == nullptr ? "" : series->name();
      if (sequences.empty() || sequences.back().first != name) sequences.push_back({name, {}});
      sequences.back().second.push_back(i);
    }
    if (!section.own.empty() && sequences.size() < 2)
      throw InputError({.pointer = "/fit/own"}, Rule::conflict,
                       "own params are those of each series, and the data have one", {},
                       "Give \"path\" a list of files, or name the column of the series.");
    for (const auto& [name, indices] : sequences) {
      const Batch data = gather(*task.train, indices, Dtype::f64, pool, task.normalization);
      groups.push_back({name, sequence_batch(data, task.shape, setup.experiment.loss),
                        readings_of(data, task.shape, task.normalization)});
      for (FittedReading& reading : groups.back().readings)
        if (!deviations.empty()) reading.deviation = deviations[reading.output];
    }
    setup.model.normalization() = task.normalization;
  }

  /// Gives the model the numbers of a group.
  void set(std::span<const double> values, std::size_t group) {
    for (const FittedNumber& number : numbers)
      setup.model.parameters()[number.parameter].value.set(number.element, values[number.params[group]]);
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

  /// The weights that change with each number. A derivative may be 0 at a start by chance, so a second place is asked,
  /// too.
  std::vector<std::vector<bool>> changing() {
    std::vector<double> start, elsewhere;
    for (const FitParam& param : params) {
      start.push_back(param.start);
      elsewhere.push_back(param.bounds.from_scale(param.bounds.to_scale(param.start) + 0.0173));
    }
    std::vector<std::vector<bool>> result;
    for (const std::vector<double>& values : {elsewhere, start}) {
      set(values, 0);
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

ModelFit::ModelFit(const Experiment& experiment, ThreadPool& pool, const FitSection& section)
    : implementation_(std::make_unique<Implementation>(experiment, section, pool)) {}
ModelFit::~ModelFit() = default;

const std::vector<FitParam>& ModelFit::params() const { return implementation_->params; }
const Model& ModelFit::model() const { return implementation_->setup.model; }
const Experiment& ModelFit::experiment() const { return implementation_->setup.experiment; }

bool ModelFit::has_deviations() const { return !implementation_->deviations.empty(); }

std::vector<double> ModelFit::residuals(std::span<const double> values) {
  Implementation& self = *implementation_;
  const std::int64_t width = self.setup.model.output_width();
  std::vector<double> residuals;
  for (std::size_t g = 0; g < self.groups.size(); ++g) {
    self.set(values, g);
    const Tensor outputs = self.op->evaluate(self.weights(), self.groups[g].batch, self.pool);
    for (const FittedReading& reading : self.groups[g].readings)
      residuals.push_back((outputs.at(reading.row * width + reading.output) - reading.value) *
                          reading.factor / reading.deviation);
  }
  return residuals;
}

std::vector<FitTrace> ModelFit::traces(std::span<const double> values) {
  Implementation& self = *implementation_;
  const std::vector<double> differences = residuals(values);
  std::vector<FitTrace> all;
  std::size_t i = 0;
  for (const FittedGroup& group : self.groups) {
    std::vector<FitTrace> traces(static_cast<std::size_t>(self.setup.model.output_width()));
    for (const FittedReading& reading : group.readings) {
      FitTrace& trace = traces[static_cast<std::size_t>(reading.output)];
      trace.t.push_back(static_cast<double>(reading.row));
      trace.readings.push_back(reading.value * reading.factor + reading.shift);
      trace.fitted.push_back(trace.readings.back() + differences[i++] * reading.deviation);
    }
    for (std::size_t t = 0; t < traces.size(); ++t) {
      traces[t].name = traces.size() == 1 ? "target" : text_of("target ", t + 1);
      traces[t].file = group.name;
    }
    std::ranges::move(traces, std::back_inserter(all));
  }
  return all;
}

void ModelFit::start_from(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) implementation_->params[i].start = values[i];
}

bool ModelFit::has_own() const { return implementation_->groups.size() > 1; }

bool ModelFit::fix(const std::string& param, double value) {
  Parameters& parameters = implementation_->setup.model.parameters();
  for (Parameter& parameter : parameters)
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
      if (short_name(parameters, parameter.name) + index_of(parameter.value.shape(), i) == param) {
        parameter.value.set(i, value);
        return true;
      }
  return false;
}

DenseMatrix ModelFit::jacobian(std::span<const double> values) {
  Implementation& self = *implementation_;
  const std::int64_t width = self.setup.model.output_width();
  const auto count = static_cast<std::int64_t>(self.numbers.size());
  std::int64_t rows = 0, r = 0;
  for (const FittedGroup& group : self.groups) rows += std::ssize(group.readings);
  DenseMatrix jacobian(rows, std::ssize(self.params));
  for (std::size_t g = 0; g < self.groups.size(); ++g) {
    self.set(values, g);
    const std::vector<Tensor> weights = self.tangent->weights(self.weights(), self.changes_of_weights());
    const Tensor outputs = self.tangent_op->evaluate(weights, self.groups[g].batch, self.pool);
    for (const FittedReading& reading : self.groups[g].readings) {
      for (std::int64_t d = 0; d < count; ++d)
        jacobian.at(r, static_cast<std::int64_t>(self.numbers[d].params[g])) =
            outputs.at((reading.row * (count + 1) + d + 1) * width + reading.output) * reading.factor /
            reading.deviation;
      ++r;
    }
  }
  return jacobian;
}

}  // namespace lagtape
