#include "lagtape/cells/written/ltc.h"

#include <cmath>
#include <numbers>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kLtcOptions[] = {
    required<&Ltc::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&Ltc::unfolds>("unfolds", between(1, 64), "steps of the solver for each step of the sequence"),
    option<&Ltc::elapsed>("elapsed",
                          "whether the last input is the time since the step before, in place of 1"),
};

constinit const LayerEntry Ltc::kEntry = {
    .name = "ltc",
    .summary = "liquid time-constant network, for data at uneven times too",
    .source = "Liquid Time-constant Networks, the neurons' equation and its fused solver",
    .equations =
        "f = sigmoid(W @ h + U @ x + U.bias)\n"
        "h' = (h + d * f * A) / (1 + d * (softplus(w) + f)), unfolds times, d = t / unfolds\n"
        "t = 1, or the last input (elapsed)",
    .options = kLtcOptions,
    .read = read_cell<Ltc>,
    .yields = true,
};

Layer Ltc::build(std::int64_t input) const {
  require_valid(*this);
  const std::int64_t seen = inputs_beside_time(elapsed, input);
  WrittenCell cell{
      .weights = "W [units, units]; U [units, seen]; U.bias [units]; A [units]; w [units]; ",
      .states = "h [units]",
      .derived = "rate = softplus(w)",
      .step = elapsed_text(elapsed) + "d = t / unfolds\ndrive = U @ seen_x + U.bias\n",
      .output = "h'",
      .numbers = {{"seen", static_cast<double>(seen)}, {"unfolds", static_cast<double>(unfolds)}},
      .start = Initializer::xavier_uniform(),
      .init = {{"A", Initializer::uniform(-1, 1)},
               {"w", Initializer::constant(std::log(std::numbers::e - 1))}}};
  for (std::int64_t k = 1; k <= unfolds; ++k) {
    const std::string now = k == 1 ? "h" : text_of("h", k - 1), next = k == unfolds ? "h'" : text_of("h", k);
    cell.step += text_of("f", k, " = sigmoid(W @ ", now, " + drive)\n", next, " = (", now, " + d * f", k,
                         " * A) / (1 + d * (rate + f", k, "))\n");
  }
  return cell.build(units, input);
}

}  // namespace lagtape
