#pragma once

#include <string_view>

#include "lagtape/core/product_format.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

/// The precision of a model: its numbers, and the operands of its products. Converts to the type of its
/// tensors.
class Precision {
 public:
  constexpr Precision(Dtype dtype = Dtype::f32, ProductFormat products = ProductFormat::scalar)
      : dtype_(dtype), products_(products) {}
  constexpr operator Dtype() const { return dtype_; }
  constexpr ProductFormat products() const { return products_; }

 private:
  Dtype dtype_;
  ProductFormat products_;
};

/// Mixed precision: tensors of f32, and products of bf16 with sums in f32.
inline constexpr Precision kBf16{Dtype::f32, ProductFormat::bf16};

std::string_view name_of(Precision precision);  ///< "f32", "f64" or "bf16"
/// The precision of one of those names; f32 for any other.
Precision precision_named(std::string_view name);

}  // namespace lagtape
