#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Random stacks: the sequence op against the unrolled tape, central differences, and itself.

namespace lagtape {
namespace {

using namespace test;

/// A plan, a chunk and a level that follow from the seed.
SequenceSettings some_settings(std::uint64_t seed) {
  constexpr MemoryPlan kPlans[] = {MemoryPlan::automatic, MemoryPlan::full, MemoryPlan::states,
                                   MemoryPlan::checkpoint};
  constexpr std::int64_t kChunks[] = {0, recurrence::kRun, 2 * recurrence::kRun, 5 * recurrence::kRun};
  const std::vector<SimdLevel> levels = supported_levels();
  SequenceSettings settings;
  settings.plan = kPlans[seed % 4];
  settings.chunk = kChunks[seed / 4 % 4];
  settings.level = levels[seed / 16 % levels.size()];
  return settings;
}

TEST_CASE("random stacks agree with the unrolled tape") {
  for_each_seed("random stacks agree with the unrolled tape", 1500, [](std::uint64_t seed) {
    const SequenceCase c = random_case(seed);
    return differences(run_op(c, some_settings(seed), 1 + static_cast<int>(seed % 3)), run_unrolled(c),
                       1e-12);
  });
}

/// Removes about a third of the targets, and in one case of ten all of them.
void take_targets_away(SequenceCase& c, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x6d697373}));
  const double share = seed % 10 == 0 ? 1 : 0.3;
  for (std::int64_t i = 0; i < c.batch.targets.numel(); ++i)
    if (random.next_uniform() < share) c.batch.targets.set(i, std::nan(""));
  for (std::int32_t& target : c.batch.classes)
    if (random.next_uniform() < share) target = -1;
}

TEST_CASE("random stacks with missing targets agree with the unrolled tape") {
  for_each_seed("random stacks with missing targets agree with the unrolled tape", 300,
                [](std::uint64_t seed) {
                  SequenceCase c = random_case(seed);
                  take_targets_away(c, seed);
                  return differences(run_op(c, some_settings(seed), 1 + static_cast<int>(seed % 3)),
                                     run_unrolled(c), 1e-12);
                });
}

/// Gives the loss of a case its own settings: another loss of real numbers or of signals in place of mse, weights and
/// smoothed labels for classes.
void set_loss(SequenceCase& c, std::uint64_t seed) {
  RandomStream random(seed, stream_name({0x6c6f7373}));
  LossOptions& options = c.stack.loss.options;
  const std::int64_t width = c.stack.output_width();
  if (c.stack.loss == Loss::mse && reads_every_step(c.stack.at) && seed % 3 == 0) {
    c.stack.loss.kind = seed % 9 == 0 ? Loss::dc : Loss::esr;
    options.pre_emphasis = seed % 6 == 0 ? 0 : random.next_uniform();
    options.dc = seed % 5 == 0 ? 0 : 2 * random.next_uniform();
    return;
  }
  if (c.stack.loss == Loss::mse) {
    c.stack.loss.kind = seed % 2 != 0 ? Loss::quantile : seed % 5 == 0 ? Loss::mae : Loss::huber;
    options.delta = 0.1 + random.next_uniform();
    options.levels = {0.5};
    for (std::int64_t l = 1; l < (width % 2 == 0 ? 2 : width); ++l)
      options.levels.push_back(0.5 + 0.4 * static_cast<double>(l) / static_cast<double>(width));
    Shape shape = c.batch.targets.shape();
    shape.back() = c.stack.target_width();
    c.batch.targets = random_tensor(random, shape, 1);
    return;
  }
  const std::int64_t classes = c.stack.loss == Loss::binary_cross_entropy ? 2 : width;
  for (std::int64_t i = 0; i < classes; ++i) options.class_weights.push_back(3 * random.next_uniform());
  options.label_smoothing = seed % 3 == 0 ? 0 : random.next_uniform();
}

TEST_CASE("random stacks with settings of their loss agree with the unrolled tape") {
  for_each_seed("random stacks with settings of their loss agree with the unrolled tape", 600,
                [](std::uint64_t seed) {
                  SequenceCase c = random_case(seed);
                  if (c.stack.loss == Loss::none) return std::string();
                  set_loss(c, seed);
                  if (seed % 4 == 0) take_targets_away(c, seed);
                  return differences(run_op(c, some_settings(seed), 1 + static_cast<int>(seed % 3)),
                                     run_unrolled(c), 1e-12);
                });
}

