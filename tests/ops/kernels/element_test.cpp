#include <doctest/doctest.h>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

using Real = long double;

struct Arguments {
  Real a, b, c, k;
};

struct Case {
  ElementOp op;
  std::string_view name;
  double low, high;  ///< The range of a.
  double units;      ///< The error admitted, in units in the last place.
  Real (*expected)(Arguments);
};

constexpr double kRounded = 0.5001;

const Case kCases[] = {
    {ElementOp::fill, "fill", -1, 1, 0, [](Arguments v) { return v.k; }},
    {ElementOp::copy, "copy", -1, 1, 0, [](Arguments v) { return v.a; }},
    {ElementOp::negate, "negate", -1, 1, 0, [](Arguments v) { return -v.a; }},
    {ElementOp::tanh, "tanh", -25, 25, 2.6, [](Arguments v) { return std::tanh(v.a); }},
    {ElementOp::sigmoid, "sigmoid", -80, 80, 2.6, [](Arguments v) { return 1 / (1 + std::exp(-v.a)); }},
    {ElementOp::softplus, "softplus", -80, 80, 3, [](Arguments v) { return std::log1p(std::exp(v.a)); }},
    {ElementOp::relu, "relu", -1, 1, 0, [](Arguments v) { return v.a > 0 ? v.a : 0; }},
    {ElementOp::exp, "exp", -80, 80, 1.5, [](Arguments v) { return std::exp(v.a); }},
    {ElementOp::log, "log", 0, 100, 1.5, [](Arguments v) { return std::log(v.a); }},
    {ElementOp::sqrt, "sqrt", 0, 100, kRounded, [](Arguments v) { return std::sqrt(v.a); }},
    {ElementOp::abs, "abs", -1, 1, 0, [](Arguments v) { return std::fabs(v.a); }},
    {ElementOp::sin, "sin", -1000, 1000, 2.5, [](Arguments v) { return std::sin(v.a); }},
    {ElementOp::cos, "cos", -1000, 1000, 2.5, [](Arguments v) { return std::cos(v.a); }},
    {ElementOp::sign, "sign", -1, 1, 0, [](Arguments v) -> Real { return (v.a > 0) - (v.a < 0); }},
    {ElementOp::floor, "floor", -5000, 5000, 0, [](Arguments v) { return std::floor(v.a); }},
    {ElementOp::add, "add", -1, 1, kRounded, [](Arguments v) { return v.a + v.b; }},
    {ElementOp::subtract, "subtract", -1, 1, kRounded, [](Arguments v) { return v.a - v.b; }},
    {ElementOp::multiply, "multiply", -1, 1, kRounded, [](Arguments v) { return v.a * v.b; }},
    {ElementOp::divide, "divide", -1, 1, kRounded, [](Arguments v) { return v.a / v.b; }},
    {ElementOp::minimum, "minimum", -1, 1, 0, [](Arguments v) { return std::min(v.a, v.b); }},
    {ElementOp::maximum, "maximum", -1, 1, 0, [](Arguments v) { return std::max(v.a, v.b); }},
    {ElementOp::add_constant, "add_constant", -1, 1, kRounded, [](Arguments v) { return v.a + v.k; }},
    {ElementOp::multiply_constant, "multiply_constant", -1, 1, kRounded,
     [](Arguments v) { return v.a * v.k; }},
    {ElementOp::minimum_constant, "minimum_constant", -1, 1, 0,
     [](Arguments v) { return std::min(v.a, v.k); }},
    {ElementOp::maximum_constant, "maximum_constant", -1, 1, 0,
     [](Arguments v) { return std::max(v.a, v.k); }},
    {ElementOp::constant_minus, "constant_minus", -1, 1, kRounded, [](Arguments v) { return v.k - v.a; }},
    {ElementOp::constant_over, "constant_over", -1, 1, kRounded, [](Arguments v) { return v.k / v.a; }},
    {ElementOp::greater, "greater", -1, 1, 0, [](Arguments v) -> Real { return v.a > v.b; }},
    {ElementOp::tanh_adjoint, "tanh_adjoint", -1, 1, 6, [](Arguments v) { return v.a * (1 - v.b * v.b); }},
    {ElementOp::sigmoid_adjoint, "sigmoid_adjoint", -1, 1, 2,
     [](Arguments v) { return v.a * (v.b * (1 - v.b)); }},
    {ElementOp::where_positive, "where_positive", -1, 1, 0, [](Arguments v) { return v.b > 0 ? v.a : 0; }},
    {ElementOp::multiply_add, "multiply_add", 0.25, 1, 1.1, [](Arguments v) { return v.a * v.b + v.c; }},
    {ElementOp::erf, "erf", -8, 8, 2.5, [](Arguments v) { return std::erf(v.a); }},
    {ElementOp::atan, "atan", -20, 20, 2.5, [](Arguments v) { return std::atan(v.a); }},
    {ElementOp::stop, "stop", -1, 1, 0, [](Arguments v) { return v.a; }},
    {ElementOp::surrogate, "surrogate", -1, 1, 0, [](Arguments v) { return v.a; }},
    {ElementOp::where_nonzero, "where_nonzero", -1, 1, 0, [](Arguments v) { return v.b == 0 ? 0 : v.a; }},
};

