#include "lagtape/tests/ops/recurrence/support/random_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lagtape/core/error.h"

namespace lagtape::test {
namespace {

std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.next_below(high - low + 1));
}

bool happens(RandomStream& random, double probability) { return random.next_uniform() < probability; }

/// A value of tau between whole numbers, or now and then beyond the ends.
double random_lag(RandomStream& random, std::int64_t longest) {
  if (happens(random, 0.15)) return 0.2 + 0.6 * random.next_uniform();
  if (happens(random, 0.15) || longest == 1) return longest + 0.2 + 2 * random.next_uniform();
  return between(random, 1, longest - 1) + 0.2 + 0.6 * random.next_uniform();
}

/// The longest lag of a weight that is a lag; 0 for other weights.
std::int64_t longest_lag(const StepProgram& program, int weight) {
  for (const Instruction& v : program.values) {
    const bool is_it = v.op == StepOp::real_lag && program.values[v.a].index == weight;
    if (is_it) return v.lag;
  }
  return 0;
}

void add_targets(RandomStream& random, SequenceCase& c) {
  const std::int64_t width = c.stack.output_width();
  const bool every_step = reads_every_step(c.stack.at);
  const std::int64_t scored = c.rows() * (every_step ? c.steps() : 1);
  Shape shape = every_step ? Shape{c.rows(), c.steps(), width} : Shape{c.rows(), width};
  if (c.stack.loss == Loss::mse) c.batch.targets = random_tensor(random, shape, 1);
  if (c.stack.loss == Loss::binary_cross_entropy) {
    c.batch.targets = Tensor(shape, Dtype::f64);
    for (std::int64_t i = 0; i < scored; ++i)
      c.batch.targets.set(i, static_cast<double>(between(random, 0, 1)));
  }
  if (c.stack.loss == Loss::cross_entropy) {
    for (std::int64_t i = 0; i < scored; ++i)
      c.batch.classes.push_back(static_cast<std::int32_t>(between(random, 0, width - 1)));
  }
}

}  // namespace

Tensor random_tensor(RandomStream& random, Shape shape, double scale) {
  Tensor tensor(std::move(shape), Dtype::f64);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, scale * random.next_normal());
  return tensor;
}

std::vector<Tensor> random_weights(RandomStream& random, const StepProgram& program) {
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < program.weights.size(); ++i) {
    const WeightDefinition& definition = program.weights[i];
    const std::int64_t longest = longest_lag(program, static_cast<int>(i));
    const bool is_matrix = definition.shape.size() == 2;
    Tensor weight =
        random_tensor(random, definition.shape, is_matrix ? 0.8 / std::sqrt(definition.shape[1]) : 0.5);
    for (std::int64_t e = 0; e < weight.numel(); ++e) {
      if (longest > 0) weight.set(e, random_lag(random, longest));
      if (definition.name.starts_with("s"))
        weight.set(e, (happens(random, 0.5) ? 1 : -1) * (0.5 + random.next_uniform()));
    }
    weights.push_back(weight);
  }
  return weights;
}

SequenceCase filled(StackDefinition stack, std::int64_t rows, std::int64_t steps, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x66696c6c}));
  SequenceCase c;
  c.stack = std::move(stack);
  const auto add_weights = [&](const StepProgram& program) {
    const std::vector<Tensor> weights = random_weights(random, program);
    c.weights.insert(c.weights.end(), weights.begin(), weights.end());
  };
  for (const StepProgram& program : c.stack.layers) add_weights(program);
  if (c.stack.readout) add_weights(*c.stack.readout);
  c.batch.x = random_tensor(random, {rows, steps, c.stack.input_width()}, 1);
  c.batch.training = true;
  c.batch.draws.seed = seed;
  add_targets(random, c);
  return c;
}

void add_initial(SequenceCase& c, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x696e6974}));
  c.initial.clear();
  for (const Tensor& zeros : zero_window(c.stack.layers, c.rows(), Dtype::f64).states)
    c.initial.push_back(random_tensor(random, zeros.shape(), 0.5));
}

void add_lengths(SequenceCase& c, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x6c656e67}));
  const std::int64_t width = c.batch.x.size(2);
  for (std::int64_t row = 0; row < c.rows(); ++row) {
    c.batch.lengths.push_back(between(random, 1, c.steps()));
    if (c.stack.at == ReadAt::last_padded_step) continue;
    const std::int64_t begin = row * c.steps() + c.batch.lengths.back(), end = (row + 1) * c.steps();
    for (std::int64_t i = begin * width; i < end * width; ++i) c.batch.x.set(i, 1000);
  }
}

SequenceCase random_case(std::uint64_t seed, const CaseLimits& limits) {
  RandomStream random(seed, stream_name({0x63617365}));
  const auto small = [&](std::int64_t most) { return between(random, 1, between(random, 1, most)); };
  const std::int64_t steps = small(limits.steps), rows = small(limits.rows),
                     input_width = small(limits.width);

  StackDefinition stack;
  std::int64_t width = input_width;
  const std::int64_t layers = happens(random, 0.6) ? 1 : between(random, 1, limits.layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    stack.layers.push_back(limits.reversible ? random_coupled_step(random, width, limits)
                                             : random_step(random, width, steps, limits));
    width = stack.output_width();
  }
  constexpr ReadAt kReads[] = {ReadAt::every_step, ReadAt::every_step, ReadAt::last_step,
                               ReadAt::last_padded_step, ReadAt::mean};
  stack.at = kReads[between(random, 0, 4)];
  const auto wanted = std::array{Loss::none, Loss::mse, Loss::cross_entropy,
                                 Loss::binary_cross_entropy}[static_cast<std::size_t>(between(random, 0, 3))];
  const std::int64_t outputs = wanted == Loss::binary_cross_entropy ? 1 : between(random, 2, 5);
  if (happens(random, 0.6)) stack.readout = random_readout(random, width, outputs);
  width = stack.output_width();
  const bool fits =
      wanted == Loss::binary_cross_entropy ? width == 1 : wanted != Loss::cross_entropy || width > 1;
  stack.loss = fits ? wanted : Loss::mse;

  SequenceCase c = filled(std::move(stack), rows, steps, seed);
  c.batch.training = happens(random, 0.7);
  c.batch.draws.epoch = static_cast<std::uint64_t>(between(random, 0, 3));
  if (happens(random, 0.5)) {
    for (std::int64_t row = 0; row < rows; ++row) c.batch.draws.sequences.push_back(between(random, 0, 1000));
  }
  if (happens(random, 0.4)) c.batch.first_step = between(random, 1, 100);
  if (happens(random, 0.5)) add_lengths(c, seed);
  if (happens(random, 0.6)) add_initial(c, seed);
  return c;
}

void for_each_seed(const std::string& name, std::uint64_t count,
                   const std::function<std::string(std::uint64_t)>& check) {
  const std::uint64_t only = doctest::getContextOptions()->rand_seed;
  const bool quick = std::getenv("LAGTAPE_FEW_SEEDS") != nullptr;
  const std::uint64_t first = only > 0 ? only : 1, last = only > 0 ? only : quick ? (count + 9) / 10 : count;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::string text;
    try {
      text = check(seed);
    } catch (const Error& error) {
      text = text_of("threw ", error.what());
    }
    if (text.empty()) continue;
    FAIL(text << "run it again: lagtape_test_recurrence -tc=\"" << name << "\" -rs=" << seed);
  }
}

}  // namespace lagtape::test
