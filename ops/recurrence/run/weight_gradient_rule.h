#pragma once

#include <cstdint>
#include <type_traits>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {

/// dW += delta^T x for several weights, as in ops/weight_gradient.h.
template <class T>
using AddWeightGradients = void (*)(const Kernels<T>& kernels, const OuterProduct<T>* products,
                                    std::int64_t count, std::int64_t rows);

/// The rule for each scalar. The caller who trains hands it in, so that a program that only runs models does
/// without the library behind it.
struct WeightGradientRule {
  AddWeightGradients<float> f32 = nullptr;
  AddWeightGradients<double> f64 = nullptr;

  template <class T>
  AddWeightGradients<T> of() const {
    if constexpr (std::is_same_v<T, float>) {
      return f32;
    } else {
      return f64;
    }
  }
};

}  // namespace lagtape::recurrence
