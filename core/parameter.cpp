#include "lagtape/core/parameter.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

template <class All>
auto& find(All& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Parameter::name);
  if (found != all.end()) return *found;
  std::vector<std::string> known;
  for (const Parameter& parameter : all) known.push_back(parameter.name);
  throw InputError(unknown_name("parameter", name, known));
}

}  // namespace

Parameter& Parameters::add(std::string name, Tensor value, bool trainable) {
  if (contains(name)) throw InputError(text_of("[parameters] a name is used once. Got '", name, "' again."));
  Tensor grad(value.shape(), value.dtype());
  return all_.emplace_back(Parameter{std::move(name), std::move(value), std::move(grad), trainable, {}});
}

Parameter& Parameters::operator[](std::string_view name) { return find(all_, name); }

const Parameter& Parameters::operator[](std::string_view name) const { return find(all_, name); }

bool Parameters::contains(std::string_view name) const {
  return std::ranges::find(all_, name, &Parameter::name) != all_.end();
}

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
