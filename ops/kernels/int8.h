#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

// Products of numbers quantized to eight bits, for streams of trained models.  A weight's row (the weights of
// one output) has its own scale, its largest magnitude divided by 127. An operand has one scale, from the range
// found by calibration; numbers beyond the range are clipped to it. Both are rounded to the nearest multiple of
// their scale, ties to even. A sum is of integers and exact; it is rounded to f32, multiplied by the product of
// the two scales, and rounded again. So the bits do not depend on the instructions or the order of summation.
// An operand that contains a non-finite number makes all its sums NaN.
//
// Products of numbers quantized to eight bits, for streams of trained models.  A weight's row (the weights of
// one output) has its own scale, its largest magnitude divided by 127. An operand has one scale, from the range
// found by calibration; numbers beyond the range are clipped to it. Both are rounded to the nearest multiple of
// their scale, ties to even. A sum is of integers and exact; it is rounded to f32, multiplied by the product of
// the two scales, and rounded again. So the bits do not depend on the instructions or the order of summation.
// An operand that contains a non-finite number makes all its sums NaN.

/// Whether a product is quantized: from at least 64 numbers to at least 64 others, including padding. Smaller
/// ones are faster without. A sum of more than 65,536 numbers might not fit in 32 bits.
constexpr bool takes_int8(std::int64_t k, std::int64_t columns) {
  return k >= 64 && k <= 65536 && columns >= 64;
}

/// The largest quantized magnitude.
inline constexpr float kInt8Most = 127;

/// A packed matrix of quantized weights, in the memory of `packed_elements` scalars.
class Int8Matrix {
 public:
  [[gnu::always_inline]] Int8Matrix(float* packed, std::int64_t k, std::int64_t columns)
      : header_(packed), quads_((k + 3) / 4), columns_(columns) {}
  [[gnu::always_inline]] Int8Matrix(const float* packed, std::int64_t k, std::int64_t columns)
      : Int8Matrix(const_cast<float*>(packed), k, columns) {}

  /// The magnitude that the operand's largest quantized number represents. Set before the weights are packed.
  [[gnu::always_inline]] void set_range(float range) { header_[0] = range; }
  [[gnu::always_inline]] float range() const { return header_[0]; }
  /// The factor by which an operand's numbers are multiplied before rounding.
  [[gnu::always_inline]] float inverse_scale() const { return kInt8Most / range(); }
  /// For each column: the factor of the integer sum.
  [[gnu::always_inline]] float* scales() const { return header_ + kLane<float>; }
  /// For each column: the correction of a sum over numbers that are 128 too large, as unsigned bytes.
  [[gnu::always_inline]] std::int32_t* corrections() const {
    return reinterpret_cast<std::int32_t*>(scales() + columns_);
  }
  /// Groups of kLane columns in sequence; four elements of each column, then the next four.
  [[gnu::always_inline]] std::int8_t* quads() const {
    return reinterpret_cast<std::int8_t*>(corrections() + columns_);
  }
  /// The group of columns that starts at `column`.
  [[gnu::always_inline]] std::int8_t* group(std::int64_t column) const {
    return quads() + column * 4 * quads_;
  }

  [[gnu::always_inline]] std::int64_t quad_count() const { return quads_; }

 private:
  float* header_;
  std::int64_t quads_, columns_;
};

}  // namespace lagtape
