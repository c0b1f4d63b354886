#include "lagtape/ops/recurrence/run/weight_gradient.h"

namespace lagtape::recurrence {
namespace {

/// Whether a library's blocking for the caches beats the kernel, which runs at the core's peak for smaller
/// matrices (measured in tests/ops/kernels). The library is used only when its own SIMD level is the requested
/// one because a lower level must not use wider instructions.
template <class T>
bool is_large(const Kernels<T>& kernels, std::int64_t rows, std::int64_t m, std::int64_t n) {
  return kernels.products == ProductFormat::scalar && kernels.level == best_level() && rows >= 64 &&
         m >= 512 && n >= 512;
}

}  // namespace

template <class T>
void add_weight_gradients(const Kernels<T>& kernels, LargeProductFunction large,
                          const OuterProduct<T>* products, std::int64_t count, std::int64_t rows) {
  std::int64_t done = 0;
  if constexpr (sizeof(T) == 4) {
    for (std::int64_t i = 0; large != nullptr && i < count; ++i) {
      const OuterProduct<T>& p = products[i];
      if (!is_large(kernels, rows, p.m, p.n)) continue;
      kernels.add_outer_products(products + done, i - done, rows);
      large({p.w, p.ldw, p.d.at, p.d.stride, p.x, p.ldx, rows, p.m, p.n});
      done = i + 1;
    }
  }
  kernels.add_outer_products(products + done, count - done, rows);
}

template void add_weight_gradients(const Kernels<float>&, LargeProductFunction, const OuterProduct<float>*,
                                   std::int64_t, std::int64_t);
template void add_weight_gradients(const Kernels<double>&, LargeProductFunction, const OuterProduct<double>*,
                                   std::int64_t, std::int64_t);

}  // namespace lagtape::recurrence
