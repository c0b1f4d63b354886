#include "lagtape/cells/written/lif.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kLifOptions[] = {
    required<&Lif::units>("units", between(1, kLargestUnits), "number of neurons"),
    option<&Lif::adaptive>("adaptive", "whether thresholds rise with spikes"),
    option<&Lif::recurrent>("recurrent", "whether neurons read each other's spikes"),
    option<&Lif::threshold>("threshold", above(0), "threshold of a neuron that has not spiked"),
    option<&Lif::strength>("strength", at_least(0), "by how much an adaptive threshold rises"),
    option<&Lif::input_delay>("input_delay", between(0, 4096),
                              "largest trained delay of an input; 0: without")
        .in("steps"),
    option<&Lif::recurrent_delay>("recurrent_delay", between(0, 4096),
                                  "largest trained delay of a spike beyond one step; 0: without")
        .in("steps"),
    option<&Lif::surrogate>("surrogate", {"fast_sigmoid", "sigmoid", "atan", "triangle"},
                            "whose derivative a spike has"),
    option<&Lif::slope>("slope", above(0), "slope of that function"),
};

void check_lif(const Lif& cell, JsonReader& reader) {
  if (cell.recurrent_delay > 0 && !cell.recurrent)
    reader.error("recurrent_delay", "needs recurrent: neurons do not see each other's spikes without.");
}

}  // namespace

constinit const LayerEntry Lif::kEntry = {
    .name = "lif",
    .summary = "leaky integrate-and-fire neurons, with adaptive thresholds and trained delays",
    .source =
        "SuperSpike; adaptive thresholds: Long short-term memory and learning-to-learn in networks of "
        "spiking neurons, Equations 1 to 3; delays: DelRec",
    .equations =
        "v' = beta * v - t * stop(s) + W @ x + W.bias + R @ s\n"
        "t = threshold, adaptive: t = threshold + strength * a, a' = rho * a + (1 - rho) * s\n"
        "s' = spike(v' - t', surrogate, slope)\n"
        "input_delay: x[-d] with trained d of each input; recurrent_delay: s[-e] with trained e of each "
        "neuron",
    .options = checked<check_lif>(kLifOptions),
    .read = read_cell<Lif>,
};

Layer Lif::build(std::int64_t input) const {
  require_valid(*this);
  const Initializer of_input = Initializer::uniform_of(input);
  WrittenCell cell{.weights = "beta [units]; " + affine_shapes("W", "units", "input"),
                   .states = "v [units]; s [units]",
                   .derived = "kept = clip(beta, 0, 1)\n",
                   .output = "s'",
                   .numbers = {{"threshold", threshold}},
                   .start = Initializer::uniform_of(units),
                   .bias = of_input,
                   .init = {{"W", of_input}, {"beta", Initializer::constant(0.9)}}};
  if (adaptive) {
    cell.weights += "rho [units]; ";
    cell.states += "; a [units]";
    cell.derived += "slow = clip(rho, 0, 1)\n";
    cell.numbers.emplace_back("strength", strength);
    cell.init["rho"] = Initializer::constant(std::exp(-1.0 / 200));
    cell.step =
        "t = threshold + strength * a\na' = slow * a + (1 - slow) * s\nnext_t = threshold + strength * a'\n";
  } else {
    cell.step = "t = threshold\nnext_t = threshold\n";
  }
  // A trained lag is declared with its maximum value.
  const auto delayed = [&](const std::string& of, const std::string& by, const std::string& size,
                           double least, std::int64_t largest) {
    if (largest == 0) return of;
    cell.weights += text_of(by, " [", size, "]; ");
    cell.lags += text_of(by, " [", largest, "]; ");
    cell.init[by] = Initializer::uniform(least, static_cast<double>(largest));
    return text_of(of, "[-", by, "]");
  };
  cell.step +=
      text_of("v' = kept * v - t * stop(s) + W @ ", delayed("x", "d", "input", 0, input_delay), " + W.bias");
  if (recurrent) {
    cell.weights += "R [units, units]; ";
    cell.step += " + R @ " + delayed("s", "e", "units", 1, recurrent_delay);
  }
  cell.step += text_of("\ns' = spike(v' - next_t, '", surrogate, "', ", slope, ")");
  return cell.build(units, input);
}

}  // namespace lagtape
