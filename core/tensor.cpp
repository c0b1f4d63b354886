#include "lagtape/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/arena.h"
#include "lagtape/core/error.h"

namespace lagtape {

std::size_t byte_size(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 8; }

std::string_view name_of(Dtype dtype) { return dtype == Dtype::f32 ? "f32" : "f64"; }

std::int64_t element_count(const Shape& shape) {
  // Counts are bounded so that the bytes of an f64 tensor still fit.
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() / 8;
  for (std::int64_t extent : shape) {
    if (extent < 0)
      throw InputError({.op = "tensor"}, Rule::out_of_range, "extents are not negative", to_string(shape));
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (count > kLargest / extent)
      throw InputError({.op = "tensor"}, Rule::out_of_range, "too large", to_string(shape));
    count *= extent;
  }
  return count;
}

std::string to_string(const Shape& shape) {
  constexpr std::size_t kMostExtents = 16;  // a file can claim any number
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), kMostExtents); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  if (shape.size() > kMostExtents) text += text_of(", ... (", shape.size(), " axes)");
  return text + "]";
}

std::string to_string(Dtype dtype, const Shape& shape) {
  return text_of(name_of(dtype), " ", to_string(shape));
}

Tensor::Tensor(Shape shape, Dtype dtype)
    : shape_(std::move(shape)), numel_(element_count(shape_)), dtype_(dtype) {
  const std::size_t bytes = numel_ * byte_size(dtype);
  data_ = allocate_zeros(bytes);
}

Tensor::Tensor(Shape shape, Dtype dtype, Arena& arena)
    : shape_(std::move(shape)), numel_(element_count(shape_)), dtype_(dtype) {
  const std::size_t bytes = numel_ * byte_size(dtype);
  data_ = std::shared_ptr<void>(std::shared_ptr<void>(), arena.allocate(bytes));  // owns nothing
  std::memset(data_.get(), 0, bytes);
}

Tensor Tensor::full(Shape shape, Dtype dtype, double value) {
  Tensor tensor(std::move(shape), dtype);
  tensor.fill(value);
  return tensor;
}

Tensor Tensor::scalar(double value, Dtype dtype) { return full({}, dtype, value); }

Tensor Tensor::from(Shape shape, std::span<const double> values, Dtype dtype) {
  if (element_count(shape) != static_cast<std::int64_t>(values.size())) {
    throw InputError({.op = "tensor"}, Rule::shape, "as many values as elements",
                     text_of(values.size(), " for ", to_string(shape)));
  }
  Tensor tensor(std::move(shape), dtype);
  with_scalar(dtype, [&]<class T>() { std::copy(values.begin(), values.end(), tensor.values<T>().begin()); });
  return tensor;
}

Tensor Tensor::from(Shape shape, std::initializer_list<double> values, Dtype dtype) {
  return from(std::move(shape), std::span<const double>(values.begin(), values.size()), dtype);
}

Tensor Tensor::over(const void* elements, Shape shape, Dtype dtype, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.numel_ = element_count(shape);
  tensor.shape_ = std::move(shape);
  tensor.dtype_ = dtype;
  static constexpr std::byte kNone{};  // even a tensor without elements has storage
  const void* data = elements != nullptr ? elements : &kNone;
  tensor.data_ =
      std::shared_ptr<void>(std::const_pointer_cast<void>(std::move(owner)), const_cast<void*>(data));
  return tensor;
}

std::int64_t Tensor::size(std::int64_t axis) const {
  const std::int64_t from_start = axis < 0 ? axis + rank() : axis;
  if (from_start < 0 || from_start >= rank()) {
    throw InputError({.op = "tensor"}, Rule::out_of_range, text_of("no axis ", axis), to_string(shape_));
  }
  return shape_[from_start];
}

template <class T>
std::span<const T> Tensor::values() const {
  if (!empty() && dtype_ != dtype_of<T>) {
    throw Error(text_of("[tensor] elements are ", name_of(dtype_), ", asked for as ", name_of(dtype_of<T>)));
  }
  return {static_cast<const T*>(data_.get()), static_cast<std::size_t>(numel())};
}

template <class T>
std::span<T> Tensor::values() {
  const std::span<const T> elements = std::as_const(*this).values<T>();
  return {static_cast<T*>(data_.get()), elements.size()};
}

template std::span<const float> Tensor::values<float>() const;
template std::span<const double> Tensor::values<double>() const;
template std::span<float> Tensor::values<float>();
template std::span<double> Tensor::values<double>();

double Tensor::at(std::int64_t index) const {
  if (index < 0 || index >= numel())
    throw Error(text_of("[tensor] no element ", index, " in ", to_string(shape_)));
  return with_scalar(dtype_, [&]<class T>() { return static_cast<double>(values<T>()[index]); });
}

void Tensor::set(std::int64_t index, double value) {
  if (index < 0 || index >= numel())
    throw Error(text_of("[tensor] no element ", index, " in ", to_string(shape_)));
  with_scalar(dtype_, [&]<class T>() { values<T>()[index] = static_cast<T>(value); });
}

double Tensor::item() const {
  if (numel() != 1) throw Error(text_of("[tensor] item() is for one element. Got ", to_string(shape_)));
  return at(0);
}

void Tensor::fill(double value) {
  with_scalar(dtype_, [&]<class T>() { std::ranges::fill(values<T>(), static_cast<T>(value)); });
}

Tensor Tensor::clone() const {
  if (empty()) return {};
  Tensor copy(shape_, dtype_);
  std::memcpy(copy.raw(), raw(), numel_ * byte_size(dtype_));
  return copy;
}

Tensor Tensor::to(Dtype dtype) const {
  if (empty() || dtype == dtype_) return *this;
  Tensor copy(shape_, dtype);
  if (dtype == Dtype::f64) {
    std::ranges::copy(values<float>(), copy.values<double>().begin());
  } else {
    std::ranges::copy(values<double>(), copy.values<float>().begin());
  }
  return copy;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != numel()) {
    throw InputError({.op = "reshape"}, Rule::shape, "the number of elements stays",
                     text_of(to_string(shape_), " to ", to_string(shape)));
  }
  Tensor view = *this;
  view.shape_ = std::move(shape);
  return view;
}

InputError wrong_tensor(const Place& place, Dtype dtype, const Shape& shape, const Tensor& found) {
  return unexpected(place, Rule::shape, to_string(dtype, shape), to_string(found.dtype(), found.shape()));
}

}  // namespace lagtape
