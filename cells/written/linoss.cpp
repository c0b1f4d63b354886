#include "lagtape/cells/written/linoss.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kLinossOptions[] = {
    required<&Linoss::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&Linoss::oscillators>("oscillators", between(1, kLargestUnits), "number of oscillators"),
    option<&Linoss::method>(
        "method", {"im", "imex"},
        "implicit, which damps, or implicit and explicit, which keeps volumes and runs backwards"),
};

constinit const LayerEntry Linoss::kEntry = {
    .name = "linoss",
    .summary = "linear oscillatory state space: forced harmonic oscillators, read by a matrix",
    .source = "Oscillatory State-Space Models, the oscillators and the discretizations IM and IMEX",
    .equations =
        "A = relu(a), dt = sigmoid(s)\n"
        "method \"im\": z' = (z + dt * (B @ x - A * y)) / (1 + dt * dt * A)\n"
        "method \"imex\": z' = z + dt * (B @ x - A * y)\n"
        "y' = y + dt * z'\n"
        "output = C @ y' + D * x\n"
        "D is a matrix, D @ x, where input and units differ",
    .options = kLinossOptions,
    .read = read_cell<Linoss>,
    .yields = true,
};

Layer Linoss::build(std::int64_t input) const {
  require_valid(*this);
  const bool implicit = method == "im";
  return WrittenCell{
      .weights = text_of("a [oscillators]; s [oscillators]; B [oscillators, input]; C [units, oscillators]; ",
                         direct_shapes("D", units, input)),
      .states = "z [oscillators]; y [oscillators]",
      .derived = text_of("A = relu(a)\ndt = sigmoid(s)\n", implicit ? "S = 1 / (1 + dt * dt * A)" : ""),
      .step = text_of(implicit ? "z' = S * (z + dt * (B @ x - A * y))" : "z' = z + dt * (B @ x - A * y)",
                      "\ny' = y + dt * z'"),
      .output = "C @ y' + " + direct_text("D", units, input),
      .numbers = {{"oscillators", static_cast<double>(oscillators)}},
      .init = {{"a", Initializer::uniform(0, 1)},
               {"s", Initializer::uniform(0, 1)},
               {"B", Initializer::uniform_of(input)},
               {"C", Initializer::uniform_of(oscillators)},
               {"D", direct_start(units, input)}}}
      .build(units, input);
}

}  // namespace lagtape
