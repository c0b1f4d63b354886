#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/random.h"
#include "lagtape/tests/cells/support/evaluate.h"

namespace lagtape {
namespace {

// ---- Numbers of parameters: PROTOCOLS, section 2 ----

std::int64_t with_readout(const Layer& layer, std::int64_t units, std::int64_t outputs) {
  return layer.parameter_count() + Linear{outputs}.build(units).parameter_count();
}

TEST_CASE("numbers of parameters are those of the papers") {
  CHECK(with_readout(TauGru{.units = 16, .tau = 20}.build(1), 16, 1) == 1233);
  CHECK(with_readout(TauGru{.units = 16, .tau = 20, .alpha = 0}.build(1), 16, 1) == 625);
  CHECK(with_readout(TauGru{.units = 16, .tau = 20, .beta = 0}.build(1), 16, 1) == 929);
  CHECK(with_readout(TauGru{.units = 16, .tau = 20, .weighting = false}.build(1), 16, 1) == 929);
  CHECK(with_readout(TauGru{.units = 16, .tau = 20, .gating = false}.build(1), 16, 1) == 929);
  CHECK(with_readout(TauGru{.units = 128, .tau = 65}.build(1), 128, 10) == 68362);
  CHECK(with_readout(TauGru{.units = 128, .tau = 65}.build(3), 128, 10) == 69386);
  CHECK(with_readout(TauGru{.units = 64, .tau = 9}.build(9), 64, 1) == 19265);
  CHECK(with_readout(DelayGru{16, 20}.build(1), 16, 1) == 897);
  CHECK(with_readout(DelayGru{128, 65}.build(1), 128, 10) == 51338);
  CHECK(with_readout(Lem{.units = 16}.build(1), 16, 1) == 1233);
  CHECK(with_readout(Lem{.units = 16, .multiscale = false}.build(1), 16, 1) == 625);
  CHECK(with_readout(Lem{.units = 32}.build(6), 32, 5) == 5285);
  CHECK(with_readout(Lstm{16}.build(1), 16, 1) == 1233);
  CHECK(with_readout(Lstm{256}.build(1), 256, 10) == 267786);
}

std::string names_of(const Layer& layer) {
  std::string names;
  for (const ParameterDefinition& parameter : layer.parameters) {
    names += concat(parameter.name, to_string(parameter.shape), " ");
  }
  return names;
}

TEST_CASE("parameters have the names and the order of the papers") {
  CHECK(names_of(TauGru{.units = 4, .tau = 1}.build(2)) ==
        "W1[4, 4] W1.bias[4] U1[4, 2] U1.bias[4] W2[4, 4] W2.bias[4] U2[4, 2] U2.bias[4] "
        "W3[4, 4] W3.bias[4] U3[4, 2] U3.bias[4] W4[4, 4] W4.bias[4] U4[4, 2] U4.bias[4] ");
  CHECK(names_of(TauGru{.units = 4, .alpha = 0, .gating = false}.build(2)) ==
        "W1[4, 4] W1.bias[4] U1[4, 2] U1.bias[4] ");
  CHECK(names_of(DelayGru{4, 1}.build(2)) ==
        "W1[4, 4] W1.bias[4] W2[4, 4] W2.bias[4] U[4, 2] U.bias[4] W3[4, 4] W3.bias[4] U3[4, 2] U3.bias[4] ");
  CHECK(names_of(Lstm{4}.build(2)) ==
        "W_i[4, 4] W_i.bias[4] U_i[4, 2] U_i.bias[4] W_f[4, 4] W_f.bias[4] U_f[4, 2] U_f.bias[4] "
        "W_g[4, 4] W_g.bias[4] U_g[4, 2] U_g.bias[4] W_o[4, 4] W_o.bias[4] U_o[4, 2] U_o.bias[4] ");
  CHECK(names_of(Lem{.units = 4}.build(2)) ==
        "W1[4, 4] W1.bias[4] V1[4, 2] V1.bias[4] W2[4, 4] W2.bias[4] V2[4, 2] V2.bias[4] "
        "Wz[4, 4] Wz.bias[4] Vz[4, 2] Vz.bias[4] Wy[4, 4] Wy.bias[4] Vy[4, 2] Vy.bias[4] ");
  CHECK(names_of(Lem{.units = 4, .multiscale = false}.build(2)) ==
        "Wz[4, 4] Wz.bias[4] Vz[4, 2] Vz.bias[4] Wy[4, 4] Wy.bias[4] Vy[4, 2] Vy.bias[4] ");
  CHECK(names_of(Linear{4}.build(2)) == "W[4, 2] W.bias[4] ");
}

TEST_CASE("every parameter is a weight of the step, of the same shape") {
  for (const Layer& layer : {TauGru{.units = 4, .tau = 3}.build(2), DelayGru{4, 1}.build(2),
                             Lem{.units = 4}.build(2), Lstm{4}.build(2)}) {
    CHECK(layer.program.weights.size() == layer.parameters.size());
    for (const WeightDefinition& weight : layer.program.weights) {
      const auto parameter = std::ranges::find(layer.parameters, weight.name, &ParameterDefinition::name);
      REQUIRE(parameter != layer.parameters.end());
      CHECK(parameter->shape == weight.shape);
      CHECK(parameter->initializer == Initializer::uniform(-0.5, 0.5));
    }
  }
}

TEST_CASE("a linear map starts from its own width") {
  CHECK(Linear{3}.build(4).parameters[0].initializer == Initializer::uniform(-0.5, 0.5));
  CHECK(Linear{3, "kaiming_normal"}.build(4).parameters[0].initializer == Initializer::kaiming_normal());
  CHECK(Linear{3, "kaiming_normal"}.build(4).parameters[1].initializer == Initializer::uniform(-0.5, 0.5));
}

// ---- Values: each cell against its equations, unit by unit ----

Vector weight_of(const std::string& name, std::int64_t count) {
  std::uint64_t letters = 0;
  for (const char c : name) letters = letters * 131 + static_cast<unsigned char>(c);
  const RandomStream stream(7, letters);
  Vector values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = 2 * stream.uniform_at(i) - 1;
  return values;
}

constexpr int kUnits = 3, kInput = 2, kSteps = 12;

std::vector<Vector> sequence() {
  std::vector<Vector> x(kSteps);
  for (int n = 0; n < kSteps; ++n) x[n] = {std::sin(0.7 * n), std::cos(1.3 * n)};
  return x;
}

std::vector<Vector> run(const Layer& layer) {
  const auto weight = [&](const std::string& name) {
    const auto definition = std::ranges::find(layer.program.weights, name, &WeightDefinition::name);
    return weight_of(name, element_count(definition->shape));
  };
  return evaluate(layer.program, weight, sequence());
}

/// (W v + b) of one unit.
double affine(const std::string& name, const Vector& v, int unit) {
  const Vector W = weight_of(name, kUnits * v.size());
  double sum = weight_of(name + ".bias", kUnits)[unit];
  for (std::size_t k = 0; k < v.size(); ++k) sum += W[unit * v.size() + k] * v[k];
  return sum;
}

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Runs h[n+1] = step(h[n], h[n-lag], x[n]) unit by unit.
template <class Step>
std::vector<Vector> expected(int lag, Step step) {
  std::vector<Vector> h = {Vector(kUnits)};
  const std::vector<Vector> x = sequence();
  for (int n = 0; n < kSteps; ++n) {
    Vector next(kUnits);
    const Vector past = n >= lag ? h[n - lag] : Vector(kUnits);
    for (int i = 0; i < kUnits; ++i) next[i] = step(h[n], past, x[n], i);
    h.push_back(next);
  }
  h.erase(h.begin());
  return h;
}

void check_equal(const std::vector<Vector>& got, const std::vector<Vector>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t n = 0; n < got.size(); ++n) {
    for (std::size_t i = 0; i < got[n].size(); ++i) {
      CAPTURE(n);
      CHECK(std::abs(wanted[n][i]) > 1e-4);
      CHECK(got[n][i] == doctest::Approx(wanted[n][i]).epsilon(1e-12));
    }
  }
}

std::vector<Vector> tau_gru_by_hand(int lag, double dt, double alpha, double beta, bool weighting,
                                    bool gating) {
  return expected(lag, [=](const Vector& h, const Vector& past, const Vector& x, int i) {
    const double u = std::tanh(affine("W1", h, i) + affine("U1", x, i));
    const double z = std::tanh(affine("W2", past, i) + affine("U2", x, i));
    const double g = gating ? sigmoid(affine("W3", h, i) + affine("U3", x, i)) : 1;
    const double a = weighting ? sigmoid(affine("W4", h, i) + affine("U4", x, i)) : 1;
    return h[i] + dt * g * (beta * u + alpha * a * z - h[i]);
  });
}

TEST_CASE("tau_gru computes the paper's equations") {
  check_equal(run(TauGru{.units = 3, .tau = 4}.build(2)), tau_gru_by_hand(4, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 0}.build(2)), tau_gru_by_hand(0, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 2, .dt = 0.4, .alpha = 0.7, .beta = -1.5}.build(2)),
              tau_gru_by_hand(5, 0.4, 0.7, -1.5, true, true));
}

