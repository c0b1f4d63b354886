#pragma once

#include <optional>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/c/c_api.h"
#include "lagtape/tools/c/call_checks.h"

namespace lagtape::c {

inline Interpolation interpolation_of(lagtape_interpolation given, const char* call) {
  if (given != LAGTAPE_CUBIC && given != LAGTAPE_LINEAR)
    throw InputError({.op = call}, Rule::out_of_range, "an interpolation is 0 or 1",
                     text_of(static_cast<int>(given)));
  return given == LAGTAPE_CUBIC ? Interpolation::cubic : Interpolation::linear;
}

/// A stream's options, for a model with this input width. The calibration is a view of the caller's memory.
inline StreamOptions options_of(const lagtape_stream_options& given, std::int64_t input_width,
                                const char* call) {
  const auto weights = static_cast<int>(given.weights);
  if (weights < LAGTAPE_OWN || weights > LAGTAPE_UNROUNDED)
    throw InputError({.op = call}, Rule::out_of_range, "weights are 0, 1, 2 or 3", text_of(weights));
  constexpr std::optional<ProductFormat> kFormats[] = {
      {}, ProductFormat::bf16, ProductFormat::int8, ProductFormat::scalar};
  StreamOptions options{.rows = given.rows == 0 ? 1 : given.rows,
                        .rate = given.rate == 0 ? 1 : given.rate,
                        .interpolation = interpolation_of(given.interpolation, call),
                        .weights = kFormats[weights]};
  if (given.calibration == nullptr) return options;
  const std::int64_t rows = given.calibration_rows == 0 ? 1 : given.calibration_rows;
  require_at_least(1, rows, call, "calibration_rows");
  require_at_least(1, given.calibration_steps, call, "calibration_steps");
  if (!product(rows, given.calibration_steps, input_width))
    throw InputError(
        {.op = call}, Rule::no_memory,
        text_of(rows, " rows of ", given.calibration_steps, " steps are more than memory can hold"));
  options.calibration =
      Tensor::over(given.calibration, {rows, given.calibration_steps, input_width}, Dtype::f32);
  return options;
}

}  // namespace lagtape::c
