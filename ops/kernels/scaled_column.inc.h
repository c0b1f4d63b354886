#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

template <class S>
void scale_column(typename S::Scalar* out, const typename S::Scalar* x, std::int64_t ldx,
                  const typename S::Scalar* column, const typename S::Scalar* c, std::int64_t rows,
                  std::int64_t width) {
  using V = typename S::Vector;
  for (std::int64_t i = 0; i < rows; ++i) {
    const V factor(x[i * ldx]);
    for (std::int64_t j = 0; j < width; j += S::kSize) {
      const std::int64_t at = i * width + j;
      const V right = V::load_aligned(column + j);
      const V result = c == nullptr ? factor * right : S::fma(factor, right, V::load_aligned(c + at));
      result.store_aligned(out + at);
    }
  }
}

}  // namespace lagtape
