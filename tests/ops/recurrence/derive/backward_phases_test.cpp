#include <doctest/doctest.h>

#include "lagtape/ops/recurrence/schedule/scheduler.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"

// Tests of which ops run in the loop over time, and which for many steps at once. No result depends on it.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

bool is_product(const Stage& stage) { return std::holds_alternative<ProductStage>(stage); }

/// The number of arrays with a run of values as wide as the state's groups: these values pass through memory.
int wide_runs(const LayerSchedule& schedule) {
  int count = 0;
  for (const Array& array : schedule.arrays)
    if (array.kind == Array::Kind::run && array.width == 40) ++count;
  return count;
}

/// A cell that sums up a wide state in groups before a product gives its output.
LayerSchedule code_of_sums() {
  return schedule_layer(
      equations_of(8, 2, {"h [units, 5]"}, {"w [40]", "k [40]", "V [units, units]", "U [units, input]"}, {},
                   {"h' = reshape(w, units, 5) * h + (U @ x)[:, None]",
                    "y = tanh(sum(reshape(k, units, 5) * h', 1))", "o = V @ y"},
                   "o"),
      true, kLane<float>);
}

TEST_CASE("the output leaves the loop from its first product on") {
  const LayerSchedule schedule = code_of_sums();
  REQUIRE(schedule.forward.after.size() == 1);
  CHECK(is_product(schedule.forward.after.front()));
}

TEST_CASE("the adjoint of the output joins the loop after its last product") {
  const LayerSchedule schedule = code_of_sums();
  REQUIRE(schedule.backward.before.size() == 1);
  CHECK(is_product(schedule.backward.before.front()));
}

TEST_CASE("what is spread over a wide state passes through memory for its weights' gradients alone") {
  const LayerSchedule schedule = code_of_sums();
  CHECK(wide_runs(schedule) == 2);
}

}  // namespace
}  // namespace lagtape
