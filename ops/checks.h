#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tape.h"

namespace lagtape {

// The rules that operations have for their inputs, and the errors for violations.

/// An input with its name in the operation's formula.
struct NamedInput {
  std::string name;
  const Var& var;
};
using NamedInputs = std::initializer_list<NamedInput>;

/// "a [8, 3], b [4, 5]"
std::string describe_shapes(NamedInputs inputs);

/// Throws InputError "[op] rule. Got a [8, 3], b [4, 5]. hint", with Rule::shape.
[[noreturn]] void refuse(std::string_view op, std::string_view rule, NamedInputs inputs,
                         std::string_view hint = "");

/// The tape of all inputs. Throws InputError unless they share one tape and one dtype.
Tape& common_tape(std::string_view op, NamedInputs inputs);

/// The axis of x, counted from the front; negative axes count from the end. Throws InputError if there is none.
std::int64_t checked_axis(std::string_view op, const NamedInput& x, std::int64_t axis);

}  // namespace lagtape
