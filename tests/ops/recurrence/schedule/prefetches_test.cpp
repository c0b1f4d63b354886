#include "lagtape/ops/recurrence/schedule/prefetches.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/ops/recurrence/schedule/scheduler.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"

// The rows that are fetched ahead of a step. No result depends on them, so the tests look at the schedule
// itself.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

LayerSchedule code_of(std::int64_t units, std::int64_t tau) {
  return schedule_layer(tau_gru(units, 2, tau), false, kLane<float>);
}

std::vector<Operand> fetched_in(const Phase& phase) {
  std::vector<Operand> operands;
  for (const Stage& stage : phase)
    if (const auto* product = std::get_if<ProductStage>(&stage))
      operands.insert(operands.end(), product->prefetched.begin(), product->prefetched.end());
  return operands;
}

bool has(const std::vector<Operand>& operands, const Operand& operand) {
  return std::ranges::find(operands, operand) != operands.end();
}

bool tiles_fetch(const Phase& phase) {
  return std::ranges::any_of(phase, [](const Stage& stage) {
    const auto* elements = std::get_if<ElementStage>(&stage);
    return elements != nullptr && elements->prefetches_before;
  });
}

TEST_CASE("a large product of the backward loop fetches what the step before reads") {
  const LayerSchedule schedule = code_of(128, 65);
  const std::vector<Operand> prefetched = fetched_in(schedule.backward.step);
  int kept = 0;
  for (const Stage& stage : schedule.backward.step) {
    const auto* elements = std::get_if<ElementStage>(&stage);
    if (elements == nullptr) continue;
    for (Operand operand : elements->operands) {
      if (!lies_over_sequence(operand, schedule.arrays)) continue;
      ++kept;
      --operand.step;
      CHECK(has(prefetched, operand));
    }
  }
  CHECK(kept >= 4);  // the gates and the candidate, and the state
  CHECK_FALSE(tiles_fetch(schedule.backward.step));
}

TEST_CASE("a large product fetches the delayed state, which the weight gradients multiply by") {
  const LayerSchedule schedule = code_of(128, 65);
  const Operand delayed{Operand::Kind::array, schedule.state_arrays[0], -65, 128};
  REQUIRE(
      std::ranges::any_of(schedule.matrix_gradients, [&](const auto& g) { return g.operand == delayed; }));
  CHECK(has(fetched_in(schedule.backward.step), {delayed.kind, delayed.index, -66, 128}));
}

TEST_CASE("a large product of the forward loop fetches what the next step writes") {
  const LayerSchedule schedule = code_of(128, 65);
  const std::vector<Operand> prefetched = fetched_in(schedule.forward.step);
  CHECK(has(prefetched, {Operand::Kind::array, schedule.state_arrays[0], schedule.output.step + 1, 128}));
  CHECK(std::ranges::all_of(
      prefetched, [&](const Operand& operand) { return lies_over_sequence(operand, schedule.arrays); }));
}

TEST_CASE("small products fetch nothing; the element-wise work does") {
  const LayerSchedule schedule = code_of(16, 20);
  CHECK(fetched_in(schedule.forward.step).empty());
  CHECK(fetched_in(schedule.backward.step).empty());
  CHECK(tiles_fetch(schedule.backward.step));
}

}  // namespace
}  // namespace lagtape
