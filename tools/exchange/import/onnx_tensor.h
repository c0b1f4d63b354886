#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape::foreign {

/// Indices, extents and axes of ONNX.
using Integers = std::vector<std::int64_t>;

/// A tensor in an ONNX file, or one computed only from such tensors.
struct OnnxTensor {
  Shape shape;
  std::vector<double> values;
  bool is_real = true;           ///< otherwise integers, or booleans
  bool is_double = false;        ///< stored as f64 in the file
  bool is_count = false;         ///< computed from a length that the file leaves open
  bool is_step = false;          ///< a loop's step number, to which a constant may be added
  bool depends_on_step = false;  ///< computed from that number in some other way

  std::int64_t numel() const { return static_cast<std::int64_t>(values.size()); }
  Integers integers() const;  ///< larger numbers are clamped to 62 bits
  Tensor tensor() const;      ///< in f64
};

/// The maximum number of elements computed for one tensor.
inline constexpr std::int64_t kMostFolded = std::int64_t{1} << 24;

/// The number of elements; kMostFolded + 1 for more than that, and for negative extents.
std::int64_t count_of(const Shape& shape);

/// A tensor of that shape and of the source's kind, whose element at an index is the source's element at a
/// position.
OnnxTensor picked(const OnnxTensor& source, const Shape& shape,
                  const std::function<std::int64_t(const Integers& index)>& position);

/// The shape to which two shapes broadcast as in NumPy; a single -1 if they do not fit.
Shape spread_shape(const Shape& a, const Shape& b);
/// A tensor repeated along axes of extent 1. `shape` is one to which it broadcasts.
OnnxTensor spread(const OnnxTensor& tensor, const Shape& shape);
OnnxTensor transposed(const OnnxTensor& tensor, const Integers& order);
/// The elements with those indices along an axis; `indices` are within the axis.
OnnxTensor taken(const OnnxTensor& tensor, std::size_t axis, const Integers& indices);
/// Concatenates tensors whose shapes agree except along the axis.
OnnxTensor joined(const std::vector<OnnxTensor>& parts, std::size_t axis);

/// The indices of an axis in a Slice.
Integers slice_indices(std::int64_t extent, std::int64_t begin, std::int64_t end, std::int64_t step);

/// The extents for a Reshape, in which 0 keeps an extent and -1 is inferred. Empty if they do not fit.
Shape reshaped_extents(const Shape& from, const Integers& wanted, bool zero_is_zero);

}  // namespace lagtape::foreign
