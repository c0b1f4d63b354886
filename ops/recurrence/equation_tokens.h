#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

// Internal: a detail of equations.cpp.

/// A line of an equation cell, and what messages call it: "equation 3", "output".
struct EquationLine {
  std::string label;
  std::string text;
};

/// A name (W1.bias, h'), a number, a sign of one character, or the end of the line.
struct EquationToken {
  enum class Kind { name, number, sign, end } kind = Kind::end;
  std::string_view text;  ///< in the line
  double value = 0;       ///< of a number
  std::size_t position = 0;

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
};

/// The tokens of a line, the end last. Throws InputError for a character that no equation has.
std::vector<EquationToken> tokens_of(const EquationLine& line);

/// Whether a text is one name, without a prime.
bool is_equation_name(std::string_view text);

/// Throws InputError "LABEL, column C: MESSAGE In: TEXT". Columns count characters from 1.
[[noreturn]] void equation_error(const EquationLine& line, std::size_t position, const std::string& message);

}  // namespace lagtape
