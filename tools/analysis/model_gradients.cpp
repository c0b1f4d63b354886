#include "lagtape/tools/analysis/model_gradients.h"

#include <algorithm>
#include <cctype>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape {

namespace {

constexpr std::int64_t kLags = 3, kMore = 8;
constexpr double kStep = 2e-4;  // for a loss of order 1 with gradients of single elements down to 1e-6
constexpr double kShortStep = 1e-6;
constexpr int kMoves = 3;
constexpr double kMoved = 0.05;

/// The steps 0 .. steps - 1 of [B, T, n] repeated in time.
Tensor continued(const Tensor& whole, std::int64_t steps) {
  const std::int64_t rows = whole.size(0), length = whole.size(1), n = whole.size(2);
  Tensor result({rows, steps, n}, whole.dtype());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < steps * n; ++i) {
      result.set(row * steps * n + i, whole.at(row * length * n + i % (length * n)));
    }
  }
  return result;
}

/// The batch with all sequences cut or repeated to `steps` steps; padding counts as part of a sequence.
SequenceBatch of_length(const SequenceBatch& batch, const DataShape& shape, std::int64_t steps) {
  SequenceBatch result = batch;
  const std::int64_t rows = batch.x.size(0), length = batch.x.size(1);
  result.x = continued(batch.x, steps);
  result.lengths.clear();
  if (!shape.every_step) return result;
  if (!batch.targets.empty()) result.targets = continued(batch.targets, steps);
  if (!batch.classes.empty()) {
    result.classes.clear();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t n = 0; n < steps; ++n) {
        result.classes.push_back(std::max(batch.classes[row * length + n % length], 0));
      }
    }
  }
  return result;
}

using ParameterList = std::vector<Parameter*>;

/// The parameters that have gradients.
ParameterList trained(Parameters& parameters) {
  ParameterList result;
  for (Parameter& parameter : parameters)
    if (parameter.trainable) result.push_back(&parameter);
  return result;
}

void assign(const ParameterList& parameters, const std::vector<Tensor>& values) {
  auto value = values.begin();
  for (Parameter* parameter : parameters) parameter->value = (value++)->clone();
}

/// The loss as a function of the trained parameters in one node, whose gradient rule runs the sequence op
/// again.
class LossOfParameters {
 public:
  LossOfParameters(Model& model, ModelOp& op, const SequenceBatch& batch, ThreadPool& pool)
      : model_(model), trained_(trained(model.parameters())), op_(op), batch_(batch), pool_(pool) {}

  Var operator()(Tape& tape, std::span<const Var> parameters) const {
    std::vector<Tensor> values;
    for (const Var& parameter : parameters) values.push_back(parameter.value());
    assign(trained_, values);
    return tape.record(value(), parameters,
                       [this, values](const Tensor& grad_output, InputGradients& inputs) {
                         assign(trained_, values);
                         run_backward(grad_output);
                         int i = 0;
                         for (const Parameter* parameter : trained_) inputs.add(i++, parameter->grad);
                       });
  }

 private:
  Tensor value() const {
    Tape tape;
    return op_.loss(tape, model_.constant_weights(tape), batch_, pool_).value().clone();
  }

  void run_backward(const Tensor& grad_output) const {
    model_.parameters().zero_grad();
    Tape tape;
    const std::vector<Var> weights = model_.weights(tape);
    tape.backward(op_.loss(tape, weights, batch_, pool_), grad_output);
  }

  Model& model_;
  ParameterList trained_;
  ModelOp& op_;
  const SequenceBatch& batch_;
  ThreadPool& pool_;
};

std::int64_t largest_lag(const Model& model) {
  std::int64_t lag = 0;
  for (const LayerSummary& layer : model.layers()) lag = std::max(lag, layer.largest_lag());
  return lag;
}