TEST_CASE("the ablations of tau_gru compute theirs") {
  check_equal(run(TauGru{.units = 3, .tau = 4, .alpha = 0}.build(2)),
              tau_gru_by_hand(4, 1, 0, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .beta = 0}.build(2)), tau_gru_by_hand(4, 1, 1, 0, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .weighting = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, false, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .gating = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, true, false));
  check_equal(run(TauGru{.units = 3, .tau = 4, .dt = 0.5, .gating = false}.build(2)),
              tau_gru_by_hand(8, 0.5, 1, 1, true, false));
}

TEST_CASE("the lag of tau_gru is floor(tau / dt)") {
  const auto lag = [](double tau, double dt) {
    return TauGru{.units = 2, .tau = tau, .dt = dt}.build(1).program.largest_lag();
  };
  CHECK(lag(20, 1) == 20);
  CHECK(lag(2.9, 1) == 2);
  CHECK(lag(0.9, 1) == 0);
  CHECK(lag(5, 0.3) == 16);
  CHECK(lag(0.3, 0.1) == 3);  // 2.9999999999999996 in doubles
}

TEST_CASE("delay_gru computes Equation 12") {
  check_equal(run(DelayGru{3, 4}.build(2)),
              expected(4, [](const auto& h, const auto& past, const auto& x, int i) {
                const double g = sigmoid(affine("W3", h, i) + affine("U3", x, i));
                const double v = std::tanh(affine("W1", h, i) + affine("W2", past, i) + affine("U", x, i));
                return (1 - g) * h[i] + g * v;
              }));
}

