#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/core/support/thread_ranks.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Ranks that share a batch get the bits of one process, each of them all.

namespace lagtape {
namespace {

using namespace test;

/// Differences from `expected` on any rank.
std::string differences_on_ranks(int count, const Results& expected,
                                 const std::function<Results(Ranks&)>& run) {
  std::vector<std::string> found(static_cast<std::size_t>(count));
  ThreadRanks::run(count, [&](Ranks& ranks) {
    found[static_cast<std::size_t>(ranks.rank())] = bit_differences(run(ranks), expected);
  });
  for (int rank = 0; rank < count; ++rank)
    if (const std::string& text = found[static_cast<std::size_t>(rank)]; !text.empty())
      return text_of("rank ", rank, " of ", count, ":\n", text);
  return "";
}

SequenceCase case_of(std::uint64_t seed) {
  const SequenceCase c = random_case(seed, {.steps = 20, .rows = 70, .width = 8});
  return seed % 2 == 0 ? c : converted(c, Dtype::f32);
}

TEST_CASE("ranks have the loss, the gradients and the final windows of one process") {
  for_each_seed("ranks have the loss, the gradients and the final windows of one process", 80,
                [](std::uint64_t seed) {
                  const SequenceCase c = case_of(seed);
                  return differences_on_ranks(2 + static_cast<int>(seed % 4), run_op(c), [&](Ranks& ranks) {
                    return run_op(c, {.ranks = &ranks}, 1 + static_cast<int>(seed % 2));
                  });
                });
}

TEST_CASE("ranks have the outputs of one process") {
  for_each_seed("ranks have the outputs of one process", 40, [](std::uint64_t seed) {
    const SequenceCase c = case_of(seed);
    return differences_on_ranks(3, run_evaluate(c),
                                [&](Ranks& ranks) { return run_evaluate(c, {.ranks = &ranks}); });
  });
}

TEST_CASE("there may be more ranks than slices") {
  const SequenceCase c = random_case(5, {.rows = 3});
  CHECK(differences_on_ranks(7, run_op(c), [&](Ranks& ranks) { return run_op(c, {.ranks = &ranks}); }) == "");
}

TEST_CASE("a memory plan is chosen for a rank's own slices") {
  const SequenceCase c = random_case(5, {.rows = 70});
  ThreadRanks::run(4, [&](Ranks& ranks) {
    const SequenceOp shared(c.stack, c.dtype(), {.ranks = &ranks}), alone(c.stack, c.dtype());
    CHECK(shared.plans(256, 1000, 8).front().bytes < alone.plans(256, 1000, 8).front().bytes);
  });
}

}  // namespace
}  // namespace lagtape
