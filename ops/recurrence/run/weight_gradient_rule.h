#pragma once

#include <cstdint>
#include <type_traits>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {

/// dW += delta^T x, as in ops/weight_gradient.h.
template <class T>
using AddWeightGradient = void (*)(const Kernels<T>& kernels, T* w, std::int64_t ldw, const T* d,
                                   std::int64_t ldd, const T* x, std::int64_t ldx, std::int64_t rows,
                                   std::int64_t m, std::int64_t n);

/// The rule for each scalar. The caller who trains hands it in, so that a program that only runs models does
/// without the library behind it.
struct WeightGradientRule {
  AddWeightGradient<float> f32 = nullptr;
  AddWeightGradient<double> f64 = nullptr;

  template <class T>
  AddWeightGradient<T> of() const {
    if constexpr (std::is_same_v<T, float>) {
      return f32;
    } else {
      return f64;
    }
  }
};

}  // namespace lagtape::recurrence
