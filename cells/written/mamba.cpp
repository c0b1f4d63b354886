#include "lagtape/cells/written/mamba.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kMambaOptions[] = {
    required<&Mamba::units>("units", between(1, kLargestUnits), "number of channels"),
    option<&Mamba::states>("states", between(1, 4096), "numbers of state for each channel"),
    option<&Mamba::rank>("rank", between(0, kLargestUnits),
                         "rank of the map from channels to steps; 0: units / 16, rounded up"),
    option<&Mamba::block>("block",
                          "whether the block is around the state space: maps, a convolution and a gate"),
    option<&Mamba::conv>("conv", between(1, 64), "steps that the block's convolution covers"),
};

constinit const LayerEntry Mamba::kEntry = {
    .name = "mamba",
    .summary = "selective diagonal state space, with its block",
    .source = "Mamba: Linear-Time Sequence Modeling with Selective State Spaces, Algorithm 2 and Figure 3",
    .equations =
        "v = W_in @ x, u = silu(K0 * v[n] + K1 * v[n-1] + ... + K.bias)\n"
        "delta = softplus(W_dt @ (W_rank @ u) + W_dt.bias), B = W_B @ u, C = W_C @ u\n"
        "S' = exp(outer(delta, 1) * A) * S + outer(delta * u, B), A = -exp(A_log)\n"
        "y = S' @ C + D * u\n"
        "output = W_out @ (y * silu(W_z @ x))\n"
        "without the block: u = x, or W_in @ x where input and units differ, and the output is y",
    .options = kMambaOptions,
    .read = read_cell<Mamba>,
    .yields = true,
};

Layer Mamba::build(std::int64_t input) const {
  require_valid(*this);
  const std::int64_t steps_rank = rank > 0 ? rank : (units + 15) / 16;
  const Initializer of_units = Initializer::uniform_of(units), of_taps = Initializer::uniform_of(conv);
  WrittenCell cell{
      .weights =
          "A_log [units, states]; D [units]; W_rank [rank, units]; W_dt [units, rank]; "
          "W_dt.bias [units]; W_B [states, units]; W_C [states, units]; ",
      .states = "S [units, states]",
      .derived = "A = reshape(-exp(A_log), units * states)",
      .step =
          "delta = softplus(W_dt @ (W_rank @ u) + W_dt.bias)\n"
          "S' = exp(delta[:, None] * reshape(A, units, states)) * S + outer(delta * u, W_B @ u)\n"
          "y = S' @ (W_C @ u) + D * u",
      .output = "y",
      .numbers = {{"states", static_cast<double>(states)}, {"rank", static_cast<double>(steps_rank)}},
      .start = of_units,
      .init = {{"A_log", {Initializer::Kind::log_ramp, 1, 1}},
               {"D", Initializer::constant(1)},
               {"W_dt", Initializer::uniform_of(steps_rank)},
               {"W_dt.bias", Initializer::inverse_softplus(0.001, 0.1)},
               {"W_in", Initializer::uniform_of(input)},
               {"W_z", Initializer::uniform_of(input)},
               {"K.bias", of_taps}}};
  if (!block) {
    cell.weights += widened_shapes(units, input);
    cell.step = widened_text(units, input) + cell.step;
    return cell.build(units, input);
  }
  cell.weights +=
      "W_in [units, input]; W_z [units, input]; W_out [units, units]; " + convolution_shapes("K", conv);
  cell.states += "; v [units]";
  cell.step = text_of("v' = W_in @ x\nu = silu(", convolution_text("K", "v", conv), ")\n", cell.step);
  cell.output = "W_out @ (y * silu(W_z @ x))";
  for (std::int64_t k = 0; k < conv; ++k) cell.init[text_of("K", k)] = of_taps;
  return cell.build(units, input);
}

}  // namespace lagtape
