#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/problem.h"

namespace lagtape {

/// A line of an equation cell, and its name in messages: "equation 3", "output".
struct EquationLine {
  std::string label;
  std::string text;
  std::string pointer = {};  ///< where it is in the cell: "/step/2"
};

/// A name (W1.bias, h'), a number (2, or 2j), a sign (one character, ".T", ".mT", "..", "...", "<=", ">=",
/// "==", "!=" or "**"), a quoted text, or the end of the line. Comments start with # and end with their line.
struct EquationToken {
  enum class Kind { name, number, sign, text, end } kind = Kind::end;
  std::string_view text;  ///< in the line, including its quotes
  double value = 0;       ///< the value of a number
  std::size_t position = 0;

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
};

/// The tokens of a line, ending with the end token. Throws InputError for a character that cannot occur in an
/// equation.
std::vector<EquationToken> tokens_of(const EquationLine& line);

/// Whether a text is a single name, without a prime.
bool is_equation_name(std::string_view text);

/// Thrown for a line that reads a name from another line with an error: one message is enough.
struct FollowingError {};

/// Reads the tokens of a line in order.
class EquationCursor {
 public:
  explicit EquationCursor(EquationLine line) : line_(std::move(line)), tokens_(tokens_of(line_)) {}

  [[noreturn]] void fail(const EquationToken& at, const Problem& problem) const;
  [[noreturn]] void fail(const EquationToken& at, const std::string& statement, Rule rule = Rule::syntax,
                         const std::string& found = "") const {
    fail(at, Problem{.rule = rule, .statement = statement, .found = found});
  }
  Place place_of(const EquationToken& token) const;
  /// "/step/2, column 5"
  std::string text_of_place(const EquationToken& token) const;
  /// The cursor's position, and a return to it: for repeating a loop.
  std::size_t position() const { return next_; }
  void rewind(std::size_t position) { next_ = position; }
  /// Takes the name that an equation sets: everything up to "=".
  EquationToken target();
  bool at_end() const { return peek().kind == EquationToken::Kind::end; }

 protected:
  const EquationToken& peek() const { return tokens_[next_]; }
  EquationToken take();
  void put_back() { --next_; }
  bool take_sign(std::string_view sign);
  /// Reads "NAME =", as before a keyword argument.
  bool take_keyword(std::string_view name);
  /// Whether the bracket that opens here contains one of these, outside nested brackets.
  bool brackets_have(std::initializer_list<std::string_view> texts) const;
  /// How many indices other than None follow in the open bracket, after the current one.
  std::size_t indices_ahead() const;
  /// Takes the closing bracket of a part that was opened.
  void close(std::string_view bracket);
  [[noreturn]] void expected(const std::string& what) const;
  /// Whether a statement can end here: before "NAME =", before a loop, or at the end.
  bool at_statement() const;
  /// Throws unless the whole line has been read.
  void check_end() const;

 private:
  EquationLine line_;
  std::vector<EquationToken> tokens_;
  std::size_t next_ = 0;
};

/// "LABEL, column C", with the text around it. Columns count characters from 1.
Place place_in(const EquationLine& line, std::size_t position);
/// Throws InputError with the problem at that place.
[[noreturn]] void equation_error(const EquationLine& line, std::size_t position, const Problem& problem);

}  // namespace lagtape
