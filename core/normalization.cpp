#include "lagtape/core/normalization.h"

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

void check_scaling(const Scaling& scaling, std::int64_t width, const char* what) {
  const auto means = std::ssize(scaling.mean), scales = std::ssize(scaling.scale);
  if (means != scales || (means != 0 && means != width)) {
    throw InputError(concat("[normalization] expected a mean and a scale for each of ", width, " ", what,
                            "s, or none. Got ", means, " means, ", scales, " scales."));
  }
  for (std::int64_t i = 0; i < means; ++i) {
    const double mean = scaling.mean[i], scale = scaling.scale[i];
    if (std::isfinite(mean) && std::isfinite(scale) && scale > 0) continue;
    throw InputError(concat("[normalization] expected finite means and scales above 0. Got ", mean, " and ",
                            scale, " for ", what, " ", i, "."));
  }
}

}  // namespace

void Normalization::check(std::int64_t inputs, std::int64_t outputs) const {
  check_scaling(input, inputs, "input");
  check_scaling(output, outputs, "output");
}

}  // namespace lagtape
