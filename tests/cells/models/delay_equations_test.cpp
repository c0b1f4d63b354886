#include "lagtape/cells/models/delay_equations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/random.h"

namespace lagtape {
namespace {

/// Right sides at random, with 1 to 3 lags: constant, trained, of the time or of the state.
class RandomEquations {
 public:
  explicit RandomEquations(std::uint64_t seed) : random_(seed, 53) {}

  std::string text() {
    states_ = 1 + random_.next_below(2);
    lags_ = 1 + random_.next_below(3);
    std::string params = "\"a\": 0.8, \"b\": -0.6, \"c\": {\"start\": 0.4, \"min\": 0, \"max\": 2}", state,
                history, ode;
    for (std::uint64_t l = 0; l < lags_; ++l)
      params += text_of(
          ", \"r", l, "\": {\"start\": ", number(0.4, 1.6),
          ", \"min\": 0.2, \"max\": 3, \"train\": ", random_.next_below(3) > 0 ? "true" : "false", "}");
    for (std::uint64_t s = 0; s < states_; ++s) {
      const char* between = s > 0 ? ", " : "";
      state += text_of(between, "\"y", s, "\": 1");
      history += text_of(between, "\"y", s, "\": \"", s > 0 ? "b + 0.3 * t" : "cos(c * t) + a", "\"");
      ode += text_of(between, "\"dy", s, " = ", term(2), " + ", past(random_.next_below(lags_)), " * ",
                     coefficient(), " - 0.5 * y", s);
      for (std::uint64_t l = s; l < lags_; l += states_) ode += text_of(" + ", coefficient(), " * ", past(l));
      ode += " + a * b * c\"";
    }
    return "{\"params\": {" + params + "}, \"state\": {" + state + "}, \"history\": {" + history +
           "}, \"ode\": [" + ode + "], \"solver\": {\"method\": \"" + pick({"euler", "heun", "rk4"}) +
           "\", \"dense\": \"" + pick({"hermite", "hermite", "linear"}) + "\", \"breaks\": \"" +
           pick({"cut", "cut", "ignore"}) + "\", \"h\": " + step() + "}}";
  }

 private:
  double uniform(double low, double high) { return low + (high - low) * random_.next_uniform(); }
  std::string number(double low, double high) { return text_of(uniform(low, high)); }
  std::string pick(std::vector<std::string> of) { return of[random_.next_below(of.size())]; }
  std::string coefficient() { return pick({"a", "b", "c", "0.7"}); }
  std::string state() { return text_of("y", random_.next_below(states_)); }
  /// A step that no lag is a multiple of, so that small changes keep the order of the grid.
  std::string step() {
    if (random_.next_below(2) > 0) return number(0.11, 0.17);
    return "{\"lag\": \"r0\", \"parts\": " + text_of(8 + random_.next_below(5)) + "}";
  }
  std::string past(std::uint64_t l) {
    const std::string lag = text_of("r", l);
    switch (random_.next_below(6)) {
      case 0: return text_of("tanh(", state(), "(t - clamp(", lag, " + 0.2 * ", state(), " ^ 2, 0.2, 9)))");
      case 1: return text_of("sin(", state(), "(t - clamp(", lag, " + 0.1 * sin(t), 0.2, 9)))");
      case 2: return text_of("tanh(d", state(), "(t - ", lag, "))");
      default: return text_of("tanh(", state(), "(t - ", lag, "))");
    }
  }
  std::string term(int depth) {
    if (depth == 0) return pick({state(), past(random_.next_below(lags_)), "cos(t)", coefficient()});
    const std::string x = term(depth - 1);
    switch (random_.next_below(5)) {
      case 0: return text_of("tanh(", x, " + ", term(depth - 1), ")");
      case 1: return text_of("sin(", x, ") * ", term(depth - 1));
      case 2: return text_of(x, " / (1 + (", term(depth - 1), ") ^ 2)");
      case 3: return text_of(coefficient(), " * (", x, ")");
      default: return text_of("exp(-(", x, ") ^ 2)");
    }
  }