TEST_CASE("the loss is the mean over the targets that are there") {
  SequenceCase c = random_case(3, {.steps = 6, .rows = 2});
  c.stack.at = ReadAt::every_step;
  c.stack.loss = Loss::mse;
  c.batch.lengths.clear();
  c.batch.targets = Tensor({c.rows(), c.steps(), c.stack.output_width()}, Dtype::f64);
  for (std::int64_t i = 0; i < c.batch.targets.numel(); ++i) c.batch.targets.set(i, std::nan(""));
  c.batch.targets.set(1, 0.5);
  SequenceCase outputs = c;
  outputs.stack.loss = Loss::none;
  const double error = named(run_unrolled(outputs), "outputs").at(1) - 0.5;
  CHECK(std::abs(named(run_op(c, {}), "loss").item() - error * error) < 1e-12);
}

TEST_CASE("outputs of random stacks agree with the unrolled tape") {
  for_each_seed("outputs of random stacks agree with the unrolled tape", 300, [](std::uint64_t seed) {
    SequenceCase c = random_case(seed);
    c.stack.loss = Loss::none;
    return differences(run_op(c, some_settings(seed)), run_unrolled(c), 1e-12);
  });
}

TEST_CASE("random stacks in f32 agree with the unrolled tape in f64") {
  for_each_seed("random stacks in f32 agree with the unrolled tape in f64", 200, [](std::uint64_t seed) {
    const SequenceCase single = converted(random_case(seed, {.steps = 20}), Dtype::f32);
    Results results = run_op(single, some_settings(seed));
    for (NamedTensor& result : results) result.tensor = result.tensor.to(Dtype::f64);
    return differences(results, run_unrolled(converted(single, Dtype::f64)), 1e-3);
  });
}

TEST_CASE("gradients of random stacks agree with central differences") {
  const CaseLimits small{.steps = 20, .rows = 3, .width = 5, .layers = 2, .values = 30};
  for_each_seed("gradients of random stacks agree with central differences", 1000, [&](std::uint64_t seed) {
    const SequenceCase c = random_case(seed, small);
    SequenceOp op(c.stack, c.dtype(), some_settings(seed));
    ThreadPool pool(1);
    const auto report = check_gradients(
        [&](Tape& tape, std::span<const Var> inputs) { return scalar_op(tape, c, inputs, op, pool); },
        differentiable(c), {.step = 1e-3, .projections = 1, .elements = 2, .floor = 1e-5});
    return report.max_rel_error <= 1e-7 ? "" : text_of(report.worst, ", off by ", report.max_rel_error, "\n");
  });
}

TEST_CASE("random stacks give the same bits for every plan, chunk and number of threads") {
  for_each_seed("random stacks give the same bits for every plan, chunk and number of threads", 100,
                [](std::uint64_t seed) {
                  const SequenceCase c = random_case(seed, {.steps = 70, .rows = 20});
                  const Results expected = run_op(c, {.plan = MemoryPlan::full});
                  std::string text;
                  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states}) {
                    for (const std::int64_t chunk : {16, 48}) {
                      for (const int threads : {1, 2, 3}) {
                        const std::string lines =
                            bit_differences(run_op(c, {.plan = plan, .chunk = chunk}, threads), expected);
                        if (!lines.empty())
                          text +=
                              text_of(name_of(plan), ", chunk ", chunk, ", ", threads, " threads: ", lines);
                      }
                    }
                  }
                  return text;
                });
}

TEST_CASE("random stacks in f32 give the same bits row by row as in a batch") {
  for_each_seed("random stacks in f32 give the same bits row by row as in a batch", 100,
                [](std::uint64_t seed) {
                  const SequenceCase c = converted(random_case(seed), Dtype::f32);
                  const Results batch = run_evaluate(c, some_settings(seed));
                  std::string text;
                  for (std::int64_t row = 0; row < c.rows(); ++row) {
                    const SequenceCase alone = only_row(c, row);
                    text += bit_differences(run_evaluate(alone, some_settings(seed)), row_of(batch, c, row));
                  }
                  return text;
                });
}

}  // namespace
}  // namespace lagtape