template <class T>
ElementKernel<T> kernel(const Kernels<T>& kernels, ElementOp op) {
  return kernels.element[static_cast<int>(op)];
}

template <class T>
T apply(const Kernels<T>& kernels, ElementOp op, T a, T b = 0) {
  Aligned<T> x(kLane<T>), y(kLane<T>);
  for (int i = 0; i < kLane<T>; ++i) {
    x[i] = a;
    y[i] = b;
  }
  kernel(kernels, op)(x.data(), x.data(), y.data(), nullptr, b, kLane<T>);
  return x[kLane<T> - 1];
}

/// b and c are in [0.1, 0.9], so that nothing but the operation itself loses digits.
template <class T>
struct Inputs {
  static constexpr std::int64_t kCount = 1 << 15;
  Aligned<T> a, b, c;
  T k = static_cast<T>(0.3);

  Inputs(double low, double high)
      : a(random_rows<T>(1, kCount, kCount, 1, low, high)),
        b(random_rows<T>(1, kCount, kCount, 2, 0.1, 0.9)),
        c(random_rows<T>(1, kCount, kCount, 3, 0.1, 0.9)) {
    // Every other element is small: down to 2^-40 of the range where the range includes zero.
    if (low <= 0) {
      for (std::int64_t i = 0; i < kCount; i += 2) a[i] = std::ldexp(a[i], -static_cast<int>(i / 2 % 40));
    }
  }

  Aligned<T> run(const Kernels<T>& kernels, ElementOp op) const {
    Aligned<T> out(kCount);
    kernel(kernels, op)(out.data(), a.data(), b.data(), c.data(), k, kCount);
    return out;
  }
};

template <class T>
Aligned<T> special_values() {
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0),
                      T(-0.0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      -Limits::max(),
                      Limits::min(),
                      -Limits::min(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::epsilon(),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(-0.5),
                      T(9),
                      T(-9),
                      T(88),
                      T(-88),
                      T(88.5),
                      T(-88.5),
                      T(103.5),
                      T(-103.5),
                      T(709.5),
                      T(-709.5),
                      T(745),
                      T(-745),
                      T(1e4),
                      T(-1e4),
                      T(10001),
                      T(3e6),
                      T(-3e6),
                      T(1e20),
                      T(-1e20),
                      T(2.5),
                      T(1e-20),
                      T(-1e-20)};
  const std::int64_t count = static_cast<std::int64_t>(std::size(values));
  Aligned<T> special(padded<T>(count));
  for (std::int64_t i = 0; i < special.size(); ++i) special[i] = values[i % count];
  return special;
}

}  // namespace

TEST_CASE("the functions that equations can write are those with a value in double") {
  for (const ElementFunction& function : kElementFunctions) {
    CAPTURE(function.name);
    CHECK((function.notation == ElementNotation::none) == (function.value == nullptr));
  }
}

