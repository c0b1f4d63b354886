#include "lagtape/tools/exchange/import/step_functions.h"

#include <cmath>
#include <numbers>

namespace lagtape::foreign {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;

}  // namespace

int clipped(StepGraph& g, int a, double least, double most) {
  if (least > -3e38) a = g.element("maximum", a, g.number(least));
  return most < 3e38 ? g.element("minimum", a, g.number(most)) : a;
}

int leaky_relu(StepGraph& g, int a, double slope) {
  const int below = g.element("minimum", a, g.number(0));
  return g.element("+", g.element("relu", a), g.scaled(below, slope));
}

int exponential_unit(StepGraph& g, int a, double alpha, double beta, double scale) {
  const int below = g.element("minimum", a, g.number(0));
  const int bent = g.shifted(g.element("exp", beta == 1 ? below : g.scaled(below, 1 / beta)), -1);
  const int sum = g.element("+", g.element("relu", a), alpha == 1 ? bent : g.scaled(bent, alpha));
  return scale == 1 ? sum : g.scaled(sum, scale);
}

int gelu(StepGraph& g, int a, bool by_tanh) {
  int inside = 0;
  if (by_tanh) {
    const int cube = g.element("*", g.element("*", a, a), a);
    inside = g.element(
        "tanh", g.scaled(g.element("+", a, g.scaled(cube, 0.044715)), std::sqrt(2 / std::numbers::pi)));
  } else {
    inside = g.element("erf", g.scaled(a, std::numbers::sqrt2 / 2));
  }
  return g.element("*", g.scaled(a, 0.5), g.shifted(inside, 1));
}

int extreme(StepGraph& g, const std::string& function, int a) {
  while (g.width(a) > 1) {  // by halves
    const std::int64_t half = (g.width(a) + 1) / 2;
    a = g.element(function, g.slice(a, 0, half), g.slice(a, g.width(a) - half, half));
  }
  return a;
}

int softmax(StepGraph& g, int a, bool is_logarithm) {
  const int centered = g.element("-", a, extreme(g, "maximum", a));
  const int powers = g.element("exp", centered),
            total = g.add({.kind = StepKind::sum, .inputs = {powers}, .width = 1});
  return is_logarithm ? g.element("-", centered, g.element("log", total)) : g.element("/", powers, total);
}

const std::map<std::string, StepFunction>& keras_functions() {
  using G = StepGraph&;
  static const std::map<std::string, StepFunction> all = {
      {"linear", [](G, int a) { return a; }},
      {"tanh", [](G g, int a) { return g.element("tanh", a); }},
      {"sigmoid", [](G g, int a) { return g.element("sigmoid", a); }},
      {"relu", [](G g, int a) { return g.element("relu", a); }},
      {"softplus", [](G g, int a) { return g.element("softplus", a); }},
      {"exponential", [](G g, int a) { return g.element("exp", a); }},
      {"softsign", [](G g, int a) { return g.element("/", a, g.shifted(g.element("abs", a), 1)); }},
      {"relu6", [](G g, int a) { return clipped(g, a, 0, 6); }},
      {"hard_sigmoid", [](G g, int a) { return clipped(g, g.shifted(g.scaled(a, 1.0 / 6), 0.5), 0, 1); }},
      {"hard_tanh", [](G g, int a) { return clipped(g, a, -1, 1); }},
      {"elu", [](G g, int a) { return exponential_unit(g, a, 1, 1, 1); }},
      {"selu", [](G g, int a) { return exponential_unit(g, a, kSeluAlpha, 1, kSeluScale); }},
      {"celu", [](G g, int a) { return exponential_unit(g, a, 1, 1, 1); }},
      {"leaky_relu", [](G g, int a) { return leaky_relu(g, a, 0.2); }},
      {"gelu", [](G g, int a) { return gelu(g, a, false); }},
      {"silu", [](G g, int a) { return g.element("*", a, g.element("sigmoid", a)); }},
      {"swish", [](G g, int a) { return g.element("*", a, g.element("sigmoid", a)); }},
      {"mish", [](G g, int a) { return g.element("*", a, g.element("tanh", g.element("softplus", a))); }},
      {"softmax", [](G g, int a) { return softmax(g, a, false); }},
      {"log_softmax", [](G g, int a) { return softmax(g, a, true); }},
  };
  return all;
}

}  // namespace lagtape::foreign
