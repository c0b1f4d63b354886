#include "lagtape/core/precision.h"

namespace lagtape {

std::string_view name_of(Precision precision) {
  return precision.products() == ProductFormat::bf16 ? "bf16" : name_of(static_cast<Dtype>(precision));
}

Precision precision_named(std::string_view name) {
  for (const Precision precision : {Precision(Dtype::f64), kBf16})
    if (name == name_of(precision)) return precision;
  return Dtype::f32;
}

}  // namespace lagtape
