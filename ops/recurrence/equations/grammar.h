#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/tokens.h"

namespace lagtape {

/// A recursive-descent reader of expressions (the grammar is in equations.h). The derived Parser gives them
/// their meaning, in these functions:
///
///     Operand number(token)                     Operand named(token)       a name and what follows it
///     Operand negated(sign, operand)            Operand called(token)      a name before "("
///     Operand inverted(sign, operand)           of "not"
///     Operand combined(sign, left, right)       for + - * / % @ ** ^, < > <= >= == != and "and", "or"
///     Operand enclosed(token, operand)          called after a closing bracket
template <class Parser, class Operand>
class EquationGrammar : public EquationCursor {
 protected:
  using EquationCursor::EquationCursor;

  Operand condition() {
    Operand left = conjunction();
    while (is_word("or")) {
      const EquationToken word = take();
      left = parser().combined(word, left, conjunction());
    }
    return left;
  }

  Operand sum() {
    Operand left = term();
    while (peek().is("+") || peek().is("-")) {
      const EquationToken sign = take();
      left = parser().combined(sign, left, term());
    }
    return left;
  }

  /// The operands between brackets up to the closing one or to "evaluate"; the opening one is taken already.
  std::vector<Operand> arguments() {
    std::vector<Operand> values;
    if (peek().is(")") || peek().text == "evaluate") return values;
    do {
      if (peek().text == "evaluate") break;
      take_keyword("axis");  // always the last argument
      values.push_back(condition());
    } while (take_sign(","));
    return values;
  }

  void check_count(const EquationToken& name, std::size_t count, std::size_t least, std::size_t most) const {
    if (count >= least && count <= most) return;
    const std::string range = least == most ? text_of(least) : text_of(least, " to ", most);
    fail(name, text_of("'", name.text, "' takes ", range, most == 1 ? " argument" : " arguments", ". Got ",
                       count, "."));
  }

 private:
  Parser& parser() { return static_cast<Parser&>(*this); }

  bool is_word(std::string_view word) const {
    return peek().kind == EquationToken::Kind::name && peek().text == word;
  }

  bool compares(const EquationToken& token) const {
    for (const std::string_view sign : {"<", ">", "<=", ">=", "==", "!="})
      if (token.is(sign)) return true;
    return false;
  }

  Operand conjunction() {
    Operand left = inversion();
    while (is_word("and")) {
      const EquationToken word = take();
      left = parser().combined(word, left, inversion());
    }
    return left;
  }

  Operand inversion() {
    if (!is_word("not")) return comparison();
    const EquationToken word = take();
    const Nesting nesting(*this, word);
    return parser().inverted(word, inversion());
  }

  Operand comparison() {
    const Operand left = sum();
    if (!compares(peek())) return left;
    const EquationToken sign = take();
    const Operand result = parser().combined(sign, left, sum());
    if (compares(peek())) fail(peek(), "comparisons are not chained; write a < b and b < c.");
    return result;
  }

  Operand term() {
    Operand left = factor();
    while (peek().is("*") || peek().is("/") || peek().is("%") || peek().is("@")) {
      const EquationToken sign = take();
      if (sign.is("/") && peek().is("/")) fail(sign, "there is no //; write floor(a / b).");
      left = parser().combined(sign, left, factor());
    }
    return left;
  }

  /// Counts how deep an expression is nested, which would fill the stack.
  struct Nesting {
    Nesting(EquationGrammar& grammar, const EquationToken& at) : depth(grammar.depth_) {
      constexpr int kDeepest = 200;
      if (++depth > kDeepest) grammar.fail(at, text_of("this is nested more than ", kDeepest, " deep."));
    }
    ~Nesting() { --depth; }
    int& depth;
  };

  Operand factor() {
    const EquationToken token = take();
    const Nesting nesting(*this, token);
    if (token.is("-")) return parser().negated(token, factor());
    const Operand base = factor_from(token);
    if (!peek().is("**") && !peek().is("^")) return base;
    const EquationToken sign = take();
    return parser().combined(sign, base, factor());
  }

  Operand factor_from(const EquationToken& token) {
    if (token.kind == EquationToken::Kind::number) return parser().number(token);
    if (token.is("(")) {
      const Operand inner = condition();
      close(")");
      return parser().enclosed(token, inner);
    }
    if (token.kind != EquationToken::Kind::name) {
      if (token.kind != EquationToken::Kind::end) put_back();
      expected("a name, a number or '('");
    }
    if (take_sign("(")) return parser().enclosed(token, parser().called(token));
    return parser().named(token);
  }

  int depth_ = 0;
};

}  // namespace lagtape
