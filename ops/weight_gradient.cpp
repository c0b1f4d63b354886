#include "lagtape/ops/weight_gradient.h"

#include <dnnl.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Runs oneDNN on the calling thread alone: its own threads would compete with the workers.
class OneThread {
 public:
#ifdef _OPENMP
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
#endif
};

/// Whether oneDNN's blocking for the caches beats the kernel, which runs at the core's peak for smaller
/// matrices (measured in tests/ops/kernels). oneDNN is used only when its own SIMD level is the requested one
/// because a lower level must not use wider instructions.
template <class T>
bool is_large(const Kernels<T>& kernels, std::int64_t rows, std::int64_t m, std::int64_t n) {
  return sizeof(T) == 4 && kernels.products == ProductFormat::scalar && kernels.level == best_level() &&
         rows >= 64 && m >= 512 && n >= 512;
}

void add_with_onednn(float* w, std::int64_t ldw, const float* d, std::int64_t ldd, const float* x,
                     std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n) {
  const OneThread one_thread;
  if (dnnl_sgemm('T', 'N', m, n, rows, 1, d, ldd, x, ldx, 1, w, ldw) != dnnl_success)
    throw Error("[weight gradient] oneDNN refused a product");
}

}  // namespace

template <class T>
void add_weight_gradients(const Kernels<T>& kernels, const OuterProduct<T>* products, std::int64_t count,
                          std::int64_t rows) {
  std::int64_t done = 0;
  if constexpr (sizeof(T) == 4) {
    for (std::int64_t i = 0; i < count; ++i) {
      const OuterProduct<T>& p = products[i];
      if (!is_large(kernels, rows, p.m, p.n)) continue;
      kernels.add_outer_products(products + done, i - done, rows);
      add_with_onednn(p.w, p.ldw, p.d.at, p.d.stride, p.x, p.ldx, rows, p.m, p.n);
      done = i + 1;
    }
  }
  kernels.add_outer_products(products + done, count - done, rows);
}

template void add_weight_gradients(const Kernels<float>&, const OuterProduct<float>*, std::int64_t,
                                   std::int64_t);
template void add_weight_gradients(const Kernels<double>&, const OuterProduct<double>*, std::int64_t,
                                   std::int64_t);

}  // namespace lagtape
