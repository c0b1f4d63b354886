#include "lagtape/cells/lmu.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

constexpr int kOrder = 2;

double dot(const std::string& name, const Vector& v) { return product(weight_of(name, std::ssize(v)), v, 0); }

TEST_CASE("lmu computes its equations") {
  const Tensor memory = legendre_memory(kOrder, 9, "zoh");
  for (const bool all : {true, false}) {
    Vector h(kUnits), m(kOrder);
    std::vector<Vector> outputs;
    for (const Vector& x : sequence()) {
      const double u = dot("e_x", x) + (all ? dot("e_h", h) + dot("e_m", m) : 0);
      Vector m_next(kOrder), h_next(kUnits);
      for (int i = 0; i < kOrder; ++i)
        m_next[i] = memory.at(i * 3) * m[0] + memory.at(i * 3 + 1) * m[1] + memory.at(i * 3 + 2) * u;
      for (int i = 0; i < kUnits; ++i)
        h_next[i] =
            std::tanh((all ? linear("W_x", x, i) : 0) + linear("W_h", h, i) + linear("W_m", m_next, i));
      m = m_next;
      h = h_next;
      outputs.push_back(h);
    }
    const Lmu cell{.units = kUnits,
                   .order = kOrder,
                   .theta = 9,
                   .input_to_hidden = all,
                   .hidden_to_memory = all,
                   .memory_to_memory = all};
    check_equal(run(cell.build(kInputs)), outputs);
  }
}

TEST_CASE("the memory of lmu of order 1 is a leaky mean, exactly and by Euler") {
  const Tensor exact = legendre_memory(1, 10, "zoh"), euler = legendre_memory(1, 10, "euler");
  CHECK(exact.at(0) == doctest::Approx(std::exp(-0.1)).epsilon(1e-13));
  CHECK(exact.at(1) == doctest::Approx(1 - std::exp(-0.1)).epsilon(1e-13));
  CHECK(euler.at(0) == doctest::Approx(0.9));
  CHECK(euler.at(1) == doctest::Approx(0.1));
}

/// P_i of the shifted Legendre polynomials at r in [0, 1], by their recurrence.
double legendre(int i, double r) {
  const double s = 2 * r - 1;
  double before = 1, now = s;
  if (i == 0) return 1;
  for (int k = 1; k < i; ++k) {
    const double next = ((2 * k + 1) * s * now - k * before) / (k + 1);
    before = now;
    now = next;
  }
  return now;
}

TEST_CASE("the memory of lmu holds the last theta steps of its input, and forgets what is older") {
  constexpr int order = 12, theta = 200, n = order + 1;
  const Tensor memory = legendre_memory(order, theta, "zoh");
  const auto input = [](int t) { return std::sin(0.03 * t) + 0.4 * std::cos(0.011 * t); };
  Vector m(order);
  for (int i = 0; i < order; ++i) m[i] = 5;  // stands for inputs of long ago
  for (int t = 0; t < 3000; ++t) {
    Vector next(order);
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) next[i] += memory.at(i * n + j) * m[j];
      next[i] += memory.at(i * n + order) * input(t);
    }
    m = next;
  }
  for (const int ago : {20, 60, 100, 150, 180}) {
    double value = 0;
    for (int i = 0; i < order; ++i) value += legendre(i, static_cast<double>(ago) / theta) * m[i];
    CHECK(value == doctest::Approx(input(3000 - ago)).epsilon(0.03));
  }
}

TEST_CASE("lmu writes its input alone at first") {
  for (const ParameterDefinition& p : Lmu{.units = 3, .order = 4, .theta = 9}.build(12).parameters) {
    if (p.name == "e_x") CHECK(p.initializer == Initializer::uniform(-0.5, 0.5));
    if (p.name == "e_h") CHECK(p.initializer == Initializer::uniform(-1, 1));
    if (p.name == "e_m") CHECK(p.initializer == Initializer::constant(0));
    if (p.name == "W_m") CHECK(p.initializer == Initializer{Initializer::Kind::xavier_normal, 1});
  }
}

}  // namespace
}  // namespace lagtape
