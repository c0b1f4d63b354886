#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

enum class Dtype { f32, f64 };

template <class T>
inline constexpr Dtype dtype_of = sizeof(T) == 4 ? Dtype::f32 : Dtype::f64;

std::size_t byte_size(Dtype dtype);
std::string_view name_of(Dtype dtype);  ///< "f32" or "f64"

using Shape = std::vector<std::int64_t>;

std::int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);               ///< "[8, 3]"
std::string to_string(Dtype dtype, const Shape& shape);  ///< "f32 [8, 3]"

class Arena;
class InputError;
struct Place;

/// A dense row-major array of f32 or f64, 64-byte aligned unless it lies over another's memory. Copies share the
/// storage; `clone` does not.
/// A default-constructed tensor is empty: rank 0, no elements, no storage. A scalar has shape {} and one
/// element.
class Tensor {
 public:
  Tensor() = default;

  /// Zeros. Throws InputError for a negative extent or a size that overflows.
  Tensor(Shape shape, Dtype dtype);

  /// Zeros in memory owned by the arena, valid until the arena is rewound past it.
  Tensor(Shape shape, Dtype dtype, Arena& arena);

  static Tensor full(Shape shape, Dtype dtype, double value);
  static Tensor scalar(double value, Dtype dtype);
  /// The values in row-major order, rounded to dtype. Throws InputError if they do not fit the shape.
  static Tensor from(Shape shape, std::span<const double> values, Dtype dtype);
  static Tensor from(Shape shape, std::initializer_list<double> values, Dtype dtype);
  /// Another owner's elements in place, aligned as one element is. They are only read: nothing
  /// may write through this tensor or its copies. `owner` is held by every copy; without one, the memory must outlive
  /// them all.
  static Tensor over(const void* elements, Shape shape, Dtype dtype,
                     std::shared_ptr<const void> owner = nullptr);

  bool empty() const { return data_ == nullptr; }
  Dtype dtype() const { return dtype_; }
  bool is(Dtype dtype, const Shape& shape) const { return dtype_ == dtype && shape_ == shape; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  /// The extent of an axis; negative axes count from the end. Throws InputError when there is none.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t numel() const { return empty() ? 0 : numel_; }

  /// The elements. Throws Error when T is not the dtype.
  template <class T>
  std::span<T> values();
  template <class T>
  std::span<const T> values() const;

  void* raw() { return data_.get(); }
  const void* raw() const { return data_.get(); }

  /// The element at a flat row-major index, whatever the dtype.
  double at(std::int64_t index) const;
  void set(std::int64_t index, double value);
  double item() const;  ///< The only element. Throws Error unless numel is 1.

  void fill(double value);
  Tensor clone() const;
  Tensor to(Dtype dtype) const;  ///< A converted copy, or the same storage if the dtype already matches.
  Tensor reshaped(Shape shape) const;  ///< The same storage. Throws InputError unless the counts agree.

 private:
  Shape shape_;
  std::int64_t numel_ = 0;
  Dtype dtype_ = Dtype::f32;
  std::shared_ptr<void> data_;
};

/// Calls f.template operator()<float>() or <double>() according to the dtype.
template <class F>
decltype(auto) with_scalar(Dtype dtype, F&& f) {
  return dtype == Dtype::f32 ? f.template operator()<float>() : f.template operator()<double>();
}

/// The error for a tensor with the wrong shape or type: "PLACE: expected f32 [8, 3], got f64 [8]".
InputError wrong_tensor(const Place& place, Dtype dtype, const Shape& shape, const Tensor& found);

}  // namespace lagtape