TEST_CASE_TEMPLATE("every element-wise operation agrees with the C++ library", T, float, double) {
  CHECK(std::size(kCases) == static_cast<std::size_t>(ElementOp::count));
  for (const Case& c : kCases) {
    const Inputs<T> inputs(c.low, c.high);
    std::vector<Real> expected(Inputs<T>::kCount);
    for (std::int64_t i = 0; i < Inputs<T>::kCount; ++i) {
      expected[i] = c.expected({inputs.a[i], inputs.b[i], inputs.c[i], inputs.k});
    }
    for (SimdLevel level : supported_levels()) {
      CAPTURE(name_of(level));
      CAPTURE(c.name);
      CHECK(difference(inputs.run(kernels<T>(level), c.op), expected, c.units) == "");
    }
  }
}

TEST_CASE_TEMPLATE("every element-wise operation has the bits of the scalar twin", T, float, double) {
  for (SimdLevel level : supported_levels()) {
    const Kernels<T>& table = kernels<T>(level);
    const Kernels<T>& twin = scalar_twin<T>(table.fused);
    for (const Case& c : kCases) {
      CAPTURE(name_of(level));
      CAPTURE(c.name);
      const Inputs<T> inputs(c.low, c.high);
      CHECK(bit_difference(inputs.run(table, c.op), inputs.run(twin, c.op)) == "");

      const Aligned<T> special = special_values<T>();
      Aligned<T> got(special.size()), expected(special.size());
      for (const Aligned<T>& other : {special, inputs.b}) {
        kernel(table, c.op)(got.data(), special.data(), other.data(), special.data(), T(1), special.size());
        kernel(twin, c.op)(expected.data(), special.data(), other.data(), special.data(), T(1),
                           special.size());
        CHECK(bit_difference(got, expected) == "");
      }
    }
  }
}

TEST_CASE_TEMPLATE("an element-wise operation may write over any of its arguments", T, float, double) {
  for (SimdLevel level : supported_levels()) {
    const Kernels<T>& table = kernels<T>(level);
    for (const Case& c : kCases) {
      CAPTURE(name_of(level));
      CAPTURE(c.name);
      const Inputs<T> inputs(c.low, c.high);
      const Aligned<T> expected = inputs.run(table, c.op);
      for (Aligned<T> Inputs<T>::*target : {&Inputs<T>::a, &Inputs<T>::b, &Inputs<T>::c}) {
        Inputs<T> copy = inputs;
        kernel(table, c.op)((copy.*target).data(), copy.a.data(), copy.b.data(), copy.c.data(), copy.k,
                            copy.kCount);
        CHECK(bit_difference(copy.*target, expected) == "");
      }
    }
  }
}

TEST_CASE_TEMPLATE("functions saturate, and give infinities and NaN where they should", T, float, double) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    const auto f = [&](ElementOp op, T a, T b = 0) { return apply<T>(table, op, a, b); };
    for (T large : {T(20), T(50), T(1000), infinity}) {
      CHECK(f(ElementOp::tanh, large) == 1);
      CHECK(f(ElementOp::tanh, -large) == -1);
    }
    for (T large : {T(720), infinity}) {
      CHECK(f(ElementOp::sigmoid, large) == 1);
      CHECK(f(ElementOp::sigmoid, -large) == 0);
      CHECK(f(ElementOp::exp, large) == infinity);
      CHECK(f(ElementOp::exp, -large - 30) == 0);
    }
    CHECK(f(ElementOp::sigmoid, 0) == T(0.5));
    CHECK(f(ElementOp::exp, 0) == 1);
    CHECK(f(ElementOp::log, 1) == 0);
    CHECK(f(ElementOp::log, 0) == -infinity);
    CHECK(f(ElementOp::log, infinity) == infinity);
    CHECK(std::isnan(f(ElementOp::log, -1)));
    CHECK(std::isnan(f(ElementOp::sqrt, -1)));
    CHECK(std::isnan(f(ElementOp::sin, infinity)));
    CHECK(std::signbit(f(ElementOp::tanh, T(-0.0))));
    CHECK(std::signbit(f(ElementOp::negate, 0)));
    CHECK(f(ElementOp::tanh, T(1e-30)) == T(1e-30));
    CHECK(f(ElementOp::tanh, T(-0.7)) == -f(ElementOp::tanh, T(0.7)));
    using enum ElementOp;
    for (ElementOp op : {tanh, sigmoid, relu, exp, log, sqrt, sin, cos, sign, negate, abs, minimum, maximum,
                         minimum_constant, maximum_constant}) {
      CAPTURE(static_cast<int>(op));
      CHECK(std::isnan(f(op, nan, 1)));
    }
    CHECK(std::isnan(f(minimum, 1, nan)));
    CHECK(std::isnan(f(maximum, 1, nan)));
  }
}

