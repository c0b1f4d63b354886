#include "lagtape/core/parameter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {

bool Bounds::contains(double v) const {
  if (scale == Scale::logit) return low < v && v < high;
  return low <= v && v <= high && (scale == Scale::linear || v > 0);
}

double Bounds::to_scale(double v) const {
  if (scale == Scale::log) return std::log(v);
  return scale == Scale::logit ? std::log((v - low) / (high - v)) : v;
}

double Bounds::from_scale(double u) const {
  if (scale == Scale::linear) return std::clamp(u, low, high);
  if (scale == Scale::log)
    return std::clamp(std::exp(u), std::max(low, std::numeric_limits<double>::min()),
                      std::min(high, std::numeric_limits<double>::max()));
  // Computed from the nearer bound, so that no digits are lost there.
  const double width = high - low, part = width / (1 + std::exp(std::abs(u)));
  return std::clamp(u < 0 ? low + part : high - part, std::nextafter(low, high), std::nextafter(high, low));
}

double Bounds::slope(double v) const {
  if (scale == Scale::log) return v;
  return scale == Scale::logit ? (v - low) / (high - low) * (high - v) : 1;
}

Parameter& Parameters::add(std::string name, Tensor value, bool trainable) {
  if (!places_.emplace(name, all_.size()).second)
    throw InputError({.op = "parameters"}, Rule::conflict, "a name is used once",
                     text_of("'", name, "' again"));
  Tensor grad(value.shape(), value.dtype());
  return all_.emplace_back(Parameter{std::move(name), std::move(value), std::move(grad), trainable, {}, {}});
}

const Parameter& Parameters::operator[](std::string_view name) const {
  if (const auto found = places_.find(name); found != places_.end()) return all_[found->second];
  std::vector<std::string> known;
  for (const Parameter& parameter : all_) known.push_back(parameter.name);
  throw InputError(unknown_name("parameter", name, known));
}

Parameter& Parameters::operator[](std::string_view name) {
  return const_cast<Parameter&>(std::as_const(*this)[name]);
}

bool Parameters::contains(std::string_view name) const { return places_.contains(name); }

std::int64_t Parameters::count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : all_) {
    if (parameter.trainable) count += parameter.value.numel();
  }
  return count;
}

void Parameters::zero_grad() {
  for (Parameter& parameter : all_) parameter.grad.fill(0);
}

}  // namespace lagtape
