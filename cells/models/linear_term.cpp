#include "lagtape/cells/models/linear_term.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"

namespace lagtape {

namespace {

/// Appends instructions to an already recorded step.
class StepExtension {
 public:
  explicit StepExtension(StepProgram& program) : program_(program) {}

  int add(const Instruction& instruction) {
    program_.values.push_back(instruction);
    return static_cast<int>(program_.values.size()) - 1;
  }
  int slice(int of, std::int64_t first, std::int64_t size) {
    return add(
        {.op = StepOp::slice, .shape = RowShape::vector(size), .a = of, .index = static_cast<int>(first)});
  }
  /// In pairs, so each number is copied only as often as a tree of the pairs is high.
  int concatenate(std::vector<int> parts) {
    for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
      for (std::size_t i = 0; i < parts.size(); i += 2) {
        const int a = parts[i], b = i + 1 < parts.size() ? parts[i + 1] : -1;
        parts[i / 2] = b < 0 ? a
                             : add({.op = StepOp::concatenate,
                                    .shape = RowShape::vector(size(a) + size(b)),
                                    .a = a,
                                    .b = b});
      }
    return parts.front();
  }
  int input() {
    const auto found = std::ranges::find(program_.values, StepOp::input, &Instruction::op);
    if (found != program_.values.end()) return static_cast<int>(found - program_.values.begin());
    return add({.op = StepOp::input, .shape = program_.input});
  }
  /// A weight with that name times a vector of that width.
  int product(const char* name, std::int64_t size, int of, std::int64_t width) {
    return add({.op = StepOp::product,
                .shape = RowShape::vector(size),
                .a = of,
                .index = weight(name, {size, width})});
  }
  int weight(const std::string& name, const Shape& shape) {
    program_.weights.push_back({name, shape});
    return static_cast<int>(program_.weights.size()) - 1;
  }

 private:
  std::int64_t size(int value) const { return program_.values[static_cast<std::size_t>(value)].shape.size; }

