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
///     Operand combined(sign, left, right)       for + - * / % @ ^ and < > <= >=
///     Operand enclosed(token, operand)          called after a closing bracket
template <class Parser, class Operand>
class EquationGrammar : public EquationCursor {
 protected:
  using EquationCursor::EquationCursor;

  Operand comparison() {
    const Operand left = sum();
    if (!compares(peek())) return left;
    const EquationToken sign = take();
    const Operand result = parser().combined(sign, left, sum());
    if (compares(peek())) fail(peek(), "comparisons are not chained; write (a < b) * (b < c).");
    return result;
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
      values.push_back(comparison());
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

  bool compares(const EquationToken& token) const {
    if (token.is("==")) fail(token, "numbers are not compared for equality; write <, >, <= or >=.");
    return token.is("<") || token.is(">") || token.is("<=") || token.is(">=");
  }

  Operand term() {
    Operand left = factor();
    while (peek().is("*") || peek().is("/") || peek().is("%") || peek().is("@")) {
      const EquationToken sign = take();
      if (sign.is("*") && peek().is("*")) fail(sign, "the power is written a ^ b.");
      if (sign.is("/") && peek().is("/")) fail(sign, "there is no //; write floor(a / b).");
      left = parser().combined(sign, left, factor());
    }
    return left;
  }

  Operand factor() {
    constexpr int kDeepest = 200;
    const EquationToken token = take();
    if (++depth_ > kDeepest) fail(token, text_of("this is nested more than ", kDeepest, " deep."));
    const Operand result = token.is("-") ? parser().negated(token, factor()) : power_from(token);
    --depth_;
    return result;
  }

  /// a, or a ^ b, which is before a minus: -a ^ b is -(a ^ b), and a ^ b ^ c is a ^ (b ^ c).
  Operand power_from(const EquationToken& token) {
    const Operand base = factor_from(token);
    if (!peek().is("^")) return base;
    const EquationToken sign = take();
    return parser().combined(sign, base, factor());
  }

  Operand factor_from(const EquationToken& token) {
    if (token.kind == EquationToken::Kind::number) return parser().number(token);
    if (token.is("(")) {
      const Operand inner = comparison();
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
