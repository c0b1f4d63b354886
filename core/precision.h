#pragma once

#include <string_view>

#include "lagtape/core/product_format.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

/// The precision of a model: the type of its numbers, and the format of its products' operands. Converts to the
/// tensors' type.
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

/// Mixed precision: f32 tensors, and bf16 products with f32 sums.
inline constexpr Precision kBf16{Dtype::f32, ProductFormat::bf16};

std::string_view name_of(Precision precision);  ///< "f32", "f64" or "bf16"
/// The precision with one of those names; f32 for any other name.
Precision precision_named(std::string_view name);

}  // namespace lagtape
