#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lagtape/ops/recurrence/run/weight_gradient.h"
#include "lagtape/optim/onednn_product.h"
#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

/// The kernel's result for one level beside the twin's and the plain sum's.
template <class T, class Run>
void check_levels(const std::vector<long double>& plain, double units, Run run) {
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    const Aligned<T> got = run(table);
    CHECK(difference(got, plain, units) == "");
    CHECK(bit_difference(got, run(scalar_twin<T>(table.fused))) == "");
  }
}

}  // namespace

TEST_CASE_TEMPLATE("scaled sums are added to what is there, row after row", T, float, double) {
  // Positive numbers, so that the sums keep their digits.
  const std::int64_t width = 3 * kLane<T>, lda = 5 * kLane<T>, gap = 2 * width;
  for (std::int64_t rows : {0, 1, 7, 100}) {
    CAPTURE(rows);
    const Aligned<T> a = random_rows<T>(rows, width, lda, 1, 0.1, 1);
    const Aligned<T> factors = random_rows<T>(rows, 2, kLane<T>, 2, 0.1, 1);
    const Aligned<T> start = random_rows<T>(1, 10 * gap, 10 * gap, 3, 0.1, 1);
    const T one = 1;
    // The sums cover whole vectors and a part of one, side by side and apart, with a factor for each row or
    // one for all, and two or three sums of the same rows.
    const auto sums = [&](T* w) {
      return std::vector<ScaledSum<T>>{
          {w, 1, width, {a.data(), lda}, factors.data(), kLane<T>},
          {w + gap, 1, width - 3, {a.data(), lda}, factors.data() + 1, kLane<T>},
          {w + 2 * gap, 2, width, {a.data(), lda}, &one, 0},
          {w + 3 * gap, 1, 1, {a.data() + kLane<T>, lda}, &one, 0},
          {w + 4 * gap, 2, 5, {a.data(), lda}, factors.data(), kLane<T>},
          {w + 5 * gap, 1, width, {a.data(), lda}, factors.data(), kLane<T>},
          {w + 6 * gap, 2, width, {a.data(), lda}, &one, 0},
          {w + 7 * gap, 1, width, {a.data(), lda}, factors.data() + 1, kLane<T>},
          {w + 8 * gap, 1, 3, {a.data() + kLane<T>, lda}, &one, 0},
          {w + 9 * gap, 1, 3, {a.data() + kLane<T>, lda}, factors.data(), kLane<T>}};
    };
    std::vector<long double> plain(start.data(), start.data() + 10 * gap);
    Aligned<T> unread = start;
    for (const ScaledSum<T>& s : sums(unread.data())) {
      const std::int64_t place = s.w - unread.data();
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t r = 0; r < rows; ++r)
          plain[place + i * s.stride] +=
              static_cast<long double>(s.a.at[r * s.a.stride + i]) * s.factor[r * s.ldf];
    }
    check_levels<T>(plain, 30, [&](const Kernels<T>& table) {
      Aligned<T> w = start;
      const auto all = sums(w.data());
      table.add_scaled_sums(all.data(), static_cast<std::int64_t>(all.size()), rows);
      return w;
    });
  }
}

TEST_CASE_TEMPLATE("groups are summed without what stands in the padding", T, float, double) {
  for (std::int64_t groups : {1, 3, 16, 19}) {
    for (std::int64_t size : {1, 3, 8, 16, 17, 50}) {
      CAPTURE(groups);
      CAPTURE(size);
      const std::int64_t rows = 5, width = padded<T>(groups * size);
      const Aligned<T> a = random_rows<T>(rows, groups * size, width, 3, 0.1, 1);
      std::vector<long double> plain(rows * padded<T>(groups));
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t e = 0; e < groups * size; ++e)
          plain[i * padded<T>(groups) + e / size] += a[i * width + e];
      }
      check_levels<T>(plain, 6, [&](const Kernels<T>& table) {
        Aligned<T> out(rows * padded<T>(groups));
        table.sum_groups(out.data(), a.data(), rows, groups, size);
        return out;
      });
    }
  }
}

TEST_CASE_TEMPLATE("a value for each group is given to all its elements", T, float, double) {
  for (std::int64_t groups : {1, 3, 19}) {
    for (std::int64_t size : {1, 5, 16, 33}) {
      const std::int64_t rows = 4, width = padded<T>(groups * size);
      const Aligned<T> a = random_rows<T>(rows, groups, padded<T>(groups), 4);
      std::vector<long double> plain(rows * width);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t e = 0; e < groups * size; ++e)
          plain[i * width + e] = a[i * padded<T>(groups) + e / size];
      }
      check_levels<T>(plain, 0, [&](const Kernels<T>& table) {
        Aligned<T> out(rows * width);
        table.broadcast_groups(out.data(), a.data(), rows, groups, size);
        return out;
      });
    }
  }
}

