#include "lagtape/cells/written/gated_deltanet.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kGatedDeltanetOptions[] = {
    required<&GatedDeltanet::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&GatedDeltanet::heads>("heads", between(1, kLargestUnits), "matrices of state"),
    option<&GatedDeltanet::conv>("conv", between(0, 64), "steps that the convolutions cover; 0: none"),
};

void check_gated_deltanet(const GatedDeltanet& cell, JsonReader& reader) {
  check_heads(cell.units, cell.heads, reader);
}

}  // namespace

constinit const LayerEntry GatedDeltanet::kEntry = {
    .name = "gated_deltanet",
    .summary = "matrices of values by keys that decay and are corrected by the delta rule",
    .source = "Gated Delta Networks: Improving Mamba2 with Delta Rule, the gated delta rule and its block",
    .equations =
        "q = silu(conv(W_q @ x)), k = silu(conv(W_k @ x)), v = silu(conv(W_v @ x)), d = units / heads each "
        "head\n"
        "q = q / sqrt(sum(q^2) + 1e-6), k = k / sqrt(sum(k^2) + 1e-6)\n"
        "alpha = exp(-exp(A_log) * softplus(W_a @ x + W_a.bias)), beta = sigmoid(W_b @ x), a number each "
        "head\n"
        "S' = alpha * S + outer(beta * (v - alpha * S @ k), k)\n"
        "y = S' @ q, y = gain * y / sqrt(mean(y^2) + 1e-5)\n"
        "output = W_out @ (y * silu(W_g @ x))",
    .options = checked<check_gated_deltanet>(kGatedDeltanetOptions),
    .read = read_cell<GatedDeltanet>,
    .yields = true,
};

Layer GatedDeltanet::build(std::int64_t input) const {
  require_valid(*this);
  WrittenCell cell{.weights =
                       "A_log [heads]; W_a [heads, input]; W_a.bias [heads]; W_b [heads, input]; "
                       "gain [units / heads]; W_g [units, input]; W_out [units, units]; ",
                   .states = "S [heads, units / heads, units / heads]",
                   .derived = "rate = exp(A_log)",
                   .numbers = {{"heads", static_cast<double>(heads)}},
                   .start = Initializer::xavier_uniform(std::exp2(-2.5)),
                   .init = {{"A_log", Initializer::log_of_uniform(0, 16)},
                            {"W_a.bias", Initializer::inverse_softplus(0.001, 0.1)},
                            {"gain", Initializer::constant(1)}}};
  for (const std::string name : {"q", "k", "v"}) {
    cell.weights += text_of("W_", name, " [units, input]; ");
    std::string mapped = text_of("W_", name, " @ x");
    if (conv > 0) {
      cell.weights += convolution_shapes("K_" + name, conv);
      cell.states += text_of("; past_", name, " [units]");
      cell.step += text_of("past_", name, "' = ", mapped, "\n");
      mapped = convolution_text("K_" + name, "past_" + name, conv);
      const Initializer start = Initializer::uniform_of(conv);
      for (std::int64_t j = 0; j < conv; ++j) cell.init[text_of("K_", name, j)] = start;
      cell.init[text_of("K_", name, ".bias")] = start;
    }
    cell.step += text_of(name, "0 = reshape(silu(", mapped, "), heads, units / heads)\n");
  }
  cell.step +=
      "q = q0 / sqrt(sum(q0 * q0, 1) + 1e-6)[:, None]\n"
      "k = k0 / sqrt(sum(k0 * k0, 1) + 1e-6)[:, None]\n"
      "alpha = exp(-(rate * softplus(W_a @ x + W_a.bias)))\n"
      "beta = sigmoid(W_b @ x)\n"
      "held = alpha[:, None] * einsum('hij,hj->hi', S, k)\n"
      "S' = alpha[:, None, None] * S + (beta[:, None] * (v0 - held))[:, :, None] * k[:, None, :]\n"
      "y = einsum('hij,hj->hi', S', q)\n"
      "z = gain * y / sqrt(mean(y * y, 1) + 1e-5)[:, None]";
  cell.output = "W_out @ (reshape(z, units) * silu(W_g @ x))";
  return cell.build(units, input);
}

}  // namespace lagtape
