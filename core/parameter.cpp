#include "lagtape/core/parameter.h"

#include <utility>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {

Parameter& Parameters::add(std::string name, Tensor value, bool trainable) {
  if (!places_.emplace(name, all_.size()).second)
    throw InputError({.op = "parameters"}, Rule::conflict, "a name is used once",
                     text_of("'", name, "' again"));
  Tensor grad(value.shape(), value.dtype());
  return all_.emplace_back(Parameter{std::move(name), std::move(value), std::move(grad), trainable, {}});
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
