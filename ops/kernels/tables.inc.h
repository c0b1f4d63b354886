#pragma once

#include "lagtape/core/simd/vector.h"
#include "lagtape/ops/kernels/bf16.inc.h"
#include "lagtape/ops/kernels/element.inc.h"
#include "lagtape/ops/kernels/grid.inc.h"
#include "lagtape/ops/kernels/int8.inc.h"
#include "lagtape/ops/kernels/outer_product.inc.h"
#include "lagtape/ops/kernels/product.inc.h"
#include "lagtape/ops/kernels/reductions.inc.h"
#include "lagtape/ops/kernels/scaled_column.inc.h"
#include "lagtape/ops/kernels/scaled_sums.inc.h"
#include "lagtape/ops/kernels/tables.h"
#include "lagtape/ops/kernels/traces.inc.h"

namespace lagtape {

template <class S>
constexpr Kernels<typename S::Scalar> make_kernels(SimdLevel level) {
  Kernels<typename S::Scalar> table{};
  table.level = level;
  table.fused = S::kFused;
  fill_element_kernels<S>(table);
  table.pack = &pack<S>;
  table.pack_part = &pack_part<S>;
  table.product = &multiply_packed<S>;
  table.add_scaled_sums = &add_scaled_sums<S>;
  table.sum_groups = &sum_groups<S>;
  table.broadcast_groups = &broadcast_groups<S>;
  table.scale_column = &scale_column<S>;
  table.update_traces = &update_traces<S>;
  table.add_on_grid = &add_on_grid<S>;
  table.save = &save_rounded<S>;
  table.restore = &restore_rounded<S>;
  table.add_outer_products = &add_outer_products<S>;
  return table;
}

template <class T, SimdLevel level>
const Kernels<T>& compiled_kernels() {
  static constexpr Kernels<T> table = make_kernels<Simd<T, level>>(level);
  return table;
}

template <class S>
constexpr Kernels<typename S::Scalar> make_bf16_emulation(SimdLevel level) {
  Kernels<typename S::Scalar> table = make_kernels<S>(level);
  fill_bf16_products<Bf16Emulation<S>>(table);
  return table;
}

template <class T, SimdLevel level>
const Kernels<T>& compiled_bf16_emulation() {
  static constexpr Kernels<T> table = make_bf16_emulation<Simd<T, level>>(level);
  return table;
}

template <class S>
constexpr Kernels<float> make_int8_emulation(SimdLevel level) {
  Kernels<float> table = make_kernels<S>(level);
  fill_int8_products<S, Int8Integers<S>>(table);
  return table;
}

template <SimdLevel level>
const Kernels<float>& compiled_int8_emulation() {
  static constexpr Kernels<float> table = make_int8_emulation<Simd<float, level>>(level);
  return table;
}

}  // namespace lagtape
