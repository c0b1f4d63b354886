#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::test {

/// n elements on a 64-byte boundary, filled with NaN, so that elements which a kernel does not write are
/// noticed.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t n) : storage_(n + kLane<T>, std::numeric_limits<T>::quiet_NaN()), size_(n) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    data_ = storage_.data() + (64 - address % 64) % 64 / sizeof(T);
  }
  Aligned(const Aligned& other) : Aligned(other.size_) { std::copy_n(other.data_, size_, data_); }
  Aligned& operator=(const Aligned&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::vector<T> storage_;
  std::int64_t size_;
  T* data_;
};

/// rows x columns uniform in [low, high), rows `stride` elements apart; the elements between the rows stay
/// NaN.
template <class T>
Aligned<T> random_rows(std::int64_t rows, std::int64_t columns, std::int64_t stride, unsigned seed,
                       double low = -1, double high = 1) {
  Aligned<T> values(rows * stride);
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) values[i * stride + j] = static_cast<T>(uniform(generator));
  }
  return values;
}

/// Empty when every got[i] is within `units` units in the last place of expected[i] (and NaN or infinite
/// where that is); else the worst element. Expectations that are all zero prove nothing and are refused.
template <class T, class Expected>
std::string difference(const Aligned<T>& got, const Expected& expected, double units) {
  double worst = 0;
  std::int64_t at = -1;
  bool all_zero = true;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const long double want = expected[i];
    if (want != 0) all_zero = false;
    double error = 0;
    if (std::isfinite(want) && std::fabs(want) <= std::numeric_limits<T>::max()) {
      const T rounded = std::fabs(static_cast<T>(want));
      const T least = std::numeric_limits<T>::min();
      const T base = rounded < least ? least : rounded;
      const long double unit =
          std::nextafter(base, std::numeric_limits<T>::infinity()) - static_cast<long double>(base);
      error = static_cast<double>(std::fabs((got[i] - want) / unit));
    } else if (std::isnan(want) ? !std::isnan(got[i]) : got[i] != static_cast<T>(want)) {
      error = std::numeric_limits<double>::infinity();
    }
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  if (all_zero) return "the expected values are all zero";
  if (worst <= units) return "";
  return text_of("off by ", worst, " units at element ", at, ": got ", got[at], ", expected ", expected[at]);
}

/// Empty when the bits are the same, any NaN being equal to any other; else the first element that differs.
template <class T>
std::string bit_difference(const Aligned<T>& got, const Aligned<T>& expected) {
  bool all_zero = true;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (expected[i] != 0) all_zero = false;
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
      return text_of("differs at element ", i, ": got ", got[i], ", expected ", expected[i]);
    }
  }
  return all_zero ? "the expected values are all zero" : "";
}

/// A packed matrix and the product of its operands with it, on the kernels of one level.
template <class T>
struct ProductCase {
  std::int64_t rows, columns;
  std::vector<ProductOperand<T>> operands;
  bool descending = false;
  std::vector<Piece> prefetched{};

  Aligned<T> run(const Kernels<T>& kernels, const Aligned<T>& packed) const {
    const std::int64_t stride = padded<T>(columns);
    Aligned<T> out(rows * stride);
    std::vector<T*> groups;
    std::vector<std::int64_t> strides;
    for (std::int64_t j = 0; j < stride; j += kLane<T>) {
      groups.push_back(out.data() + j);
      strides.push_back(stride);
    }
    kernels.product({.rows = rows,
                     .operands = operands.data(),
                     .operand_count = static_cast<std::int64_t>(operands.size()),
                     .packed = packed.data(),
                     .columns = stride,
                     .out = groups.data(),
                     .ldc = strides.data(),
                     .descending = descending,
                     .prefetched = prefetched.data(),
                     .prefetched_count = static_cast<std::int64_t>(prefetched.size())});
    return out;
  }
};

/// b: [k, columns], rows without padding.
template <class T>
Aligned<T> pack(const Kernels<T>& kernels, const Aligned<T>& b, std::int64_t k, std::int64_t columns) {
  Aligned<T> packed(k * padded<T>(columns));
  kernels.pack(packed.data(), b.data(), k, columns, columns, 1);
  return packed;
}

}  // namespace lagtape::test
