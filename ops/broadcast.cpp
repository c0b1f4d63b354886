#include "lagtape/ops/broadcast.h"

#include <algorithm>

#include "lagtape/ops/strides.h"

namespace lagtape {
namespace {

/// Strides over a dense array of shape `from` as repeated to shape `to`.
Strides repeated_strides(const Shape& from, const Shape& to) {
  const Strides dense = dense_strides(from);
  Strides strides(to.size(), 0);
  const std::size_t missing = to.size() - from.size();
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) strides[missing + axis] = dense[axis];
  }
  return strides;
}

}  // namespace

Shape broadcast_shape(std::string_view op, const NamedInput& a, const NamedInput& b) {
  const Shape& longer = a.var.shape().size() >= b.var.shape().size() ? a.var.shape() : b.var.shape();
  const Shape& shorter = &longer == &a.var.shape() ? b.var.shape() : a.var.shape();
  Shape common = longer;
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& extent = common[missing + axis];
    if (extent != shorter[axis] && extent != 1 && shorter[axis] != 1) {
      refuse(op, "shapes must agree or broadcast", {a, b},
             "Axes are aligned from the last; only an extent of 1 is repeated.");
    }
    if (extent == 1) extent = shorter[axis];
  }
  return common;
}

Tensor expand(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor out(shape, x.dtype());
  with_scalar(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    auto to = out.values<T>().begin();
    for_each_offset(shape, repeated_strides(x.shape(), shape), 0, [&](std::int64_t i) { *to++ = from[i]; });
  });
  return out;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor out(shape, x.dtype());
  std::vector<double> sums(out.numel(), 0.0);
  with_scalar(x.dtype(), [&]<class T>() {
    auto from = x.values<T>().begin();
    for_each_offset(x.shape(), repeated_strides(shape, x.shape()), 0,
                    [&](std::int64_t i) { sums[i] += *from++; });
    std::copy(sums.begin(), sums.end(), out.values<T>().begin());
  });
  return out;
}

}  // namespace lagtape
