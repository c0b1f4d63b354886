#include "lagtape/tools/analysis/bounds.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// A weight of the step by its name; null where the cell's options leave it out.
const Tensor* weight(const BoundedLayer& layer, const std::string& name) {
  for (std::size_t i = 0; i < layer.program.weights.size(); ++i)
    if (layer.program.weights[i].name == name) return &layer.weights[i];
  return nullptr;
}

/// The largest sum of absolute values in a row; 0 without the weight.
double row_sum_norm(const BoundedLayer& layer, const std::string& name) {
  const Tensor* w = weight(layer, name);
  if (!w) return 0;
  double norm = 0;
  for (std::int64_t i = 0; i < w->size(0); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < w->size(1); ++j) sum += std::abs(w->at(i * w->size(1) + j));
    norm = std::max(norm, sum);
  }
  return norm;
}

LayerBounds none(const std::string& why) {
  return {.jacobian_source = why, .jacobian = {}, .state_source = why, .states = {}};
}

/// factor^lag.
std::vector<double> powers(double factor, std::int64_t lags) {
  std::vector<double> result;
  for (std::int64_t lag = 0; lag < lags; ++lag) result.push_back(std::pow(factor, static_cast<double>(lag)));
  return result;
}

/// Lemma 1, and Proposition 3 with the recursion of all paths. The printed one leaves out those whose first step is
/// not through the delay.
LayerBounds bounds_of_tau_gru(const BoundedLayer& layer) {
  const Json& options = layer.options;
  const double dt = options["dt"].get<double>(), alpha = std::abs(options["alpha"].get<double>()),
               beta = std::abs(options["beta"].get<double>());
  if (options["form"] != "paper" || !options["tau"].is_number() || dt > 1)
    return none("none: it is proved for the form of the paper, one fixed delay and dt <= 1");
  const double gate = layer.smallest("g").value_or(options["gating"] == true ? 0 : 1),
               c = beta * row_sum_norm(layer, "W1") + (alpha + beta) / 2 * row_sum_norm(layer, "W3") +
                   alpha / 4 * row_sum_norm(layer, "W4"),
               p = 1 + dt * (c - gate), q = dt * alpha * row_sum_norm(layer, "W2");
  const std::int64_t m = layer.program.largest_lag();
  LayerBounds bounds;
  for (std::int64_t lag = 0; lag < layer.lags; ++lag) {
    const auto before = [&](std::int64_t steps) {
      return lag < steps ? 0.0 : bounds.jacobian[static_cast<std::size_t>(lag - steps)];
    };
    bounds.jacobian.push_back(lag == 0 ? 1 : p * before(1) + q * before(m + 1));
  }
  bounds.jacobian_source = text_of("Proposition 3, corrected: B[j] = ", p, " B[j-1] + ", q, " B[j-", m + 1,
                                   "], smallest gate ", gate);
  bounds.states = {alpha + beta};
  bounds.state_source = "Lemma 1: alpha + beta";
  return bounds;
}

/// Equation 33 and Proposition 4.1 of the LEM paper.
LayerBounds bounds_of_lem(const BoundedLayer& layer) {
  const double dt = layer.options["dt"].get<double>();
  if (dt > 1 || layer.options["smallest_scale"].get<double>() > 0)
    return none("none: it is proved for dt <= 1, without a smallest time scale");
  double eta = 0;
  for (const char* name : {"W1", "W2", "Wz", "Wy"}) eta = std::max(eta, row_sum_norm(layer, name));
  const double gamma = 2 * (1 + eta) * (1 + 3 * eta), t = dt * static_cast<double>(layer.length),
               state = std::min(1.0, (1 + dt) / std::sqrt(2 - dt) * std::sqrt(t));
  return {.jacobian_source = text_of("Equation 33: (1 + dt Gamma / 2)^lag, Gamma = ", gamma),
          .jacobian = powers(1 + gamma / 2 * dt, layer.lags),
          .state_source = "Proposition 4.1: min(1, (1 + dt) / sqrt(2 - dt) sqrt(n dt))",
          .states = {state, state}};
}

/// Proposition C.1 of the UnICORNN paper, and the rows of a step's Jacobian: [1, -s k] and [s, 1 - s^2 k] with
/// k <= |w| + alpha. No unit sees another.
LayerBounds bounds_of_unicornn(const BoundedLayer& layer) {
  const double alpha = layer.options["alpha"].get<double>();
  const Tensor &s = *weight(layer, "s"), &w = *weight(layer, "w");
  double factor = 1;
  for (std::int64_t i = 0; i < s.numel(); ++i) {
    const double k = std::abs(w.at(i)) + alpha;
    factor = std::max(factor, 1 + s.at(i) * std::max(k, 1 + s.at(i) * k));
  }
  LayerBounds bounds = {
      .jacobian_source = "rows of a step's Jacobian: (1 + max s max(k, 1 + s k))^lag, k = |w| + alpha",
      .jacobian = powers(factor, layer.lags),
      .state_source = "none is proved for alpha = 0",
      .states = {}};
  if (alpha == 0) return bounds;
  const Json& steps = layer.options["dt"];
  const double dt = steps.is_array() ? steps[static_cast<std::size_t>(layer.index_inside)].get<double>()
                                     : steps.get<double>(),
               beta = std::max(1 + 2 * alpha, 4 * alpha * alpha), t = dt * static_cast<double>(layer.length),
               energy = 1 + 2 * beta * t;
  bounds.states = {std::sqrt(2 * energy), std::sqrt(2 / alpha * energy)};
  bounds.state_source = text_of(
      "Proposition C.1: sqrt(2 (1 + 2 beta t)), for y over sqrt(alpha)",
      beta * t > 1.25 ? text_of("; its proof holds while beta t <= 1.25, here it is ", beta * t) : "");
  return bounds;
}

}  // namespace

LayerBounds bounds_of(const BoundedLayer& layer) {
  const Json cell = layer.options.value("cell", Json());
  const Json dilations = layer.options.value("dilations", Json::array());
  if (std::ranges::any_of(dilations, [](const Json& dilation) { return dilation != 1; }))
    return none("none: it is proved without dilations");
  if (cell == "tau_gru") return bounds_of_tau_gru(layer);
  if (cell == "lem") return bounds_of_lem(layer);
  if (cell == "unicornn") return bounds_of_unicornn(layer);
  return none("none: there are bounds for tau_gru, lem and unicornn");
}

}  // namespace lagtape
