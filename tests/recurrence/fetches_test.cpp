#include "lagtape/ops/recurrence/fetches.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/tests/recurrence/support/cells.h"

// What is brought near ahead of a step. No result depends on it, so that the plan itself is looked at.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

LayerCode code_of(std::int64_t units, std::int64_t tau) {
  return schedule(tau_gru(units, 2, tau), false, kLane<float>);
}

std::vector<Slot> fetched_in(const Phase& phase) {
  std::vector<Slot> slots;
  for (const Stage& stage : phase)
    if (const auto* product = std::get_if<ProductStage>(&stage))
      slots.insert(slots.end(), product->fetched.begin(), product->fetched.end());
  return slots;
}

bool has(const std::vector<Slot>& slots, const Slot& slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

bool tiles_fetch(const Phase& phase) {
  return std::ranges::any_of(phase, [](const Stage& stage) {
    const auto* tiles = std::get_if<TileStage>(&stage);
    return tiles != nullptr && tiles->fetches_before;
  });
}

TEST_CASE("a large product of the backward loop fetches what the step before reads") {
  const LayerCode code = code_of(128, 65);
  const std::vector<Slot> fetched = fetched_in(code.backward_loop);
  int kept = 0;
  for (const Stage& stage : code.backward_loop) {
    const auto* tiles = std::get_if<TileStage>(&stage);
    if (tiles == nullptr) continue;
    for (Slot slot : tiles->slots) {
      if (!is_kept(slot, code.arrays)) continue;
      ++kept;
      --slot.step;
      CHECK(has(fetched, slot));
    }
  }
  CHECK(kept >= 4);  // the gates and the candidate, and the state
  CHECK_FALSE(tiles_fetch(code.backward_loop));
}

TEST_CASE("it fetches the delayed state, which the weight gradients multiply by") {
  const LayerCode code = code_of(128, 65);
  const Slot delayed{Slot::Kind::array, code.state_arrays[0], -65, 128};
  REQUIRE(std::ranges::any_of(code.matrix_gradients, [&](const auto& g) { return g.operand == delayed; }));
  CHECK(has(fetched_in(code.backward_loop), {delayed.kind, delayed.index, -66, 128}));
}

TEST_CASE("a large product of the forward loop fetches what the next step writes") {
  const LayerCode code = code_of(128, 65);
  const std::vector<Slot> fetched = fetched_in(code.loop);
  CHECK(has(fetched, {Slot::Kind::array, code.state_arrays[0], code.output.step + 1, 128}));
  CHECK(std::ranges::all_of(fetched, [&](const Slot& slot) { return is_kept(slot, code.arrays); }));
}

TEST_CASE("small products fetch nothing; the element-wise work does") {
  const LayerCode code = code_of(16, 20);
  CHECK(fetched_in(code.loop).empty());
  CHECK(fetched_in(code.backward_loop).empty());
  CHECK(tiles_fetch(code.backward_loop));
}

}  // namespace
}  // namespace lagtape
