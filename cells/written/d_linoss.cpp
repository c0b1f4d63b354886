#include "lagtape/cells/written/d_linoss.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kDLinossOptions[] = {
    required<&DLinoss::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&DLinoss::oscillators>("oscillators", between(1, kLargestUnits), "number of oscillators"),
    option<&DLinoss::r_min>("r_min", above(0), "smallest first modulus of the eigenvalues of a step"),
    option<&DLinoss::r_max>("r_max", between(0, 1), "largest first modulus of the eigenvalues of a step"),
};

void check_d_linoss(const DLinoss& cell, JsonReader& reader) {
  if (cell.r_min >= cell.r_max) reader.error("r_min", text_of("must be below r_max = ", cell.r_max, "."));
}

}  // namespace

constinit const LayerEntry DLinoss::kEntry = {
    .name = "d_linoss",
    .summary = "linear oscillatory state space with trained damping",
    .source =
        "Learning to Dissipate Energy in Oscillatory State-Space Models, the damped oscillators and their "
        "discretization",
    .equations =
        "dt = sigmoid(s), G = relu(g), w = 1 + dt * G\n"
        "A = clip(a, (sqrt(w) - 1)^2 / dt^2, (sqrt(w) + 1)^2 / dt^2)\n"
        "z' = (z + dt * (B @ x - A * y)) / w\n"
        "y' = y + dt * z'\n"
        "output = C @ y' + D * x\n"
        "D is a matrix, D @ x, where input and units differ",
    .options = checked<check_d_linoss>(kDLinossOptions),
    .read = read_cell<DLinoss>,
    .yields = true,
};

Layer DLinoss::build(std::int64_t input) const {
  require_valid(*this);
  return WrittenCell{
      .weights = text_of("a [oscillators]; g [oscillators]; s [oscillators]; B [oscillators, input]; ",
                         "C [units, oscillators]; ", direct_shapes("D", units, input)),
      .states = "z [oscillators]; y [oscillators]",
      .derived =
          "dt = sigmoid(s)\n"
          "w = 1 + dt * relu(g)\n"
          "low = (sqrt(w) - 1) ** 2 / (dt * dt)\n"
          "high = (sqrt(w) + 1) ** 2 / (dt * dt)\n"
          "A = minimum(maximum(a, low), high)\n"
          "S = 1 / w",
      .step =
          "z' = S * (z + dt * (B @ x - A * y))\n"
          "y' = y + dt * z'",
      .output = "C @ y' + " + direct_text("D", units, input),
      .numbers = {{"oscillators", static_cast<double>(oscillators)}},
      .init = {{"a", {Initializer::Kind::oscillator_stiffness, r_min, r_max}},
               {"g", {Initializer::Kind::oscillator_damping, r_min, r_max}},
               {"s", Initializer::normal(0, 0.5)},
               {"B", Initializer::uniform_of(input)},
               {"C", Initializer::uniform_of(oscillators)},
               {"D", direct_start(units, input)}},
      .draws_of = {{"a", "s"}, {"g", "s"}}}
      .build(units, input);
}

}  // namespace lagtape
