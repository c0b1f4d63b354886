#include "lagtape/cells/written/rg_lru.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kRgLruOptions[] = {
    required<&RgLru::units>("units", between(1, kLargestUnits), "size of the state and of the output"),
    option<&RgLru::heads>("heads", between(1, kLargestUnits), "blocks of the gates' matrices"),
    option<&RgLru::block>("block",
                          "whether the recurrent block is around the unit: maps, a convolution and a gate"),
    option<&RgLru::conv>("conv", between(1, 64), "steps that the block's convolution covers"),
};

void check_rg_lru(const RgLru& cell, JsonReader& reader) { check_heads(cell.units, cell.heads, reader); }

}  // namespace

constinit const LayerEntry RgLru::kEntry = {
    .name = "rg_lru",
    .summary = "real-gated linear recurrent unit, with its block",
    .source =
        "Griffin: Mixing Gated Linear Recurrences with Local Attention, the layer RG-LRU and the recurrent "
        "block",
    .equations =
        "v = W_in @ x + W_in.bias, u = K0 * v[n] + K1 * v[n-1] + ... + K.bias\n"
        "r = sigmoid(W_a @ u + W_a.bias), i = sigmoid(W_x @ u + W_x.bias)\n"
        "a = exp(-8 * softplus(L) * r)\n"
        "h' = a * h + sqrt(maximum(1 - a^2, 1e-12)) * (i * u)\n"
        "output = W_out @ (gelu(W_g @ x + W_g.bias) * h') + W_out.bias\n"
        "without the block: u = x, or W_in @ x where input and units differ, and the output is h'",
    .options = checked<check_rg_lru>(kRgLruOptions),
    .read = read_cell<RgLru>,
    .yields = true,
};

Layer RgLru::build(std::int64_t input) const {
  require_valid(*this);
  const Heads by_head{heads};
  WrittenCell cell{.weights = text_of("L [units]; ", by_head.matrix_shape("W_a"), "W_a.bias [units]; ",
                                      by_head.matrix_shape("W_x"), "W_x.bias [units]; "),
                   .states = "h [units]",
                   .derived = "s = 8 * softplus(L)",
                   .step = text_of("r = sigmoid(", by_head.product("W_a", "u"), " + W_a.bias)\n",
                                   "i = sigmoid(", by_head.product("W_x", "u"), " + W_x.bias)\n",
                                   "a = exp(-(s * r))\n"
                                   "h' = a * h + sqrt(maximum(1 - a * a, 1e-12)) * (i * u)"),
                   .output = "h'",
                   .numbers = by_head.number(),
                   .start = {Initializer::Kind::kaiming_normal, 1},
                   .init = {{"L", {Initializer::Kind::decay_8, 0.9, 0.999}}}};
  if (!block) {
    cell.weights += widened_shapes(units, input);
    cell.step = widened_text(units, input) + cell.step;
    return cell.build(units, input);
  }
  cell.weights += affine_shapes("W_in", "units", "input") + convolution_shapes("K", conv) +
                  affine_shapes("W_g", "units", "input") + affine_shapes("W_out", "units", "units");
  cell.states += "; v [units]";
  cell.step = text_of("v' = W_in @ x + W_in.bias\nu = ", convolution_text("K", "v", conv), "\n", cell.step);
  cell.output = "W_out @ (gelu(W_g @ x + W_g.bias) * h') + W_out.bias";
  for (std::int64_t k = 0; k < conv; ++k)
    cell.init[text_of("K", k)] = Initializer::normal(0, 0.1 / std::sqrt(static_cast<double>(conv)));
  return cell.build(units, input);
}

}  // namespace lagtape
