#include "lagtape/tools/analysis/sequence_analysis.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/embedding.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"
#include "lagtape/tools/analysis/matrix_norm.h"
#include "lagtape/tools/train/segments.h"

namespace lagtape {

namespace {

double norm_of_row(const Tensor& rows, std::int64_t row) {
  const std::int64_t width = rows.numel() / rows.size(0);
  return two_norm(
      rows.values<double>().subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width)));
}

/// The derivatives with respect to the states side by side, [rows, width].
Matrix side_by_side(std::span<const Tensor> of_states) {
  Matrix joint{of_states[0].size(0), 0, {}};
  for (const Tensor& state : of_states) joint.columns += state.size(1);
  for (std::int64_t row = 0; row < joint.rows; ++row) {
    for (const Tensor& state : of_states) {
      const double* values = state.values<double>().data() + row * state.size(1);
      joint.values.insert(joint.values.end(), values, values + state.size(1));
    }
  }
  return joint;
}

/// Unit vectors, or random vectors of +1 and -1, one in each row, split into the states.
std::vector<Tensor> jacobian_seeds(const StepProgram& program, std::int64_t rows, bool exact,
                                   const RandomStream& random) {
  std::vector<Tensor> seeds;
  const std::int64_t all = state_width(program);
  std::int64_t first = 0;
  for (const StateDefinition& state : program.states) {
    const std::int64_t width = state.shape.width();
    seeds.emplace_back(Shape{rows, width}, Dtype::f64);
    for (std::int64_t i = 0; i < rows * width; ++i) {
      const std::int64_t row = i / width, column = first + i % width;
      const bool positive = random.bits_at(static_cast<std::uint64_t>(row * all + column)) & 1;
      seeds.back().set(i, exact ? (row == column ? 1 : 0) : (positive ? 1 : -1));
    }
    first += width;
  }
  return seeds;
}

/// Stacks two tensors [1, ...] of one shape to [2, ...].
Tensor one_after_another(const Tensor& first, const Tensor& second) {
  Shape shape = first.shape();
  shape[0] = 2;
  Tensor both(shape, Dtype::f64);
  const std::int64_t count = first.numel();
  std::copy_n(first.values<double>().data(), count, both.values<double>().data());
  std::copy_n(second.values<double>().data(), count, both.values<double>().data() + count);
  return both;
}

std::vector<std::vector<double>> curves(std::size_t count, std::int64_t lags) {
  return std::vector<std::vector<double>>(count, std::vector<double>(static_cast<std::size_t>(lags)));
}

}  // namespace

std::int64_t state_width(const StepProgram& program) {
  std::int64_t width = 0;
  for (const StateDefinition& state : program.states) width += state.shape.width();
  return width;
}

const StackDefinition& evaluated_stack(const Model& model) {
  const ChainDefinition& chain = model.evaluation_chain();
  if (const std::string obstacle = chain.obstacle(); !obstacle.empty())
    throw InputError({.op = "analyze"}, Rule::not_supported, obstacle);
  return chain.parts.back().stack;
}

SequenceAnalyzer::SequenceAnalyzer(const Model& model, std::vector<std::vector<NamedValue>> values,
                                   const AnalysisOptions& options)
    : stack_(evaluated_stack(model)),
      weights_(model.weights()),
      values_(std::move(values)),
      options_(options) {
  if (model.tokens() > 0) {
    table_ = weights_.front();
    weights_.erase(weights_.begin());
  }
  for (StepProgram& layer : stack_.layers)
    for (StateDefinition& state : layer.states) state.arithmetic = Arithmetic::real;
  ChainDefinition chain = model.evaluation_chain();
  chain.states = Arithmetic::real;
  start_ = start_window(chain, 1, Dtype::f64);
}

std::vector<Tensor> SequenceAnalyzer::weights(std::size_t layer) const {
  std::size_t first = 0;
  for (std::size_t l = 0; l < layer; ++l) first += stack_.layers[l].weights.size();
  const auto weights = weights_.begin() + static_cast<std::ptrdiff_t>(first);
  return {weights, weights + std::ssize(stack_.layers[layer].weights)};
}

bool SequenceAnalyzer::is_exact(std::size_t layer) const {
  return options_.bounds || state_width(stack_.layers[layer]) <= options_.projections;
}