  RandomStream random_;
  std::uint64_t states_ = 1, lags_ = 1;
};

/// The largest difference between derivatives and differences of values, over the largest derivative.
double error_of(const std::string& text, const std::vector<double>& times, double step) {
  DelayEquations equations(text);
  const SolvedEquations exact = equations.solve(times, true);
  double largest = 1, error = 0;
  for (std::size_t p = 0; p < exact.params.size(); ++p) {
    const std::string& name = exact.params[p];
    const double at =
        std::ranges::find(equations.params(), name, &DelayEquations::Param::name)->values.front();
    const auto values = [&](double change) {
      DelayEquations other = equations;
      other.set(name, at + change);
      return other.solve(times, false);
    };
    const SolvedEquations below = values(-step), above = values(step), far_below = values(-2 * step),
                          far_above = values(2 * step);
    for (std::size_t s = 0; s < exact.states.size(); ++s)
      for (std::size_t t = 0; t < times.size(); ++t) {
        const double difference = (8 * (above.states[s].y[t] - below.states[s].y[t]) -
                                   (far_above.states[s].y[t] - far_below.states[s].y[t])) /
                                  (12 * step);
        largest = std::max(largest, std::abs(difference));
        error = std::max(error, std::abs(exact.states[s].d[p][t] - difference));
      }
  }
  return error / largest;
}

/// The derivatives by all params, weights and restarts beside differences. There are 2 states, and 16 numbers of params and
/// weights.
void check_derivatives(const std::string& text) {
  DelayEquations equations(text);
  equations.fit_weights();
  const std::vector<double> times = {0.95, 2.5};
  std::vector<DelayRestart> restarts = {{1.03, {0.2, -0.5}}, {1.9, {0.7, 0.1}}};
  const SolvedEquations exact = equations.solve(times, true, {}, restarts);
  REQUIRE(exact.params.size() == 1 + 6 + 3 + 6 + 4);
  REQUIRE(exact.gaps.size() == 4);
  for (std::size_t p = 0; p < exact.params.size(); ++p) {
    constexpr double kStep = 1e-5;
    const auto solved = [&](double change) {
      DelayEquations other = equations;
      std::vector<DelayRestart> moved = restarts;
      if (const std::size_t i = exact.params.size() - 1 - p; i < 4) {
        moved[i < 2 ? 1 : 0].states[1 - i % 2] += change;
      } else {
        std::size_t element = p;
        const DelayEquations::Param* param = equations.params().data();
        for (; element >= param->values.size(); ++param) element -= param->values.size();
        other.set(exact.params[p], param->values[element] + change);
      }
      return other.solve(times, false, {}, moved);
    };
    const SolvedEquations above = solved(kStep), below = solved(-kStep);
    INFO(exact.params[p]);
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t t = 0; t < times.size(); ++t)
        CHECK(exact.states[s].d[p][t] ==
              doctest::Approx((above.states[s].y[t] - below.states[s].y[t]) / (2 * kStep)).epsilon(1e-7));
    for (std::size_t g = 0; g < 4; ++g)
      CHECK(exact.gaps_d[p][g] ==
            doctest::Approx((above.gaps[g] - below.gaps[g]) / (2 * kStep)).epsilon(1e-7));
  }
}

TEST_CASE("Derivatives by the elements of weights and by restarts are those of the values") {
  check_derivatives(
      R"({"params": {"k": 0.4}, "state": {"y": 2}, "weights": {"W": [3, 2], "b": [3], "V": [2, 3]},
      "history": {"y": "k"}, "ode": ["dy = V @ tanh(W @ y(t - 0.7) + b) - k * y"], "solver": {"h": 0.1}})");
}

TEST_CASE("Weights that are functions of others are differentiated by those, and set again with them") {
  check_derivatives(
      R"json({"params": {"k": 0.4}, "state": {"y": 2}, "weights": {"W": [3, 2], "b": [3], "V": [2, 3]},
      "derived": {"A": "V @ W - k * eye(2)", "c": "tanh(b)"}, "history": {"y": "k"},
      "ode": ["dy = tanh(A @ y(t - 0.7)) - k * y + 0.1 * V @ c"], "solver": {"h": 0.1}})json");
}

/// How many of these systems have derivatives that are not differences. A difference over which a read passes a point
/// of the grid says nothing, since the interpolation has kinks there, so the best of three counts.
int count_wrong(std::uint64_t first, std::uint64_t count, double bound) {
  int wrong = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomEquations(seed).text();
    double error = INFINITY;
    for (const double step : {1e-5, 1e-6, 1e-7})
      if (!(error < bound)) error = std::min(error, error_of(text, {0.31, 1.733, 3.19}, step));
    if (error < bound) continue;
    ++wrong;
    MESSAGE(seed, " ", error, " ", text);
  }
  return wrong;
}

TEST_CASE("Derivatives of random delay equations are those of their discretization") {
  CHECK(count_wrong(0, 40, 1e-7) == 0);
}

TEST_CASE("Derivatives of 500 random delay equations are those of their discretization" *
          doctest::test_suite("slow")) {
  CHECK(count_wrong(1000, 500, 1e-7) == 0);
}

}  // namespace
}  // namespace lagtape
