#include "lagtape/core/normalization.h"

#include <limits>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

using f32 = std::numeric_limits<float>;

// Throws InputError unless number `i` is between `least` and the largest f32 number.
void check_in(double number, double least, const char* name, const char* what, std::int64_t i) {
  if (number >= least && number <= f32::max()) return;
  throw unexpected({.item = text_of(name, " of ", what, " ", i), .op = "normalization"}, Rule::out_of_range,
                   text_of("a number from ", least, " to ", f32::max()), text_of(number));
}

}  // namespace

void Scaling::check(std::int64_t width, const char* what) const {
  const auto means = std::ssize(mean), scales = std::ssize(scale);
  if (means != scales || (means != 0 && means != width)) {
    throw unexpected({.op = "normalization"}, Rule::shape,
                     text_of("a mean and a scale for each of ", width, " ", what, "s, or none"),
                     text_of(means, " means, ", scales, " scales"));
  }
  for (std::int64_t i = 0; i < means; ++i) {
    check_in(mean[i], -f32::max(), "mean", what, i);
    check_in(scale[i], kLeastScale, "scale", what, i);
  }
}

void Normalization::check(std::int64_t inputs, std::int64_t outputs) const {
  input.check(inputs, "input");
  output.check(outputs, "output");
}

}  // namespace lagtape