std::int64_t SequenceAnalyzer::rows(std::size_t layer) const {
  const std::int64_t width = state_width(stack_.layers[layer]);
  return is_exact(layer) ? width : options_.projections;
}

SequenceBatch SequenceAnalyzer::embedded(const SequenceBatch& sequence, ThreadPool& pool) const {
  SequenceBatch result = sequence;
  if (table_) result.x = look_up(*table_, token_rows(sequence.x, sequence.lengths, table_->size(0)), pool);
  return result;
}

SequencePart SequenceAnalyzer::last_steps(const SequenceBatch& tokens, ThreadPool& pool) const {
  const SequenceBatch sequence = embedded(tokens, pool);
  SequencePart part;
  part.length = sequence.x.size(1);
  const std::int64_t steps = std::min(options_.steps, part.length), before = part.length - steps;
  const bool every_step = stack_.at == ReadAt::every_step;
  part.windows = start_.states.empty() ? zero_window(stack_.layers, 1, Dtype::f64).states : start_.states;
  part.batch = sequence;
  if (before == 0) return part;

  SequenceBatch inputs = sequence;  // a target of the whole sequence cannot be cut in time
  if (!every_step) {
    inputs.targets = {};
    inputs.classes = {};
  }
  Window window;
  const auto weights = std::span(weights_).first(weights_.size() - stack_.readout->weights.size());
  SequenceOp op({stack_.layers, std::nullopt, ReadAt::mean, Loss::none}, Dtype::f64);
  part.sum_before = op.evaluate(weights, segment_of(inputs, 0, before).batch, pool,
                                start_.states.empty() ? nullptr : &start_, &window);
  for (double& sum : part.sum_before.values<double>()) sum *= static_cast<double>(before);
  part.windows = std::move(window.states);
  part.batch = segment_of(inputs, before, steps).batch;
  if (!every_step) {
    part.batch.targets = sequence.targets;
    part.batch.classes = sequence.classes;
  }
  return part;
}

SequenceFindings SequenceAnalyzer::look_into(const SequencePart& part) const {
  SequenceFindings found;
  found.layers.resize(stack_.layers.size());
  std::vector<LayerOverTime> layers;
  Tensor x = part.batch.x.reshaped({part.batch.x.size(1), part.batch.x.size(2)});
  for (std::size_t l = 0; l < stack_.layers.size(); ++l) {
    layers.push_back(layer_over_time(l, x, part));
    x = run_layer(l, layers[l], found.layers[l]);
  }
  LayerOverTime::Seeds seeds;
  seeds.outputs = loss_derivative(x, part, false);
  if (stack_.at == ReadAt::every_step)
    seeds.outputs = one_after_another(seeds.outputs, loss_derivative(x, part, true));
  seeds.rows = seeds.outputs.size(0);
  for (std::size_t l = stack_.layers.size(); l-- > 0;) {
    const std::int64_t steps = layers[l].steps();
    SequenceFindings::Layer& layer = found.layers[l];
    layer.gradient = curves(stack_.layers[l].states.size(), steps);
    layer.last_step_gradient = curves(stack_.layers[l].states.size(), seeds.rows == 2 ? steps : 0);
    const auto see = [&](std::int64_t step, std::span<const Tensor> of_states) {
      for (std::size_t s = 0; s < of_states.size(); ++s) {
        layer.gradient[s][steps - 1 - step] = norm_of_row(of_states[s], 0);
        if (seeds.rows == 2) layer.last_step_gradient[s][steps - 1 - step] = norm_of_row(of_states[s], 1);
      }
    };
    seeds.outputs = layers[l].backward(seeds, see, l > 0);
    if (!stack_.layers[l].states.empty()) follow_jacobian(l, layers[l], part.batch.draws.sequences[0], layer);
  }
  return found;
}

LayerOverTime SequenceAnalyzer::layer_over_time(std::size_t layer, const Tensor& x,
                                                const SequencePart& part) const {
  std::size_t window = 0;
  for (std::size_t l = 0; l < layer; ++l) window += stack_.layers[l].states.size();
  const StepProgram& program = stack_.layers[layer];
  const auto windows = part.windows.begin() + static_cast<std::ptrdiff_t>(window);
  return {program,
          weights(layer),
          x,
          {windows, windows + std::ssize(program.states)},
          part.batch.first_step,
          std::max<std::int64_t>(rows(layer), 2)};
}

