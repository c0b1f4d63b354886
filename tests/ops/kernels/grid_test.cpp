#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

TEST_CASE_TEMPLATE("a step on the grid and back leads to the same bits, at every level", T, float, double) {
  const std::int64_t n = 40 * kLane<T>;
  Aligned<double> start = random_rows<double>(1, n, n, 1, -5, 5);
  for (std::int64_t i = 0; i < n; ++i) start[i] = std::nearbyint(start[i] * 0x1p32) * 0x1p-32;
  Aligned<T> increment = random_rows<T>(1, n, n, 2, -3, 3);
  increment[0] = static_cast<T>(0x1p-33);  // half a step of the grid: to the even neighbor
  increment[1] = static_cast<T>(3 * 0x1p-33);
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    for (const double sign : {1.0, -1.0}) {
      Aligned<T> view(n), twin_view(n);
      Aligned<double> there(n), twin_there(n), back(n);
      table.add_on_grid(view.data(), there.data(), start.data(), increment.data(), sign, n);
      scalar_twin<T>().add_on_grid(twin_view.data(), twin_there.data(), start.data(), increment.data(), sign,
                                   n);
      CHECK(bit_difference(there, twin_there) == "");
      CHECK(bit_difference(view, twin_view) == "");
      for (std::int64_t i = 2; i < n; ++i) CHECK(there[i] != start[i]);
      table.add_on_grid(view.data(), back.data(), there.data(), increment.data(), -sign, n);
      CHECK(bit_difference(back, start) == "");
    }
  }
}

TEST_CASE_TEMPLATE("a number that leaves the grid becomes NaN", T, float, double) {
  const std::int64_t n = kLane<T>;
  for (SimdLevel level : supported_levels()) {
    Aligned<double> from(n), to(n);
    Aligned<T> increment(n), view(n);
    for (std::int64_t i = 0; i < n; ++i) {
      from[i] = 0x1p18 - 1;
      increment[i] = 1;
    }
    increment[0] = static_cast<T>(1.5);
    increment[1] = std::numeric_limits<T>::quiet_NaN();
    increment[2] = std::numeric_limits<T>::infinity();
    from[3] = -0x1p18;
    increment[3] = static_cast<T>(0x1.8p19);  // longer than any step within the grid
    kernels<T>(level).add_on_grid(view.data(), to.data(), from.data(), increment.data(), 1, n);
    for (std::int64_t i = 0; i < 4; ++i) CHECK((std::isnan(to[i]) && std::isnan(view[i])));
    for (std::int64_t i = 4; i < n; ++i) CHECK(to[i] == 0x1p18);
  }
}

TEST_CASE_TEMPLATE("the longest step, from one end of the grid to the other, leads back", T, float, double) {
  const std::int64_t n = kLane<T>;
  const double end = 0x1p18 - 0x1p-32;
  for (SimdLevel level : supported_levels()) {
    const Kernels<T>& table = kernels<T>(level);
    Aligned<double> from(n), to(n), back(n);
    Aligned<T> increment(n), view(n);
    for (std::int64_t i = 0; i < n; ++i) {
      from[i] = i % 2 == 0 ? -end : end;
      increment[i] = static_cast<T>((i % 2 == 0 ? 1 : -1) * (0x1p19 - 0x1p-4 * static_cast<double>(1 + i)));
    }
    table.add_on_grid(view.data(), to.data(), from.data(), increment.data(), 1, n);
    for (std::int64_t i = 0; i < n; ++i) CHECK(to[i] == from[i] + static_cast<double>(increment[i]));
    table.add_on_grid(view.data(), back.data(), to.data(), increment.data(), -1, n);
    CHECK(bit_difference(back, from) == "");
  }
}
