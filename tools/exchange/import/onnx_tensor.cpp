#include "lagtape/tools/exchange/import/onnx_tensor.h"

#include <algorithm>

namespace lagtape::foreign {
namespace {

Integers strides_of(const Shape& shape) {
  Integers strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

Integers OnnxTensor::integers() const {
  constexpr double kMost = 4611686018427387904.0;  // 2^62
  Integers all;
  for (const double value : values)
    all.push_back(static_cast<std::int64_t>(std::clamp(value, -kMost, kMost)));
  return all;
}

Tensor OnnxTensor::tensor() const { return Tensor::from(shape, values, Dtype::f64); }

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > kMostFolded)
      return kMostFolded + 1;
  return count;
}

OnnxTensor picked(const OnnxTensor& source, const Shape& shape,
                  const std::function<std::int64_t(const Integers& index)>& position) {
  OnnxTensor result{
      shape, {}, source.is_real, source.is_double, source.is_count, source.is_step, source.depends_on_step};
  const std::int64_t count = count_of(shape);
  Integers index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    result.values.push_back(source.values[static_cast<std::size_t>(position(index))]);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

Shape spread_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {  // from the last axis
    const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1,
                       of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return {-1};
    shape[shape.size() - 1 - i] = of_a == 1 ? of_b : of_a;
  }
  return shape;
}

OnnxTensor spread(const OnnxTensor& tensor, const Shape& shape) {
  const Integers strides = strides_of(tensor.shape);
  const std::size_t missing = shape.size() - tensor.shape.size();
  return picked(tensor, shape, [&](const Integers& index) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (tensor.shape[i] > 1) at += strides[i] * index[i + missing];
    return at;
  });
}

OnnxTensor transposed(const OnnxTensor& tensor, const Integers& order) {
  const Integers strides = strides_of(tensor.shape);
  Shape shape;
  for (const std::int64_t axis : order) shape.push_back(tensor.shape[static_cast<std::size_t>(axis)]);
  return picked(tensor, shape, [&](const Integers& index) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      at += strides[static_cast<std::size_t>(order[i])] * index[i];
    return at;
  });
}

OnnxTensor taken(const OnnxTensor& tensor, std::size_t axis, const Integers& indices) {
  const Integers strides = strides_of(tensor.shape);
  Shape shape = tensor.shape;
  shape[axis] = std::ssize(indices);
  return picked(tensor, shape, [&](const Integers& index) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      at += strides[i] * (i == axis ? indices[static_cast<std::size_t>(index[i])] : index[i]);
    return at;
  });
}

OnnxTensor joined(const std::vector<OnnxTensor>& parts, std::size_t axis) {
  OnnxTensor result{parts.front().shape, {}, parts.front().is_real};
  result.shape[axis] = 0;
  std::int64_t before = 1;
  for (std::size_t i = 0; i < axis; ++i) before *= result.shape[i];
  for (const OnnxTensor& part : parts) {
    result.shape[axis] += part.shape[axis];
    result.is_double = result.is_double || part.is_double;
    result.is_count = result.is_count || part.is_count;
  }
  for (std::int64_t row = 0; row < before; ++row)
    for (const OnnxTensor& part : parts) {
      const std::int64_t width = part.numel() / std::max<std::int64_t>(before, 1);
      result.values.insert(result.values.end(), part.values.begin() + row * width,
                           part.values.begin() + (row + 1) * width);
    }
  return result;
}

Integers slice_indices(std::int64_t extent, std::int64_t begin, std::int64_t end, std::int64_t step) {
  Integers indices;
  if (begin < 0) begin += extent;
  if (end < 0) end += extent;
  begin = std::clamp<std::int64_t>(begin, 0, step > 0 ? extent : extent - 1);
  end = std::clamp<std::int64_t>(end, step > 0 ? 0 : -1, extent);
  step = std::clamp(step, -extent - 1, extent + 1);
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) indices.push_back(i);
  return indices;
}

Shape reshaped_extents(const Shape& from, const Integers& wanted, bool zero_is_zero) {
  Shape shape = wanted;
  std::int64_t rest = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) shape[i] = i < from.size() ? from[i] : -2;
    if (shape[i] == -1) {
      if (rest >= 0) return {};
      rest = static_cast<std::int64_t>(i);
      shape[i] = 1;
    }
  }
  // Extents of values that are never computed may be large; their product is that of an allowed tensor.
  std::int64_t all = 1, given = 1;
  for (const std::int64_t extent : from)
    if (__builtin_mul_overflow(all, extent, &all)) return {};
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(given, extent, &given)) return {};
  if (rest >= 0) {
    if (given == 0 || all % given != 0) return {};
    shape[static_cast<std::size_t>(rest)] = all / given;
  } else if (given != all) {
    return {};
  }
  return shape;
}

}  // namespace lagtape::foreign