/// Runs one layer forward and collects its norms and values.
Tensor SequenceAnalyzer::run_layer(std::size_t l, LayerOverTime& layer,
                                   SequenceFindings::Layer& found) const {
  found.norm = curves(stack_.layers[l].states.size(), layer.steps());
  found.largest = found.norm;
  found.values.resize(values_[l].size());
  return layer.forward([&](std::int64_t step, const UnrollTrace::Step& seen) {
    const auto lag = static_cast<std::size_t>(layer.steps() - 1 - step);
    for (std::size_t s = 0; s < seen.states.size(); ++s) {
      const auto state = seen.states[s].value().values<double>();
      found.norm[s][lag] = two_norm(state);
      for (const double value : state)
        found.largest[s][lag] = std::max(found.largest[s][lag], std::abs(value));
    }
    for (std::size_t v = 0; v < values_[l].size(); ++v) {
      const int id = values_[l][v].value;
      if (step > 0 && stack_.layers[l].is_fixed(id)) continue;
      const auto numbers = seen.values[static_cast<std::size_t>(id)].value().values<double>();
      found.values[v].insert(found.values[v].end(), numbers.begin(), numbers.end());
    }
  });
}

/// The derivative [1, S, width] of the loss of the sequence, or of its last step alone, with respect to the
/// top layer's outputs [S, width].
Tensor SequenceAnalyzer::loss_derivative(const Tensor& top, const SequencePart& part,
                                         bool last_step_alone) const {
  const std::int64_t steps = top.size(0), width = top.size(1);
  const bool every_step = stack_.at == ReadAt::every_step;
  Tape tape;
  const Var outputs = tape.variable(top.reshaped({1, steps, width}));
  SequenceBatch batch = part.batch;
  Var read = outputs;
  double share = 1;
  if (stack_.at == ReadAt::mean) {
    read = sum(outputs, 1, true);
    if (!part.sum_before.empty()) read = read + tape.constant(part.sum_before.reshaped({1, 1, width}));
    read = read / static_cast<double>(part.length);
  } else if (!every_step) {
    read = slice(outputs, 1, steps - 1, steps);
  } else if (last_step_alone) {
    read = slice(outputs, 1, steps - 1, steps);
    batch = segment_of(batch, steps - 1, 1).batch;
  } else {
    share = static_cast<double>(steps) / static_cast<double>(part.length);
  }
  batch.lengths.clear();
  if (!every_step) batch.first_step = 0;
  const StackDefinition readout{{*stack_.readout}, std::nullopt, ReadAt::every_step, stack_.loss};
  std::vector<Var> weights;
  for (const Tensor& weight : std::span(weights_).last(stack_.readout->weights.size()))
    weights.push_back(tape.constant(weight));
  tape.backward(share * unroll_loss(tape, readout, weights, read, batch));
  return outputs.grad();
}

void SequenceAnalyzer::follow_jacobian(std::size_t l, LayerOverTime& layer, std::int64_t sequence,
                                       SequenceFindings::Layer& found) const {
  constexpr std::uint64_t kUse = 0x616e616c7a;
  const RandomStream random(options_.seed, stream_name({kUse, l, static_cast<std::uint64_t>(sequence)}));
  const bool exact = is_exact(l);
  const std::int64_t steps = layer.steps();
  LayerOverTime::Seeds seeds;
  seeds.rows = rows(l);
  seeds.states = jacobian_seeds(stack_.layers[l], seeds.rows, exact, random);
  found.frobenius.resize(static_cast<std::size_t>(steps));
  if (exact) {
    found.spectral.resize(static_cast<std::size_t>(steps));
    found.row_sum.resize(static_cast<std::size_t>(steps));
  }
  const auto see = [&](std::int64_t step, std::span<const Tensor> of_states) {
    const std::size_t lag = static_cast<std::size_t>(steps - 1 - step);
    const Matrix joint = side_by_side(of_states);
    const double all = two_norm(joint.values);
    found.frobenius[lag] = exact ? all : all / std::sqrt(static_cast<double>(seeds.rows));
    if (!exact) return;
    found.spectral[lag] = spectral_norm(joint);
    found.row_sum[lag] = row_sum_norm(joint);
  };
  layer.backward(seeds, see, false);
}

}  // namespace lagtape
