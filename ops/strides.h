#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

using Strides = std::vector<std::int64_t>;

/// Elements between neighbors along each axis of a dense row-major array.
inline Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Calls visit(offset) for every index of `shape` in row-major order, offset = base + sum of index[axis] *
/// strides[axis].
template <class Visit>
void for_each_offset(const Shape& shape, const Strides& strides, std::int64_t base, Visit visit) {
  const std::int64_t count = element_count(shape);
  const std::size_t rank = shape.size();
  if (rank == 0) {
    if (count > 0) visit(base);
    return;
  }
  const std::int64_t inner = shape[rank - 1], step = strides[rank - 1];
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t done = 0; done < count; done += inner) {
    for (std::int64_t i = 0; i < inner; ++i) visit(base + i * step);
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      base += strides[axis];
      if (++index[axis] < shape[axis]) break;
      base -= shape[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace lagtape