/// Moves the values a little, within the parameters' bounds.
std::vector<Tensor> moved(const std::vector<Tensor>& values, const ParameterList& parameters, int move) {
  RandomStream random(static_cast<std::uint64_t>(move), 1);
  std::vector<Tensor> result;
  auto parameter = parameters.begin();
  for (const Tensor& value : values) {
    const Bounds& bounds = (*parameter++)->bounds;
    result.push_back(value.clone());
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      const double by = kMoved * (2 * random.next_uniform() - 1), there = value.at(i) + by;
      result.back().set(i, bounds.contains(there) ? there : value.at(i) - by);
    }
  }
  return result;
}

/// "input 3 [17]: ..." with the name of the parameter in place of its number.
std::string with_names(const std::string& text, const ParameterList& parameters) {
  int i = 0;
  for (const Parameter* parameter : parameters) {
    const std::string number = text_of("input ", i++);
    const std::size_t place = text.find(number);
    const std::size_t end = place + number.size();
    if (place == std::string::npos || (end < text.size() && std::isdigit(text[end]))) continue;
    return text.substr(0, place) + parameter->name + text.substr(end);
  }
  return text;
}

}  // namespace

ModelGradients check_model_gradients(const Experiment& given, ThreadPool& pool,
                                     const ModelGradientOptions& options) {
  const std::vector<std::string> in_f64 = {"train.precision=f64"};
  const Experiment in_double = read_experiment({document_of(given), given.where, "/"}, in_f64);
  auto [task, experiment, model, words, weights] = set_up(in_double, pool);
  model.draw(experiment.seed);
  ModelOp op(
      model, {},
      Arithmetic::real);  // on the grid the loss would change in steps of 2^-32, too coarse for differences

  const std::vector<std::int64_t> indices = indices_in_order(*task.train, 0, options.sequences);
  const Batch data = gather(*task.train, indices, model.dtype(), pool, task.normalization);
  const std::int64_t steps = kLags * largest_lag(model) + kMore;
  SequenceBatch batch = of_length(sequence_batch(data, task.shape, experiment.loss), task.shape, steps);
  batch.training = op.has_statistics();  // otherwise they would have no gradients

  const LossOfParameters loss(model, op, batch, pool);
  ModelGradients result;
  result.sequences = data.size();
  result.steps = steps;
  result.elements = options.elements;
  result.without_rounding = given.train.precision.products() != ProductFormat::scalar;
  result.projections = options.projections;
  const ParameterList parameters = trained(model.parameters());
  std::vector<Tensor> own;
  for (const Parameter* parameter : parameters) own.push_back(parameter->value.clone());
  const auto compare = [&](int moves, double step) {
    const GradientReport found = check_gradients(loss, moves > 0 ? moved(own, parameters, moves) : own,
                                                 {.step = step,
                                                  .projections = static_cast<int>(options.projections),
                                                  .elements = static_cast<int>(options.elements)});
    if (result.report.compared > 0 && found.max_rel_error >= result.report.max_rel_error) return;
    result.report = found;
    result.moves = moves;
  };
  // A difference across a kink (relu at 0, a trained delay at a whole number) says nothing about a gradient.
  // A wrong gradient is wrong with every step size, and at moved parameters too.
  for (int moves = 0; moves <= kMoves; ++moves)
    for (const double step : {kStep, kShortStep})
      if (result.report.compared == 0 || result.report.max_rel_error > options.tolerance)
        compare(moves, step);
  result.report.worst = with_names(result.report.worst, parameters);
  return result;
}

Json json_of(const ModelGradients& gradients) {
  Json json = {{"max_rel_error", gradients.report.max_rel_error},
               {"worst", gradients.report.worst},
               {"sequences", gradients.sequences},
               {"steps", gradients.steps},
               {"elements", gradients.elements},
               {"projections", gradients.projections},
               {"compared", gradients.report.compared},
               {"moved", gradients.moves > 0}};
  if (gradients.without_rounding) json["without_rounding"] = true;
  return json;
}

}  // namespace lagtape
