#include "lagtape/core/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"

namespace lagtape {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Function = std::function<Var(Tape&, std::span<const Var>)>;

std::vector<Var> variables(Tape& tape, const std::vector<Tensor>& inputs) {
  std::vector<Var> vars;
  for (const Tensor& input : inputs) vars.push_back(tape.variable(input));
  return vars;
}

// Every evaluation gets a fresh tape, so nothing leaks from one into the next.
double evaluate(const Function& f, const std::vector<Tensor>& inputs) {
  Tape tape;
  return f(tape, variables(tape, inputs)).value().item();
}

std::vector<Tensor> analytic_gradients(const Function& f, const std::vector<Tensor>& inputs) {
  Tape tape;
  const std::vector<Var> vars = variables(tape, inputs);
  tape.backward(f(tape, vars));
  std::vector<Tensor> gradients;
  for (const Var& var : vars) gradients.push_back(var.grad());
  return gradients;
}

// d/ds f(x + s v) at s = 0 where `move(s)` puts x + s v into the inputs. The error is O(step^4).
template <class Move>
double central_difference(const Function& f, const std::vector<Tensor>& inputs, double step,
                          const Move& move) {
  const auto at = [&](double s) {
    move(s);
    return evaluate(f, inputs);
  };
  const double far = at(2 * step) - at(-2 * step), near = at(step) - at(-step);
  move(0);
  return (8 * near - far) / (12 * step);
}

struct Comparison {
  std::string place;
  double analytic, numeric;
};

std::vector<Comparison> compare_elements(const Function& f, std::vector<Tensor>& inputs, std::size_t input,
                                         std::span<const double> gradient,
                                         const GradientCheckOptions& options) {
  const std::span<double> x = inputs[input].values<double>();
  RandomStream stream(options.seed, stream_name({input, 0}));
  std::vector<std::int64_t> chosen = permutation(static_cast<std::int64_t>(x.size()), stream);
  chosen.resize(std::min<std::size_t>(chosen.size(), std::max(options.elements, 0)));
  std::ranges::sort(chosen);

  std::vector<Comparison> comparisons;
  for (std::int64_t i : chosen) {
    const double start = x[i];
    const double numeric = central_difference(f, inputs, options.step, [&](double s) { x[i] = start + s; });
    comparisons.push_back({text_of("input ", input, " [", i, "]"), gradient[i], numeric});
  }
  return comparisons;
}

// The directions have random signs, so that an error in one element is not diluted by the number of elements.
Comparison compare_projection(const Function& f, std::vector<Tensor>& inputs, std::size_t input,
                              std::span<const double> gradient, const GradientCheckOptions& options, int k) {
  const std::span<double> x = inputs[input].values<double>();
  const std::vector<double> start(x.begin(), x.end());
  const RandomStream stream(options.seed, stream_name({input, 1, static_cast<std::uint64_t>(k)}));
  const auto sign = [&](std::size_t i) { return stream.bits_at(i) >> 31 ? 1.0 : -1.0; };

  const double numeric = central_difference(f, inputs, options.step, [&](double s) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = start[i] + s * sign(i);
  });
  double analytic = 0;
  for (std::size_t i = 0; i < x.size(); ++i) analytic += sign(i) * gradient[i];
  return {text_of("projection ", k, " of input ", input), analytic, numeric};
}

void note(GradientReport& report, const Comparison& comparison, double scale) {
  double error = std::abs(comparison.analytic - comparison.numeric) / scale;
  if (!std::isfinite(error) || !std::isfinite(scale)) error = kInfinity;
  ++report.compared;
  if (error <= report.max_rel_error && !report.worst.empty()) return;
  report.max_rel_error = error;
  report.worst = text_of(std::setprecision(10), comparison.place, ": analytic ", comparison.analytic,
                         ", numeric ", comparison.numeric);
}

}  // namespace

GradientReport check_gradients(const Function& f, std::span<const Tensor> inputs,
                               const GradientCheckOptions& options) {
  std::vector<Tensor> x;
  for (const Tensor& input : inputs) {
    if (input.empty() || input.dtype() != Dtype::f64) {
      throw InputError({.op = "check_gradients"}, Rule::wrong_type, "inputs are f64",
                       text_of(name_of(input.dtype()), " ", to_string(input.shape())));
    }
    x.push_back(input.clone());
  }

  GradientReport report;
  const std::vector<Tensor> gradients = analytic_gradients(f, x);
  for (std::size_t input = 0; input < x.size(); ++input) {
    const std::span<const double> gradient = gradients[input].values<double>();
    std::vector<Comparison> comparisons = compare_elements(f, x, input, gradient, options);
    // Numeric entries count too, so that a rule that returns zeros is wrong by the whole gradient.
    double scale = 0;
    const auto widen = [&](double x) { scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : kInfinity; };
    for (double g : gradient) widen(g);
    for (const Comparison& comparison : comparisons) widen(comparison.numeric);
    for (int k = 0; k < options.projections && !gradient.empty(); ++k) {
      comparisons.push_back(compare_projection(f, x, input, gradient, options, k));
      widen(comparisons.back().numeric / std::sqrt(gradient.size()));
    }
    if (scale <= options.floor) scale = 1;
    for (const Comparison& comparison : comparisons) note(report, comparison, scale);
  }
  return report;
}

}  // namespace lagtape
