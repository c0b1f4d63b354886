#include "lagtape/cells/registry.h"

#include "lagtape/cells/cornn.h"
#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/gru.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/ops/recurrence/grid.h"

namespace lagtape {
namespace {

LayerGroup group_of(Layer layer) { return {{std::move(layer)}, false}; }
LayerGroup group_of(std::vector<Layer> layers) { return {std::move(layers), true}; }

/// The options of a layer of a step alone, read into its own struct.
template <class Options>
BuildLayer read_per_step(JsonReader& reader) {
  Options options;
  options.read(reader);
  return [options](std::int64_t input) { return group_of(options.build(input)); };
}

/// The options of a cell. It may say that its states are on the grid unless its user says otherwise.
template <class Options>
BuildLayer read(JsonReader& reader) {
  const BuildLayer build = read_per_step<Options>(reader);
  Arithmetic fallback = Arithmetic::real;
  if constexpr (requires { Options::kArithmetic; }) fallback = Options::kArithmetic;
  const Arithmetic arithmetic = read_arithmetic(reader, fallback);
  return [build, arithmetic](std::int64_t input) { return with_arithmetic(build(input), arithmetic); };
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
    {"unicornn", "undamped independent controlled oscillatory network, which runs backwards in time",
     "UnICORNN: A recurrent model for learning very long time dependencies, Equation 4",
     "s = dt * sigmoid(c)\n"
     "z' = z - s * (tanh(w * y + (V @ x + V.bias)) + alpha * y)\n"
     "y' = y + s * z'\n"
     "layers of them; in training each gives y' times a mask of dropout",
     read<Unicornn>},
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
    {"linear", "affine map of every step", "", "y = W @ x + W.bias", read_per_step<Linear>},
};

}  // namespace

Arithmetic read_arithmetic(JsonReader& reader, Arithmetic fallback) {
  std::string name = fallback == Arithmetic::grid ? "grid" : "float";
  reader.choice("arithmetic", name, {"float", "grid"},
                "of the states; on the grid (multiples of 2^-32) a reversible step runs backwards exactly");
  return name == "grid" ? Arithmetic::grid : Arithmetic::real;
}

LayerGroup with_arithmetic(LayerGroup group, Arithmetic arithmetic) {
  for (Layer& layer : group.layers) {
    for (StateDefinition& state : layer.program.states) state.arithmetic = arithmetic;
    check_grid(layer.program);
  }
  return group;
}

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
