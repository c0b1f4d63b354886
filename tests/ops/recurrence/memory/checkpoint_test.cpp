#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

using namespace lagtape;
using namespace lagtape::test;

TEST_CASE("checkpoints of every number of levels give the bits of the full plan") {
  const char* name = "checkpoints of every number of levels give the bits of the full plan";
  for_each_seed(name, 250, [](std::uint64_t seed) {
    const SequenceCase c =
        random_case(seed, {.steps = 190, .rows = 5, .width = 8, .layers = 2, .values = 25});
    const Results expected = run_op(c, {.plan = MemoryPlan::full});
    std::string text;
    for (const int levels : {1, 2, 3, 4}) {
      const std::int64_t checkpoint_interval = seed % 3 == 0 ? 32 : 16;
      const SequenceSettings settings{.plan = MemoryPlan::checkpoint,
                                      .chunk = 16,
                                      .checkpoint_interval = checkpoint_interval,
                                      .levels = levels};
      const std::string lines = bit_differences(run_op(c, settings, 1 + levels % 2), expected);
      if (!lines.empty()) text += text_of(levels, " levels, intervals of ", checkpoint_interval, ": ", lines);
    }
    return text;
  });
}

// A call for each would take more than the stack has.
TEST_CASE("a sequence with very many checkpoints has the bits of the full plan" *
          doctest::test_suite("slow")) {
  const SequenceCase small = random_case(5, {.steps = 10, .rows = 1, .width = 1, .layers = 1, .values = 3});
  const SequenceCase c = converted(filled(small.stack, 1, 2000000, 5), Dtype::f32);
  const SequenceSettings settings{
      .plan = MemoryPlan::checkpoint, .chunk = 16, .checkpoint_interval = 16, .levels = 1};
  CHECK(bit_differences(run_op(c, settings), run_op(c, {.plan = MemoryPlan::full})) == "");
}

TEST_CASE("plans, chunks and threads do not change a bit") {
  for_each_seed("plans, chunks and threads do not change a bit", 500, [](std::uint64_t seed) {
    RandomStream random(seed, stream_name({0x706c616e}));
    const auto below = [&](std::uint64_t bound) {
      return static_cast<std::int64_t>(random.next_below(bound));
    };
    SequenceCase c =
        random_case(seed + 1000, {.steps = 90, .rows = 20, .width = 9, .layers = 2, .values = 25});
    if (seed % 2 == 0) c = converted(c, Dtype::f32);
    const Results expected = run_op(c, {.plan = MemoryPlan::full, .compile_stages = seed % 3 > 0});
    std::string text;
    for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint}) {
      SequenceSettings settings{.plan = plan, .chunk = 16 * below(4)};
      if (plan == MemoryPlan::checkpoint) {
        settings.levels = static_cast<int>(below(4));
        settings.checkpoint_interval = (settings.chunk > 0 ? settings.chunk : 64) * below(3);
      }
      const int threads = static_cast<int>(1 + below(3));
      const std::string lines = bit_differences(run_op(c, settings, threads), expected);
      if (!lines.empty())
        text += text_of(name_of(plan), ", chunk ", settings.chunk, ", checkpoint_interval ",
                        settings.checkpoint_interval, ", levels ", settings.levels, ", threads ", threads,
                        ": ", lines);
    }
    return text;
  });
}

TEST_CASE("checkpoints take less memory the more levels there are, as much as was planned") {
  const SequenceCase c = converted(random_case(3, {.steps = 40, .rows = 4, .layers = 1}), Dtype::f32);
  std::int64_t before = SequenceOp(c.stack, Dtype::f32).plans(4, 20000, 1)[0].bytes;
  for (const int levels : {1, 2, 3}) {
    const SequenceOp op(c.stack, Dtype::f32, {.plan = MemoryPlan::checkpoint, .levels = levels});
    const PlanCost cost = op.choose(4, 20000, 1);
    CHECK(cost.plan == MemoryPlan::checkpoint);
    CHECK(cost.levels == levels);
    CHECK(cost.bytes < before);
    before = cost.bytes;
  }
}

TEST_CASE("checkpoints lie whole chunks apart") {
  const SequenceCase c = random_case(1);
  CHECK_THROWS_AS(SequenceOp(c.stack, Dtype::f64, {.chunk = 32, .checkpoint_interval = 48}), InputError);
  CHECK_THROWS_AS(SequenceOp(c.stack, Dtype::f64, {.levels = -1}), InputError);
}
