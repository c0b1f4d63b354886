#include "lagtape/tests/theory/support/dynamics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape::test {
namespace {

/// The window whose present values are those of a state.
std::vector<Tensor> window_of(const StepProgram& program, const Vector& start) {
  std::vector<Tensor> window = zero_window({program}, 1, Dtype::f64).states;
  std::size_t from = 0;
  for (Tensor& state : window) {
    const std::int64_t width = state.size(2), present = state.numel() - width;
    for (std::int64_t i = 0; i < width; ++i) state.set(present + i, start[from++]);
  }
  return window;
}

SequenceBatch batch_of(const Matrix& x, std::int64_t width) {
  SequenceBatch batch;
  const auto steps = static_cast<std::int64_t>(x.size());
  batch.x = Tensor({1, steps, width}, Dtype::f64);
  for (std::int64_t n = 0; n < steps; ++n)
    for (std::int64_t i = 0; i < width; ++i) batch.x.set(n * width + i, x[n][i]);
  return batch;
}

SequenceOp op_for(StepProgram program, int output, ReadAt at) {
  program.output = output;
  StackDefinition stack;
  stack.layers = {std::move(program)};
  stack.at = at;
  return {std::move(stack), Dtype::f64};
}

}  // namespace

Dynamics::Dynamics(Layer layer, double scale, std::uint64_t seed) : layer_(std::move(layer)) {
  for (StateDefinition& state : layer_.program.states) state.arithmetic = Arithmetic::real;
  RandomStream random(seed, stream_name({0x7468656f}));
  for (const WeightDefinition& w : layer_.program.weights) {
    Tensor value(w.shape, Dtype::f64);
    for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, scale * (2 * random.next_uniform() - 1));
    weights_.push_back(std::move(value));
  }
}

Tensor& Dynamics::weight(const std::string& name) {
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (layer_.program.weights[i].name == name) return weights_[i];
  throw Error("no weight is named " + name);
}

double Dynamics::row_sum_norm(const std::string& name) {
  const Tensor& w = weight(name);
  double norm = 0;
  for (std::int64_t i = 0; i < w.size(0); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < w.size(1); ++j) sum += std::abs(w.at(i * w.size(1) + j));
    norm = std::max(norm, sum);
  }
  return norm;
}

void Dynamics::fill(const std::string& name, double value) {
  Tensor& w = weight(name);
  for (std::int64_t i = 0; i < w.numel(); ++i) w.set(i, value);
}

std::size_t Dynamics::size() const {
  const auto& states = layer_.program.states;
  return std::accumulate(
      states.begin(), states.end(), std::size_t{0},
      [](std::size_t sum, const auto& state) { return sum + static_cast<std::size_t>(state.shape.width()); });
}

Matrix Dynamics::values(int value, const Vector& start, const Matrix& x) const {
  const StepProgram& program = layer_.program;
  SequenceOp op = op_for(program, value, ReadAt::every_step);
  const Window window{window_of(program, start)};
  ThreadPool pool(1);
  const Tensor y = op.evaluate(weights_, batch_of(x, input()), pool, &window);
  Matrix rows(x.size(), Vector(y.size(2)));
  for (std::size_t n = 0; n < rows.size(); ++n)
    for (std::size_t i = 0; i < rows[n].size(); ++i) rows[n][i] = y.at(n * rows[n].size() + i);
  return rows;
}

Matrix Dynamics::run(const Vector& start, const Matrix& x) const {
  Matrix states(x.size());
  for (const StateDefinition& state : layer_.program.states) {
    const Matrix of_state = values(state.next, start, x);
    for (std::size_t n = 0; n < x.size(); ++n)
      states[n].insert(states[n].end(), of_state[n].begin(), of_state[n].end());
  }
  return states;
}

Matrix Dynamics::named(const std::string& name, const Vector& start, const Matrix& x) const {
  for (const NamedValue& value : layer_.program.named)
    if (value.name == name) return values(value.value, start, x);
  throw Error("no value is named " + name);
}

Matrix Dynamics::jacobian(const Vector& start, const Matrix& x) const {
  const StepProgram& program = layer_.program;
  Matrix rows;
  ThreadPool pool(1);
  for (const StateDefinition& state : program.states) {
    SequenceOp op = op_for(program, state.next, ReadAt::last_step);
    for (std::int64_t i = 0; i < state.shape.width(); ++i) {
      Tape tape;
      std::vector<Var> weights, window;
      for (const Tensor& w : weights_) weights.push_back(tape.constant(w));
      for (const Tensor& s : window_of(program, start)) window.push_back(tape.variable(s));
      const SequenceBatch batch = batch_of(x, input());
      const Var y = op.outputs(tape, weights, tape.constant(batch.x), batch, pool, window);
      Tensor seed(y.shape(), y.dtype());
      seed.set(i, 1);
      tape.backward(y, seed);
      Vector row;
      for (const Var& s : window) {
        const Tensor gradient = s.grad();
        const std::int64_t width = gradient.size(2), present = gradient.numel() - width;
        for (std::int64_t j = 0; j < width; ++j) row.push_back(gradient.at(present + j));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Matrix random_inputs(std::int64_t steps, std::int64_t width, double scale, std::uint64_t seed) {
  Matrix x;
  for (std::int64_t n = 0; n < steps; ++n)
    x.push_back(random_state(static_cast<std::size_t>(width), scale,
                             seed * 1'000'003 + static_cast<std::uint64_t>(n)));
  return x;
}

Vector random_state(std::size_t size, double scale, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x73746174}));
  Vector v(size);
  for (double& value : v) value = scale * (2 * random.next_uniform() - 1);
  return v;
}

double largest(const Vector& v) {
  double value = 0;
  for (const double x : v) value = std::max(value, std::abs(x));
  return value;
}

double row_sum_norm(const Matrix& m) {
  double norm = 0;
  for (const Vector& row : m) {
    norm = std::max(norm, std::accumulate(row.begin(), row.end(), 0.0,
                                          [](double sum, double x) { return sum + std::abs(x); }));
  }
  return norm;
}

}  // namespace lagtape::test
