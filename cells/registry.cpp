#include "lagtape/cells/registry.h"

#include "lagtape/cells/antisymmetric_rnn.h"
#include "lagtape/cells/common_options.h"
#include "lagtape/cells/cornn.h"
#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/exp_rnn.h"
#include "lagtape/cells/fast_grnn.h"
#include "lagtape/cells/fast_rnn.h"
#include "lagtape/cells/gru.h"
#include "lagtape/cells/incremental_rnn.h"
#include "lagtape/cells/indrnn.h"
#include "lagtape/cells/layers/batch_norm.h"
#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/layers/dilated.h"
#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/layers/embedding.h"
#include "lagtape/cells/layers/layer_norm.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/lipschitz_rnn.h"
#include "lagtape/cells/lmu.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/noisy_rnn.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/s4d.h"
#include "lagtape/cells/sru.h"
#include "lagtape/cells/tarnn.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"

namespace lagtape {
namespace {

LayerGroup group_of(Layer layer) { return {{std::move(layer)}, false}; }
LayerGroup group_of(std::vector<Layer> layers) { return {std::move(layers), true}; }

/// The options that are the layer's own, read into its struct.
template <class Options>
BuildLayer read_own(JsonReader& reader) {
  Options options;
  options.read(reader);
  return [options](std::int64_t input) { return group_of(options.build(input)); };
}

/// The options of a layer of a step alone that has parameters.
template <class Options>
BuildLayer read_per_step(JsonReader& reader) {
  const BuildLayer build = read_own<Options>(reader);
  InitialValues init;
  init.read(reader);
  return [build, init](std::int64_t input) {
    LayerGroup group = build(input);
    init.apply(group);
    return group;
  };
}

BuildLayer read_bidirectional(JsonReader& reader, const ReadInner& inner) {
  Bidirectional options;
  options.read(reader, inner);
  return [options](std::int64_t input) { return group_of(options.build(input)); };
}

/// The options of a cell. It may say that its states are on the grid unless its user says otherwise.
template <class Options>
BuildLayer read(JsonReader& reader) {
  const BuildLayer build = read_own<Options>(reader);
  CommonCellOptions every;
  if constexpr (requires { Options::kArithmetic; }) every.arithmetic = Options::kArithmetic;
  every.read(reader);
  return every.apply(build);
}

constexpr LayerEntry kCells[] = {
    {"tau_gru", "gated recurrent unit with weighted time-delay feedback",
     "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback",
     "u = tanh(W1 @ h + U1 @ x)\n"
     "z = tanh(W2 @ h[-floor(tau / dt)] + U2 @ x)\n"
     "g = sigmoid(W3 @ h + U3 @ x)\n"
     "a = sigmoid(W4 @ h + U4 @ x)\n"
     "h' = (1 - dt * g) * h + dt * g * (beta * u + alpha * a * z)\n"
     "every W @ h and U @ x with a bias of its own: + W1.bias\n"
     "several delays: a z and an a each, alpha * a_1 * z_1 + alpha * a_2 * z_2 + ..., of W2_1, U2_1, W4_1, "
     "...\n"
     "a delay that is trained: z of h[-tau], tau between 1 and max steps\n"
     "form code: z and a of h[-(tau - 1)] and of x tau steps before, zeros up to step tau",
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
     "layers of them; in training each gives y' times a mask of dropout\n"
     "residual stacking: from layer S + 1 up V @ x + V.bias + Lambda @ y, y of the layer S + 1 below",
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
    {"lipschitz_rnn", "residual network of bounded Lipschitz constant", "Lipschitz Recurrent Neural Networks",
     "A = (1 - beta) * (M_A + M_A.T) + beta * (M_A - M_A.T) - gamma * eye(units), W of M_W likewise\n"
     "h' = h + epsilon * (alpha * (A @ h) + tanh(W @ h + U @ x + U.bias))",
     read<LipschitzRnn>},
    {"noisy_rnn", "Lipschitz network with noise in training and learnt time steps",
     "Noisy Recurrent Neural Networks",
     "A = (1 - beta) * (M_A + M_A.T) + beta * (M_A - M_A.T) - gamma_a * eye(units), W of M_W with gamma_w\n"
     "m = 1 - multiplicative * uniform(units), a = additive * normal(units); in evaluation m = 1, a = 0\n"
     "h' = h + d * m * (A @ h + tanh(W @ h + U @ x + U.bias)) + a",
     read<NoisyRnn>},
    {"antisymmetric_rnn", "residual network at the edge of stability",
     "AntisymmetricRNN: A Dynamical System View on Recurrent Neural Networks",
     "A = W - W.T - gamma * eye(units), W strictly upper triangular; in the form residual A = W, any matrix\n"
     "s = sigmoid(A @ h + Uz @ x + Uz.bias) in the form gated, else 1\n"
     "h' = h + epsilon * s * tanh(A @ h + U @ x + U.bias)",
     read<AntisymmetricRnn>},
    {"indrnn", "independently recurrent units",
     "Independently Recurrent Neural Network (IndRNN): Building A Longer and Deeper RNN",
     "w_clipped = minimum(maximum(w, -r), r), r = 2^(1 / longest)\n"
     "h' = relu(W @ x + W.bias + w_clipped * h)",
     read<IndRnn>},
    {"fast_rnn", "plain network with a weighted residual connection",
     "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network",
     "h' = sigmoid(beta) * h + sigmoid(alpha) * activation(W @ x + U @ h + b)\n"
     "with ranks W = W1 @ W2, U = U1 @ U2",
     read<FastRnn>},
    {"fast_grnn", "gated network whose gate and candidate share their matrices",
     "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network",
     "p = W @ x + U @ h\n"
     "g = gate(p + b_g)\n"
     "c = update(p + b_u)\n"
     "h' = g * h + (sigmoid(zeta) * (1 - g) + sigmoid(nu)) * c\n"
     "with ranks W = W1 @ W2, U = U1 @ U2",
     read<FastGrnn>},
    {"incremental_rnn", "network that goes towards an equilibrium in every step (iRNN)",
     "RNNs Incrementally Evolving on an Equilibrium Manifold: A Panacea for Vanishing and Exploding "
     "Gradients?",
     "v = 0, then inner_steps times\n"
     "v = v + eta_i * (activation(U @ (v + h) + W @ x + W.bias) - alpha * (v + h))\n"
     "h' = v",
     read<IncrementalRnn>},
    {"tarnn", "network that solves a differential equation with trained time constants in every step",
     "Time Adaptive Recurrent Neural Network",
     "r = U2 @ h + U2.bias + W1 @ x + W1.bias + W2 @ x[-1]; x before the first is the first\n"
     "s = sigmoid(Ug @ h + Wg @ x + Wg.bias)\n"
     "F = activation(U1 @ q + r) - q - h + (B1 @ x + B2 @ h), q = h, then inner_steps times\n"
     "q = (1 - Ak[n]) * q + Ak[n] * F, with the gate inside q = q + Ak[n] * s * F\n"
     "h' = (1 - s) * h + s * q, with the gate inside h' = q",
     read<Tarnn>},
    {"exp_rnn", "network with an orthogonal matrix, the exponential of a skew-symmetric one",
     "Cheap Orthogonal Constraints in Neural Networks: A Simple Parametrization of the Orthogonal and "
     "Unitary "
     "Group",
     "Q = expm(S - S.T), S strictly upper triangular\n"
     "u = Q @ h + V @ x\n"
     "h' = sign(u) * relu(abs(u) + b)",
     read<ExpRnn>},
    {"sru", "simple recurrent unit: gates with peepholes, a highway, no recurrent matrix",
     "Simple Recurrent Units for Highly Parallelizable Recurrence",
     "f = sigmoid(W_f @ x + W_f.bias + v_f * c)\n"
     "r = sigmoid(W_r @ x + W_r.bias + v_r * c)\n"
     "c' = f * c + (1 - f) * (W @ x)\n"
     "y = r * c' + (1 - r) * skip, skip = sqrt(1 + 2 * exp(highway_bias)) * x, or W_s @ x where the widths "
     "differ",
     read<Sru>},
    {"s4d", "block of diagonal linear state spaces, gated, with residual connection and layer norm",
     "On the Parameterization and Initialization of Diagonal State Space Models",
     "E = exp(A * dt), A = -exp(log_A) + 1j * A_imag, dt = exp(log_dt); K = 2 * C * (E - 1) / A\n"
     "s' = E * s + x\n"
     "g = gelu(real(sum(K * s')) + D * x)\n"
     "r = x + (W1 @ g + W1.bias) * sigmoid(W2 @ g + W2.bias)\n"
     "y = scale * (r - mean(r)) / sqrt(var(r) + 1e-5) + shift",
     read<S4d>},
    {"lmu", "Legendre memory of the last theta steps, written and read by a nonlinear state",
     "Legendre Memory Units: Continuous-Time Representation in Recurrent Neural Networks",
     "u = sum(e_x * x) + sum(e_h * h) + sum(e_m * m)\n"
     "m' = A @ m + B * u, A and B fixed: the window of length theta in Legendre polynomials\n"
     "h' = tanh(W_x @ x + W_h @ h + W_m @ m')",
     read<Lmu>},
    {"dilated", "layers of any cell whose step before is d steps back", "Dilated Recurrent Neural Networks",
     "h' = F(h[-(d - 1)], x), F the cell's step and d the layer's dilation\n"
     "a layer for each of the dilations, from the input up",
     nullptr, false, read_dilated},
};

constexpr LayerEntry kPerStepLayers[] = {
    {"linear", "affine map of every step", "", "y = W @ x + W.bias", read_own<Linear>},
    {"dropout", "elements left out at random in training", "Srivastava et al. 2014; Gal and Ghahramani 2016",
     "y = x * mask(rate)", read_own<Dropout>},
    {"layer_norm", "elements of every step brought to mean 0 and variance 1", "Ba, Kiros and Hinton 2016",
     "y = gain * (x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + eps) + bias", read_per_step<LayerNorm>},
};

constexpr LayerEntry kSequenceLayers[] = {
    {"embedding", "a trained vector for each token; the first layer of a model whose data are tokens",
     "rows left out: A Theoretically Grounded Application of Dropout in Recurrent Neural Networks",
     "y = E[x], zeros after a sequence's end\n"
     "in training E[i] * mask(dropout), one mask for a batch; E[padding] = 0 always",
     read_per_step<Embedding>, true},
    {"batch_norm", "features brought to mean 0 and variance 1 over a batch, in evaluation by running ones",
     "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
     "y = gain * (x - m) / sqrt(v + eps) + bias\n"
     "in training m, v: mean and variance of each feature over the batch, all steps of its sequences\n"
     "mean' = (1 - momentum) * mean + momentum * m, variance' likewise of v * count / (count - 1)\n"
     "in evaluation m = mean, v = variance",
     read_per_step<BatchNorm>},
    {"bidirectional", "a cell from the first step to the last, and one from the last to the first",
     "Bidirectional Recurrent Neural Networks (Schuster and Paliwal 1997)",
     "y[n] = merge(forward[n], backward[n]), backward from a sequence's own last step\n"
     "read out at the last step L - 1: merge(forward[L - 1], backward[0])\n"
     "parameters 0.W of the forward cell, 1.W of the backward one",
     nullptr, false, read_bidirectional},
};

}  // namespace

std::span<const LayerEntry> cells() { return kCells; }
std::span<const LayerEntry> per_step_layers() { return kPerStepLayers; }
std::span<const LayerEntry> sequence_layers() { return kSequenceLayers; }

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
  if (entry.read_around) {
    entry.read_around(reader, [](JsonReader& around, const std::string& key) {
      around.raw(key, "the layer inside, as \"layers\" has them", "object", "");
      return BuildLayer();
    });
  } else {
    entry.read(reader);
  }
  return reader.documentation();
}

}  // namespace lagtape
