#include "lagtape/cells/written/slstm.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kSlstmOptions[] = {
    required<&Slstm::units>("units", between(1, kLargestUnits), "size of each of the states"),
    option<&Slstm::heads>("heads", between(1, kLargestUnits), "blocks of the recurrent matrices"),
    option<&Slstm::forget>("forget", {"sigmoid", "exp"}, "the function of the forget gate"),
};

void check_slstm(const Slstm& cell, JsonReader& reader) { check_heads(cell.units, cell.heads, reader); }

}  // namespace

constinit const LayerEntry Slstm::kEntry = {
    .name = "slstm",
    .summary = "LSTM with exponential gates, a normalizer and a stabilizer, in heads",
    .source = "xLSTM: Extended Long Short-Term Memory, the cell sLSTM with its stabilizer",
    .equations =
        "z = tanh(W_z @ x + R_z @ h + W_z.bias), o = sigmoid(W_o @ x + R_o @ h + W_o.bias)\n"
        "i = W_i @ x + R_i @ h + W_i.bias, f = log(sigmoid(W_f @ x + R_f @ h + W_f.bias))\n"
        "m' = where(nu == 0, i, maximum(f + m, i))\n"
        "c' = exp(f + m - m') * c + exp(i - m') * z\n"
        "nu' = exp(f + m - m') * nu + exp(i - m')\n"
        "h' = o * c' / nu'\n"
        "forget \"exp\": f = W_f @ x + R_f @ h + W_f.bias",
    .options = checked<check_slstm>(kSlstmOptions),
    .read = read_cell<Slstm>,
    .yields = true,
};

Layer Slstm::build(std::int64_t input) const {
  require_valid(*this);
  const Heads by_head{heads};
  WrittenCell cell{.states = "c [units]; nu [units]; h [units]; m [units]",
                   .output = "h'",
                   .numbers = by_head.number(),
                   .start = Initializer::normal(0, std::sqrt(0.4 / static_cast<double>(input))),
                   .init = {{"W_f.bias", {Initializer::Kind::power_ramp, 5, -7}}}};
  const auto activation = [&](const std::string& gate) {
    const bool by_rows = heads > 1 && gate == "f";  // each head has the full ramp
    cell.weights += text_of("W_", gate, " [units, input]; ", by_head.matrix_shape("R_" + gate), "W_", gate,
                            by_rows ? ".bias [heads, units / heads]; " : ".bias [units]; ");
    cell.init["R_" + gate] = Initializer::constant(0);
    const std::string bias = text_of("W_", gate, ".bias");
    return text_of("W_", gate, " @ x + ", by_head.product("R_" + gate, "h"), " + ",
                   by_rows ? text_of("reshape(", bias, ", units)") : bias);
  };
  const std::string z = activation("z"), i = activation("i"), f = activation("f"), o = activation("o");
  cell.step =
      text_of("z = tanh(", z, ")\ni = ", i, "\nf = ", forget == "exp" ? f : text_of("-softplus(-(", f, "))"),
              "\no = sigmoid(", o, ")\n",
              "m' = where(nu == 0, i, maximum(f + m, i))\n"
              "keep = exp(f + m - m')\n"
              "write = exp(i - m')\n"
              "c' = keep * c + write * z\n"
              "nu' = keep * nu + write\n"
              "h' = o * c' / nu'");
  return cell.build(units, input);
}

}  // namespace lagtape
