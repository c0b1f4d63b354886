#include "lagtape/ops/weight_gradient.h"

namespace lagtape {

template <class T>
void add_weight_gradient(const Kernels<T>& kernels, T* w, std::int64_t ldw, const T* d, std::int64_t ldd,
                         const T* x, std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n) {
  kernels.add_outer_products(w, ldw, d, ldd, x, ldx, rows, m, n);
}

template void add_weight_gradient(const Kernels<float>&, float*, std::int64_t, const float*, std::int64_t,
                                  const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template void add_weight_gradient(const Kernels<double>&, double*, std::int64_t, const double*, std::int64_t,
                                  const double*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

}  // namespace lagtape