TEST_CASE("lstm computes its equations") {
  Vector c(kUnits);
  check_equal(run(Lstm{3}.build(2)), expected(0, [&](const auto& h, const auto&, const auto& x, int unit) {
                const auto gate = [&](const std::string& name) {
                  return affine("W_" + name, h, unit) + affine("U_" + name, x, unit);
                };
                c[unit] = sigmoid(gate("f")) * c[unit] + sigmoid(gate("i")) * std::tanh(gate("g"));
                return sigmoid(gate("o")) * std::tanh(c[unit]);
              }));
}

std::vector<Vector> lem_by_hand(double dt, bool multiscale, double smallest, double largest) {
  std::vector<Vector> outputs;
  Vector z(kUnits), y(kUnits);
  for (const Vector& x : sequence()) {
    const auto activation = [&](const std::string& i, const Vector& from, int unit) {
      return affine("W" + i, from, unit) + affine("V" + i, x, unit);
    };
    const auto scale = [&](const std::string& i, int unit) {
      return multiscale ? std::clamp(dt * sigmoid(activation(i, y, unit)), smallest, largest) : dt;
    };
    Vector z_next(kUnits), y_next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double dz = scale("1", i);
      z_next[i] = (1 - dz) * z[i] + dz * std::tanh(activation("z", y, i));
    }
    for (int i = 0; i < kUnits; ++i) {
      const double dy = scale("2", i);
      y_next[i] = (1 - dy) * y[i] + dy * std::tanh(activation("y", z_next, i));
    }
    z = z_next;
    y = y_next;
    outputs.push_back(y);
  }
  return outputs;
}

TEST_CASE("lem computes the paper's equations, with one time scale and with clipped ones too") {
  check_equal(run(Lem{.units = 3}.build(2)), lem_by_hand(1, true, 0, 1));
  check_equal(run(Lem{.units = 3, .dt = 1.9}.build(2)), lem_by_hand(1.9, true, 0, 1.9));
  check_equal(run(Lem{.units = 3, .dt = 0.3, .multiscale = false}.build(2)), lem_by_hand(0.3, false, 0, 0));
  check_equal(run(Lem{.units = 3, .dt = 1.9, .smallest_scale = 0.75}.build(2)),
              lem_by_hand(1.9, true, 0.75, 1));
}

TEST_CASE("chrono starts all biases of lem from zero but that of the slow state's scale") {
  for (const ParameterDefinition& parameter : Lem{.units = 4, .dt = 0.5, .chrono = 100}.build(2).parameters) {
    const bool is_bias = parameter.name.ends_with(".bias");
    CHECK(parameter.initializer == (parameter.name == "W1.bias" ? Initializer::log_uniform(-1, 49)
                                    : is_bias                   ? Initializer::constant(0)
                                                                : Initializer::uniform(-0.5, 0.5)));
  }
}

