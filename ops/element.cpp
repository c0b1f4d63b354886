#include "lagtape/ops/element.h"

#include <algorithm>
#include <cstdint>

#include "lagtape/core/aligned_memory.h"

namespace lagtape {
namespace {

/// Applies a kernel, which processes whole groups of kLane elements; the rest goes through a padded copy.
template <class T>
void apply(ElementKernel<T> kernel, T* out, const T* a, const T* b, T k, std::int64_t n) {
  const std::int64_t bulk = n / kLane<T> * kLane<T>, rest = n - bulk;
  if (bulk > 0) kernel(out, a, b, nullptr, k, bulk);
  if (rest == 0) return;
  alignas(64) T tail_a[kLane<T>] = {}, tail_b[kLane<T>] = {};
  std::copy_n(a + bulk, rest, tail_a);
  if (b != nullptr) std::copy_n(b + bulk, rest, tail_b);
  kernel(tail_a, tail_a, tail_b, nullptr, k, kLane<T>);
  std::copy_n(tail_a, rest, out + bulk);
}

/// The tensor, or a copy if it lies over external memory that the kernels cannot read.
Tensor aligned(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.raw()) % kAlignment == 0 ? tensor : tensor.clone();
}

}  // namespace

void apply_element(ElementOp op, Tensor& out, const Tensor& given_a, const Tensor& given_b, double k) {
  const Tensor a = aligned(given_a), b = aligned(given_b);
  with_scalar(out.dtype(), [&]<class T>() {
    const ElementKernel<T> kernel = kernels<T>(best_level()).element[static_cast<int>(op)];
    apply<T>(kernel, out.values<T>().data(), a.values<T>().data(), b.empty() ? nullptr : b.values<T>().data(),
             static_cast<T>(k), out.numel());
  });
}

Tensor element(ElementOp op, const Tensor& a, const Tensor& b, double k) {
  Tensor out(a.shape(), a.dtype());
  apply_element(op, out, a, b, k);
  return out;
}

}  // namespace lagtape