TEST_CASE_TEMPLATE("a column is scaled by a number of each row, and added", T, float, double) {
  for (const std::int64_t width : {kLane<T>, 3 * kLane<T>}) {
    const std::int64_t rows = 4, ldx = kLane<T>;
    const Aligned<T> x = random_rows<T>(rows, 2, ldx, 5, 0.1, 1),
                     columns = random_rows<T>(2, width, width, 6, 0.1, 1);
    std::vector<long double> plain(rows * width);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < width; ++j)
        plain[i * width + j] = static_cast<long double>(x[i * ldx]) * columns[j] +
                               static_cast<long double>(x[i * ldx + 1]) * columns[width + j];
    }
    check_levels<T>(plain, 3, [&](const Kernels<T>& table) {
      Aligned<T> out(rows * width);
      table.scale_column(out.data(), x.data(), ldx, columns.data(), nullptr, rows, width);
      table.scale_column(out.data(), x.data() + 1, ldx, columns.data() + width, out.data(), rows, width);
      return out;
    });
  }
}

TEST_CASE_TEMPLATE("a weight gradient is the sum of outer products, and writes the weights alone", T, float,
                   double) {
  struct Shape {
    std::int64_t rows, m, n;
  };
  for (Shape s : {Shape{1, 1, 1},
                  {3, 2, 5},
                  {7, 16, 16},
                  {10, 13, 33},
                  {256, 14, 32},
                  {257, 48, 1},
                  {300, 3, 100},
                  {40, 128, 2},
                  {33, 150, 70},
                  {0, 4, 4},
                  {20, 1, 129},
                  {600, 6, 17}}) {
    CAPTURE(s.rows);
    CAPTURE(s.m);
    CAPTURE(s.n);
    const std::int64_t ldw = s.n + 3, ldd = padded<T>(s.m), ldx = padded<T>(s.n) + kLane<T>;
    const Aligned<T> d = random_rows<T>(s.rows, s.m, ldd, 1, 0.1, 1);
    const Aligned<T> x = random_rows<T>(s.rows, s.n, ldx, 2, 0.1, 1);
    const Aligned<T> start = random_rows<T>(s.m, s.n, ldw, 3, 0.1, 1);
    std::vector<long double> plain(s.m * ldw);
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < ldw; ++j) {
        plain[i * ldw + j] = start[i * ldw + j];
        for (std::int64_t r = 0; r < s.rows && j < s.n; ++r) {
          plain[i * ldw + j] += static_cast<long double>(d[r * ldd + i]) * x[r * ldx + j];
        }
      }
    }
    check_levels<T>(plain, 60, [&](const Kernels<T>& table) {
      Aligned<T> w = start;
      const OuterProduct<T> product{w.data(), ldw, {d.data(), ldd}, x.data(), ldx, s.m, s.n};
      table.add_outer_products(&product, 1, s.rows);
      return w;
    });
    check_levels<T>(plain, 60, [&](const Kernels<T>& table) {
      Aligned<T> w = start;
      const OuterProduct<T> product{w.data(), ldw, {d.data(), ldd}, x.data(), ldx, s.m, s.n};
      recurrence::add_weight_gradients(table, onednn_product, &product, 1, s.rows);
      return w;
    });
  }
}

TEST_CASE("a large weight gradient is that of the kernel up to rounding, and repeats its bits") {
  const std::int64_t rows = 100, m = 512, n = 520, ldw = n + 16, ldd = m + 16, ldx = n + 8;
  const auto d = random_rows<float>(rows, m, ldd, 1, 0.1, 1);
  const auto x = random_rows<float>(rows, n, ldx, 2, 0.1, 1);
  const auto start = random_rows<float>(m, n, ldw, 3, 0.1, 1);
  const Kernels<float>& table = kernels<float>(best_level());
  auto kernel = start, once = start, again = start;
  const auto product = [&](auto& w) {
    return OuterProduct<float>{w.data(), ldw, {d.data(), ldd}, x.data(), ldx, m, n};
  };
  const OuterProduct<float> by_kernel = product(kernel), first = product(once), second = product(again);
  table.add_outer_products(&by_kernel, 1, rows);
  recurrence::add_weight_gradients(table, onednn_product, &first, 1, rows);
  recurrence::add_weight_gradients(table, onednn_product, &second, 1, rows);
  double largest = 0, off = 0;
  for (std::int64_t i = 0; i < m * ldw; ++i) {
    largest = std::max<double>(largest, std::abs(kernel[i] - start[i]));
    off = std::max<double>(off, std::abs(once[i] - kernel[i]));
  }
  CHECK(largest > 1);
  CHECK(off < 1e-5 * largest);
  CHECK(std::memcmp(once.data(), again.data(), m * ldw * sizeof(float)) == 0);
}
