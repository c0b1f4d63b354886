#include "lagtape/cells/registry.h"

#include "lagtape/cells/cornn.h"
#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/gru.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/tau_gru.h"

namespace lagtape {
namespace {

/// The options of a cell, read into its own struct.
template <class Options>
BuildLayer read(JsonReader& reader) {
  Options options;
  options.read(reader);
  return [options](std::int64_t input) { return options.build(input); };
}

constexpr LayerEntry kCells[] = {
    {"tau_gru", "gated recurrent unit with weighted time-delay feedback",
     "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback",
     "u = tanh(W1 @ h + U1 @ x)\n"
     "z = tanh(W2 @ h[-floor(tau / dt)] + U2 @ x)\n"
     "g = sigmoid(W3 @ h + U3 @ x)\n"
     "a = sigmoid(W4 @ h + U4 @ x)\n"
     "h' = (1 - dt * g) * h + dt * g * (beta * u + alpha * a * z)\n"
     "every W @ h and U @ x with a bias of its own: + W1.bias",
     read<TauGru>},
    {"delay_gru", "simple delay GRU",
     "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback, Equation 12",
     "g = sigmoid(W3 @ h + U3 @ x)\n"
     "h' = (1 - g) * h + g * tanh(W1 @ h + W2 @ h[-tau] + U @ x)\n"
     "every W @ h and U @ x with a bias of its own: + W1.bias",
     read<DelayGru>},
    {"lem", "long expressive memory", "Long Expressive Memory for Sequence Modeling, Equation 3",
     "dz = dt * sigmoid(W1 @ y + V1 @ x)\n"
     "dy = dt * sigmoid(W2 @ y + V2 @ x)\n"
     "z' = (1 - dz) * z + dz * tanh(Wz @ y + Vz @ x)\n"
     "y' = (1 - dy) * y + dy * tanh(Wy @ z' + Vy @ x)\n"
     "every W @ y, W @ z' and V @ x with a bias of its own: + W1.bias",
     read<Lem>},
    {"cornn", "coupled oscillators", "Coupled Oscillatory Recurrent Neural Network (coRNN)",
     "z' = z + dt * (tanh(Wz @ z + Wy @ y + V @ x + V.bias) - gamma * y - epsilon * z)\n"
     "y' = y + dt * z'",
     read<CoRnn>},
    {"rnn", "plain recurrent network with tanh", "Elman 1990",
     "h' = tanh(W @ h + U @ x)\n"
     "W @ h and U @ x with a bias of their own: + W.bias",
     read<Rnn>},
    {"lstm", "long short-term memory", "Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000",
     "i = sigmoid(W_i @ h + U_i @ x)\n"
     "f = sigmoid(W_f @ h + U_f @ x)\n"
     "g = tanh(W_g @ h + U_g @ x)\n"
     "o = sigmoid(W_o @ h + U_o @ x)\n"
     "c' = f * c + i * g\n"
     "h' = o * tanh(c')\n"
     "every W @ h and U @ x with a bias of its own: + W_i.bias",
     read<Lstm>},
    {"gru", "gated recurrent unit, reset after the product",
     "Cho et al. 2014, in the form of PyTorch and cuDNN",
     "r = sigmoid(W_r @ h + U_r @ x)\n"
     "z = sigmoid(W_z @ h + U_z @ x)\n"
     "c = tanh(U_n @ x + r * (W_n @ h))\n"
     "h' = (1 - z) * c + z * h\n"
     "every W @ h and U @ x with a bias of its own: + W_r.bias; r multiplies W_n.bias too",
     read<Gru>},
};

constexpr LayerEntry kPerStepLayers[] = {
    {"linear", "affine map of every step", "", "y = W @ x + W.bias", read<Linear>},
};

}  // namespace

std::span<const LayerEntry> cells() { return kCells; }
std::span<const LayerEntry> per_step_layers() { return kPerStepLayers; }

const LayerEntry* find_layer(std::span<const LayerEntry> entries, std::string_view name) {
  for (const LayerEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> names_of(std::span<const LayerEntry> entries) {
  std::vector<std::string> names;
  for (const LayerEntry& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::vector<OptionDoc> options_of(const LayerEntry& entry) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  entry.read(reader);
  return reader.documentation();
}

}  // namespace lagtape
