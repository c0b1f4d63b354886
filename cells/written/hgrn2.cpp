#include "lagtape/cells/written/hgrn2.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kHgrn2Options[] = {
    required<&Hgrn2::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&Hgrn2::heads>("heads", between(1, kLargestUnits), "matrices of state"),
    option<&Hgrn2::lower_bound>("lower_bound", from_below(0, 1), "smallest value of the forget gate"),
};

void check_hgrn2(const Hgrn2& cell, JsonReader& reader) { check_heads(cell.units, cell.heads, reader); }

}  // namespace

constinit const LayerEntry Hgrn2::kEntry = {
    .name = "hgrn2",
    .summary = "gated linear recurrence of matrices, written by inputs and forget gates",
    .source = "HGRN2: Gated Linear RNNs with State Expansion, the recurrence with an expanded state",
    .equations =
        "f = lower_bound + (1 - lower_bound) * sigmoid(W_f @ x + W_f.bias), d = units / heads each head\n"
        "i = W_i @ x + W_i.bias, o = silu(W_o @ x + W_o.bias)\n"
        "S' = S * f + outer(i, 1 - f)\n"
        "output = S' @ o",
    .options = checked<check_hgrn2>(kHgrn2Options),
    .read = read_cell<Hgrn2>,
    .yields = true,
};

Layer Hgrn2::build(std::int64_t input) const {
  require_valid(*this);
  WrittenCell cell{.states = "S [heads, units / heads, units / heads]",
                   .step = text_of("g = reshape(sigmoid(W_f @ x + W_f.bias), heads, units / heads)\nf = ",
                                   lower_bound > 0 ? "lower_bound + (1 - lower_bound) * g" : "g",
                                   "\ni = reshape(W_i @ x + W_i.bias, heads, units / heads)\n"
                                   "o = reshape(silu(W_o @ x + W_o.bias), heads, units / heads)\n"
                                   "S' = S * f[:, None, :] + i[:, :, None] * (1 - f)[:, None, :]"),
                   .output = "reshape(einsum('hij,hj->hi', S', o), units)",
                   .numbers = {{"heads", static_cast<double>(heads)}},
                   .start = Initializer::xavier_uniform(std::exp2(-2.5))};
  if (lower_bound > 0) cell.numbers.emplace_back("lower_bound", lower_bound);
  for (const char* name : {"W_f", "W_i", "W_o"}) cell.weights += affine_shapes(name, "units", "input");
  return cell.build(units, input);
}

}  // namespace lagtape