// ---- Equations: the same cell written by a user is the same program ----

Layer from_equations(const std::string& json, std::int64_t units, std::int64_t input) {
  JsonErrors errors;
  const Json value = parse_json(json, "test");
  JsonReader reader(value, "/cells/mine", errors);
  const CellDefinition definition = read_cell_definition(reader);
  errors.raise("test");
  return definition.build(units, input);
}

/// A pair of weights W NAME, U NAME and their biases, as JSON.
std::string weights_json(const std::vector<std::string>& of_state, const std::vector<std::string>& of_input) {
  std::string json;
  const auto add = [&](const std::string& name, const std::string& from) {
    json += concat(json.empty() ? "" : ", ", '"', name, R"(": ["units", ")", from, R"("], ")", name,
                   R"(.bias": ["units"])");
  };
  for (const std::string& name : of_state) add(name, "units");
  for (const std::string& name : of_input) add(name, "input");
  return "{" + json + "}";
}

TEST_CASE("a built-in cell and its equations are the same program, line for line") {
  const std::string tau_gru = R"json({
    "hyper": {"tau": 20, "alpha": 1.0},
    "weights": )json" + weights_json({"W1", "W2", "W3", "W4"}, {"U1", "U2", "U3", "U4"}) +
                              R"json(,
    "state": {"h": "units"},
    "step": ["u = tanh((W1 @ h + W1.bias) + (U1 @ x + U1.bias))",
             "z = tanh((W2 @ h[-tau] + W2.bias) + (U2 @ x + U2.bias))",
             "g = sigmoid((W3 @ h + W3.bias) + (U3 @ x + U3.bias))",
             "a = sigmoid((W4 @ h + W4.bias) + (U4 @ x + U4.bias))",
             "h' = (1 - g) * h + g * (u + alpha * a * z)"],
    "output": "h'"})json";
  CHECK(to_string(from_equations(tau_gru, 16, 1).program) ==
        to_string(TauGru{.units = 16, .tau = 20}.build(1).program));

  const std::string delay_gru = R"json({
    "hyper": {"tau": 20},
    "weights": )json" + weights_json({"W1", "W2", "W3"}, {"U", "U3"}) +
                                R"json(,
    "state": {"h": "units"},
    "step": ["g = sigmoid((W3 @ h + W3.bias) + (U3 @ x + U3.bias))",
             "u = tanh((W1 @ h + W1.bias) + (W2 @ h[-tau] + W2.bias) + (U @ x + U.bias))",
             "h' = (1 - g) * h + g * u"],
    "output": "h'"
  })json";
  CHECK(to_string(from_equations(delay_gru, 16, 3).program) == to_string(DelayGru{16, 20}.build(3).program));

  const std::string lstm = R"json({
    "weights": )json" + weights_json({"W_i", "W_f", "W_g", "W_o"}, {"U_i", "U_f", "U_g", "U_o"}) +
                           R"json(,
    "state": {"h": "units", "c": ["units"]},
    "step": ["i = sigmoid((W_i @ h + W_i.bias) + (U_i @ x + U_i.bias))",
             "f = sigmoid((W_f @ h + W_f.bias) + (U_f @ x + U_f.bias))",
             "g = tanh((W_g @ h + W_g.bias) + (U_g @ x + U_g.bias))",
             "o = sigmoid((W_o @ h + W_o.bias) + (U_o @ x + U_o.bias))",
             "c' = f * c + i * g",
             "h' = o * tanh(c')"],
    "output": "h'"
  })json";
  CHECK(to_string(from_equations(lstm, 16, 2).program) == to_string(Lstm{16}.build(2).program));
}

TEST_CASE("weights of equations start from the cell's width, a lag from its middle, and as init says") {
  const Layer layer = from_equations(R"json({
    "weights": {"W": ["units", "units"], "b": "units", "theta": []},
    "init": {"b": "zeros"},
    "lags": {"theta": 63},
    "state": {"h": "units"},
    "step": ["h' = tanh(W @ h[-theta] + b) + sum(x)"],
    "output": "h'"})json",
                                     4, 1);
  REQUIRE(layer.parameters.size() == 3);
  CHECK(layer.parameters[0].initializer == Initializer::uniform(-0.5, 0.5));
  CHECK(layer.parameters[1].initializer == Initializer::constant(0));
  CHECK(layer.parameters[2].initializer == Initializer::constant(32));
  CHECK(layer.parameters[2].shape == Shape{});
}

}  // namespace
}  // namespace lagtape
