#include "lagtape/ops/checks.h"

#include "lagtape/core/error.h"

namespace lagtape {

std::string describe_shapes(NamedInputs inputs) {
  std::string text;
  for (const auto& [name, var] : inputs)
    text += text_of(text.empty() ? "" : ", ", name, " ", to_string(var.shape()));
  return text;
}

void refuse(std::string_view op, std::string_view rule, NamedInputs inputs, std::string_view hint) {
  throw InputError({.op = std::string(op)}, Rule::shape, std::string(rule), describe_shapes(inputs),
                   std::string(hint));
}

Tape& common_tape(std::string_view op, NamedInputs inputs) {
  const Place place{.op = std::string(op)};
  const Var& first = inputs.begin()->var;
  for (const auto& [name, var] : inputs) {
    if (var.index() < 0)
      throw InputError(place, Rule::missing, "inputs must be on a tape", text_of("an empty Var for ", name));
    if (&var.tape() != &first.tape())
      throw InputError(place, Rule::conflict, "inputs must be of one tape", describe_shapes(inputs));
  }
  for (const auto& [name, var] : inputs) {
    if (var.dtype() == first.dtype()) continue;
    throw InputError(
        place, Rule::wrong_type, "inputs must have one dtype",
        text_of(inputs.begin()->name, " ", name_of(first.dtype()), ", ", name, " ", name_of(var.dtype())));
  }
  return first.tape();
}

std::int64_t checked_axis(std::string_view op, const NamedInput& x, std::int64_t axis) {
  const std::int64_t rank = x.var.value().rank();
  if (axis < -rank || axis >= rank)
    refuse(op, text_of(rank == 0 ? "a scalar has no axes, such as " : "there is no axis ", axis), {x});
  return axis < 0 ? axis + rank : axis;
}

}  // namespace lagtape