  StepProgram& program_;
};

/// Whether the past is every step back from the last one, which makes the term a filter.
bool is_filter(const LinearTerm& term) {
  return !term.inputs.empty() && term.lags.size() > 3 && term.reach() == std::ssize(term.lags);
}

/// The matrices by which a step multiplies x: that of x[n] and, for a filter, those of what x[n] contributes to
/// later outputs and to the last of them; otherwise that of all features. They are parts of A [targets,
/// features].
std::vector<Tensor> step_matrices(const LinearTerm& term, const Tensor& A, std::int64_t width) {
  if (!is_filter(term)) return {A};
  const std::int64_t targets = A.size(0), lags = term.reach(), past = std::ssize(term.inputs);
  Tensor present({targets, width}, A.dtype()), later({(lags - 1) * targets, width}, A.dtype()),
      last({targets, width}, A.dtype());
  for (std::int64_t t = 0; t < targets; ++t) {
    const std::int64_t row = t * A.size(1);
    for (std::int64_t i = 0; i < width; ++i) present.set(t * width + i, A.at(row + i));
    for (std::int64_t lag = 1; lag <= lags; ++lag)
      for (std::int64_t k = 0; k < past; ++k) {
        Tensor& matrix = lag < lags ? later : last;
        const std::int64_t at = lag < lags ? (lag - 1) * targets + t : t;
        matrix.set(at * width + term.inputs[static_cast<std::size_t>(k)],
                   A.at(row + width + (lag - 1) * past + k));
      }
  }
  return {present, later, last};
}

/// Adds the part of a filter that comes from the past. Its state holds that part of the outputs of this step
/// and all later ones, and each step adds the products of x[n] to it. Nothing is concatenated, and the products
/// leave the time loop, which takes a fifth of the time of reading x at each lag.
int add_past(const LinearTerm& term, std::int64_t targets, int x, std::int64_t width, StepProgram& program,
             StepExtension& step) {
  const std::int64_t later = (term.reach() - 1) * targets;
  const int state = static_cast<int>(program.states.size());
  const RowShape shape = RowShape::vector(later + targets);
  program.states.push_back({.name = "linear_past", .shape = shape});
  const int past = step.add({.op = StepOp::state, .shape = shape, .index = state});
  const int rest = step.add({.op = StepOp::element,
                             .element = ElementOp::add,
                             .shape = RowShape::vector(later),
                             .a = step.slice(past, targets, later),
                             .b = step.product("linear_later", later, x, width)});
  program.states.back().next = step.concatenate({rest, step.product("linear_last", targets, x, width)});
  return step.slice(past, 0, targets);
}

/// The numbers that the term reads, concatenated.
int join_features(const LinearTerm& term, int x, StepProgram& program, StepExtension& step) {
  std::vector<int> read = {x};
  if (!term.inputs.empty() && !term.lags.empty()) {
    std::vector<int> kept;
    for (const std::int64_t input : term.inputs) kept.push_back(step.slice(x, input, 1));
    const RowShape shape = RowShape::vector(std::ssize(term.inputs));
    const int state = static_cast<int>(program.states.size());
    program.states.push_back({.name = "linear_past", .shape = shape, .next = step.concatenate(kept)});
    for (const std::int64_t lag : term.lags)
      read.push_back(step.add(
          {.op = lag == 1 ? StepOp::state : StepOp::lag, .shape = shape, .index = state, .lag = lag - 1}));
  }
  return step.concatenate(read);
}

/// The step with the term appended to its output.
void compute_beside(const LinearTerm& term, std::int64_t targets, StepProgram& program) {
  StepExtension step(program);
  const int x = step.input();
  const std::int64_t width = program.input.size;
  const RowShape shape = RowShape::vector(targets);
  const auto add = [&](int a, int b) {
    return step.add({.op = StepOp::element, .element = ElementOp::add, .shape = shape, .a = a, .b = b});
  };
  int sum = is_filter(term) ? step.product(kLinearWeights, targets, x, width)
                            : step.product(kLinearWeights, targets, join_features(term, x, program, step),
                                           term.features(width));
  if (is_filter(term)) sum = add(sum, add_past(term, targets, x, width, program, step));
  sum =
      add(sum,
          step.add({.op = StepOp::weight, .shape = shape, .index = step.weight(kLinearConstant, {targets})}));
  program.output = step.concatenate({program.output, sum});
  find_reads(program);
}

/// The step that passes on the last numbers of a wider input after its output.
void hand_on(std::int64_t targets, StepProgram& program) {
  const std::int64_t width = program.input.size;
  program.input = RowShape::vector(width + targets);
  const auto moved = [](int& value) { value += value >= 0 ? 1 : 0; };
  for (Instruction& v : program.values) {
    moved(v.a);
    moved(v.b);
    if (v.op == StepOp::input) v = {.op = StepOp::slice, .shape = v.shape, .a = 0, .index = 0};
  }
  for (StateDefinition& state : program.states) moved(state.next);
  for (NamedValue& named : program.named) moved(named.value);
  moved(program.output);
  program.values.insert(program.values.begin(), {.op = StepOp::input, .shape = program.input});
  StepExtension step(program);
  program.output = step.concatenate({program.output, step.slice(0, width, targets)});
  find_reads(program);
}

/// The read-out of a top layer that has the term after its own `width` numbers: its matrix is [W | E], where E
/// adds a target's term to each of its quantiles, or to its first output, the mean of a distribution.
void read_out(std::int64_t width, std::int64_t targets, const ModelDefinition& definition, Layer& readout) {
  const std::int64_t outputs = readout.output().size, each = outputs / targets;
  const bool are_quantiles = definition.loss == Loss::quantile;
  const Linear::Init& init = definition.readout.init;
  if (init.name == "kaiming_normal" && init.values.entries.empty())
    for (ParameterDefinition& parameter : readout.parameters)
      parameter.initializer = Initializer::constant(0);
  const Layer before = readout;
  StepProgram& program = readout.program;
  program.input = RowShape::vector(width + targets);
  for (Instruction& v : program.values)
    if (v.op == StepOp::input) v.shape = program.input;
  const auto matrix = std::ranges::find(program.weights, "W", &WeightDefinition::name);
  matrix->shape = {outputs, width + targets};
  const auto place = static_cast<std::size_t>(matrix - program.weights.begin());
  readout.weights = [=](std::span<const Var> values) {
    std::vector<Var> weights = before.step_weights(values);
    Var& W = weights[place];
    Tensor own({width, width + targets}, W.dtype()), added({outputs, width + targets}, W.dtype());
    for (std::int64_t i = 0; i < width; ++i) own.set(i * (width + targets) + i, 1);
    for (std::int64_t i = 0; i < outputs; ++i)
      if (are_quantiles || i % each == 0) added.set(i * (width + targets) + width + i / each, 1);
    Tape& tape = W.tape();
    W = matmul(W, tape.constant(own)) + tape.constant(added);
    return weights;
  };
}

}  // namespace

void add_linear_term(const LinearTerm& term, FittedModel& model) {
  const std::int64_t targets = model.target_width();
  Layer& first = model.layers.front();
  for (const Layer& layer : model.layers)
    if (layer.whole)
      throw InputError(
          {.pointer = "/model/linear"}, Rule::not_supported,
          "a linear term goes with layers of single steps, and not with embedding, batch_norm or "
          "bidirectional.");
  const LossFunction& loss = model.definition.loss;
  if (!loss.is_real() || loss == Loss::negative_binomial)
    throw InputError(
        {.pointer = "/model/linear"}, Rule::not_supported,
        text_of("a linear term goes with a loss whose predictions are real numbers, and not with ",
                name_of(loss), "."));
  const std::int64_t width = first.program.input.size;
  const bool rises = std::ranges::adjacent_find(term.lags, std::ranges::greater_equal()) == term.lags.end();
  if (!rises || (!term.lags.empty() && term.lags.front() < 1) ||
      std::ranges::any_of(term.inputs, [&](std::int64_t i) { return i < 0 || i >= width; }))
    throw InputError({.pointer = "/model/linear"}, Rule::out_of_range,
                     text_of("expected numbers of inputs below ", width, " and rising lags from 1."));
  const std::int64_t top = model.layers.back().output().size;
  const Layer own = first;
  compute_beside(term, targets, first.program);
  first.parameters.push_back({.name = kLinearWeights,
                              .shape = {targets, term.features(width)},
                              .initializer = Initializer::constant(0),
                              .trainable = false});
  first.parameters.push_back({.name = kLinearConstant,
                              .shape = {targets},
                              .initializer = Initializer::constant(0),
                              .trainable = false});
  first.weights = [own, term, width](std::span<const Var> values) {
    std::vector<Var> weights = own.step_weights(values.first(own.parameters.size()));
    const Var A = values[values.size() - 2];
    for (const Tensor& matrix : step_matrices(term, A.value(), width))
      weights.push_back(A.tape().constant(matrix));
    weights.push_back(values.back());
    return weights;
  };
  for (Layer& layer : std::span(model.layers).subspan(1)) hand_on(targets, layer.program);
  read_out(top, targets, model.definition, model.readout);
}

}  // namespace lagtape