TEST_CASE_TEMPLATE("functions are accurate over the whole range of their arguments", T, float, double) {
  const auto geometric = [](double low, double high) {
    Aligned<T> values(4096);
    for (int i = 0; i < 4096; ++i) values[i] = static_cast<T>(low * std::pow(high / low, i / 4095.0));
    return values;
  };
  constexpr bool is_float = std::is_same_v<T, float>;
  const struct {
    ElementOp op;
    double low, high, units;
    Real (*expected)(Real);
  } cases[] = {
      {ElementOp::exp, is_float ? 1e-9 : 1e-18, is_float ? 88.7 : 709.7, 1.5,
       [](Real x) { return std::exp(x); }},
      {ElementOp::exp, is_float ? -1e-9 : -1e-18, is_float ? -87 : -708, 1.5,
       [](Real x) { return std::exp(x); }},
      {ElementOp::sigmoid, is_float ? -1e-9 : -1e-18, is_float ? -87 : -708, 3,
       [](Real x) { return 1 / (1 + std::exp(-x)); }},
      {ElementOp::log, is_float ? 1e-44 : 1e-320, is_float ? 3e38 : 1e308, 1.5,
       [](Real x) { return std::log(x); }},
      {ElementOp::log, 0.9, 1.1, 1.5, [](Real x) { return std::log(x); }},
      {ElementOp::tanh, is_float ? 1e-37 : 1e-300, 30, 2.6, [](Real x) { return std::tanh(x); }},
      {ElementOp::sin, is_float ? 1e-37 : 1e-300, is_float ? 1e30 : 1e18, 2.5,
       [](Real x) { return std::sin(x); }},
      {ElementOp::cos, is_float ? 1e-37 : 1e-300, is_float ? 1e30 : 1e18, 2.5,
       [](Real x) { return std::cos(x); }},
  };
  for (const auto& c : cases) {
    const Aligned<T> x = geometric(c.low, c.high);
    std::vector<Real> expected(x.size());
    for (std::int64_t i = 0; i < x.size(); ++i) expected[i] = c.expected(x[i]);
    for (SimdLevel level : supported_levels()) {
      CAPTURE(name_of(level));
      CAPTURE(static_cast<int>(c.op));
      Aligned<T> got(x.size());
      kernel(kernels<T>(level), c.op)(got.data(), x.data(), nullptr, nullptr, 0, x.size());
      CHECK(difference(got, expected, c.units) == "");
    }
  }
}

TEST_CASE_TEMPLATE("greater with the constant one counts equal elements", T, float, double) {
  for (SimdLevel level : supported_levels()) {
    Aligned<T> a(kLane<T>), out(kLane<T>);
    for (int i = 0; i < kLane<T>; ++i) a[i] = static_cast<T>(i);
    const auto greater = kernel(kernels<T>(level), ElementOp::greater);
    greater(out.data(), a.data(), a.data(), nullptr, 1, kLane<T>);
    CHECK(out[3] == 1);
    greater(out.data(), a.data(), a.data(), nullptr, 0, kLane<T>);
    CHECK(out[3] == 0);
  }
}

TEST_CASE_TEMPLATE("multiply_add has the bits of multiply followed by add", T, float, double) {
  for (SimdLevel level : supported_levels()) {
    const Kernels<T>& table = kernels<T>(level);
    const Inputs<T> inputs(-1, 1);
    Aligned<T> expected = inputs.run(table, ElementOp::multiply);
    kernel(table, ElementOp::add)(expected.data(), expected.data(), inputs.c.data(), nullptr, 0,
                                  expected.size());
    CHECK(bit_difference(inputs.run(table, ElementOp::multiply_add), expected) == "");
  }
}
