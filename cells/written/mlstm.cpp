#include "lagtape/cells/written/mlstm.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kMlstmOptions[] = {
    required<&Mlstm::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&Mlstm::heads>("heads", between(1, kLargestUnits), "matrices of state"),
    option<&Mlstm::forget>("forget", {"sigmoid", "exp"}, "the function of the forget gate"),
};

void check_mlstm(const Mlstm& cell, JsonReader& reader) { check_heads(cell.units, cell.heads, reader); }

}  // namespace

constinit const LayerEntry Mlstm::kEntry = {
    .name = "mlstm",
    .summary = "LSTM with matrices of values by keys as its state, and exponential gates",
    .source = "xLSTM: Extended Long Short-Term Memory, the cell mLSTM with its stabilizer",
    .equations =
        "q = W_q @ x + W_q.bias, k = W_k @ x / sqrt(d) + W_k.bias, v = W_v @ x + W_v.bias, d = units / heads "
        "each head\n"
        "i = W_i @ x + W_i.bias, f = log(sigmoid(W_f @ x + W_f.bias)), a number each head\n"
        "m' = maximum(f + m, i)\n"
        "C' = exp(f + m - m') * C + exp(i - m') * outer(v, k)\n"
        "nu' = exp(f + m - m') * nu + exp(i - m') * k\n"
        "output = sigmoid(W_o @ x + W_o.bias) * (C' @ q) / maximum(abs(sum(nu' * q)), exp(-m'))\n"
        "forget \"exp\": f = W_f @ x + W_f.bias",
    .options = checked<check_mlstm>(kMlstmOptions),
    .read = read_cell<Mlstm>,
    .yields = true,
};

Layer Mlstm::build(std::int64_t input) const {
  require_valid(*this);
  WrittenCell cell{
      .states = "C [heads, units / heads, units / heads]; nu [heads, units / heads]; m [heads]",
      .step =
          "q = reshape(W_q @ x + W_q.bias, heads, units / heads)\n"
          "k = reshape(W_k @ x / sqrt(units / heads) + W_k.bias, heads, units / heads)\n"
          "v = reshape(W_v @ x + W_v.bias, heads, units / heads)\n"
          "i = W_i @ x + W_i.bias\n"
          "g = W_f @ x + W_f.bias\n",
      .output = "sigmoid(W_o @ x + W_o.bias) * reshape(read, units)",
      .numbers = {{"heads", static_cast<double>(heads)}},
      .start = Initializer::normal(0, std::sqrt(0.4 / static_cast<double>(input))),
      .init = {{"W_i", Initializer::constant(0)},
               {"W_f", Initializer::constant(0)},
               {"W_i.bias", Initializer::normal(0, 0.1)},
               {"W_f.bias", Initializer::ramp(3, 3 / std::max(1.0, static_cast<double>(heads - 1)))}}};
  for (const char* name : {"W_q", "W_k", "W_v", "W_o"}) cell.weights += affine_shapes(name, "units", "input");
  for (const char* name : {"W_i", "W_f"}) cell.weights += affine_shapes(name, "heads", "input");
  cell.step +=
      text_of("f = ", forget == "exp" ? "g" : "-softplus(-g)",
              "\nm' = maximum(f + m, i)\n"
              "keep = exp(f + m - m')\n"
              "write = exp(i - m')\n"
              "C' = keep[:, None, None] * C + write[:, None, None] * (v[:, :, None] * k[:, None, :])\n"
              "nu' = keep[:, None] * nu + write[:, None] * k\n"
              "bound = maximum(abs(sum(nu' * q, 1)), exp(-m'))\n"
              "read = einsum('hij,hj->hi', C', q) / bound[:, None]");
  return cell.build(units, input);
}

}  // namespace lagtape
