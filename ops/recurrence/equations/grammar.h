#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/equations/tokens.h"

namespace lagtape {

/// A function of a cell: its argument names, and its lines, the last of which is its value.
struct EquationFunction {
  std::vector<std::string> arguments;
  std::vector<std::string> lines;
};

/// A recursive-descent parser of expressions (the grammar is in equations.h). The derived Parser defines
/// their meaning, in these functions:
///
///     Operand number(token)                     Operand named(token)       a name and what follows it
///     Operand negated(sign, operand)            Operand called(token)      a name before "("
///     Operand inverted(sign, operand)           of "not"
///     Operand combined(sign, left, right)       for + - * / % @ ** ^, < > <= >= == != and "and", "or"
///     Operand enclosed(token, operand)          called after a closing bracket
///     Operand array(token, shape, numbers)      [1, 2, 3]
///     std::int64_t whole(operand)               of a number used as an index
///     double constant(operand)                  of a number used in an array
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

  /// The operands between brackets up to the closing one or to "evaluate"; the opening bracket has been read.
  std::vector<Operand> arguments() {
    std::vector<Operand> values;
    if (peek().is(")") || peek().text == "evaluate") return values;
    do {
      if (peek().text == "evaluate") break;
      take_keyword("axis");                          // always the last argument
      if (peek().is("(") && brackets_have({","})) {  // a tuple, as in reshape(a, (2, 3))
        take();
        do values.push_back(condition());
        while (take_sign(","));
        close(")");
        continue;
      }
      values.push_back(condition());
    } while (take_sign(","));
    return values;
  }

  /// The sizes of reshape's result for that many elements; -1, at most once, is computed from the others.
  Shape sizes_of(std::span<const Operand> sizes, std::int64_t count) {
    Shape shape;
    std::int64_t known = 1;
    std::ptrdiff_t open = -1;
    for (const Operand& one : sizes) {
      const std::int64_t size = parser().whole(one);
      if (size < 1 && (size != -1 || open >= 0))
        fail(one.token, "a size is at least 1, or -1 once for what the others leave", Rule::out_of_range,
             text_of(size));
      if (size == -1) open = std::ssize(shape);
      shape.push_back(std::abs(size));
      known *= shape.back();
    }
    if (open >= 0) shape[static_cast<std::size_t>(open)] = std::max<std::int64_t>(count / known, 1);
    return shape;
  }

  void check_count(const EquationToken& name, std::size_t count, std::size_t least, std::size_t most) const {
    if (count >= least && count <= most) return;
    const std::string range = least == most ? text_of(least) : text_of(least, " to ", most);
    fail(name, text_of("'", name.text, "' takes ", range, most == 1 ? " argument" : " arguments", ". Got ",
                       count, "."));
  }

  /// Part of an array: its axes, their strides in elements, and its first element.
  struct IndexedPart {
    Shape axes, strides;
    std::int64_t first = 0;
  };

  /// The text after an array's opening bracket: a part of each axis, as in NumPy. `past`: a lone negative
  /// number would be read as a past value, and is an error.
  IndexedPart index_of(const Shape& from, bool past) {
    Shape dense(from.size(), 1);
    for (std::size_t i = from.size(); i-- > 1;) dense[i - 1] = dense[i] * from[i];
    IndexedPart part;
    std::size_t axis = 0;
    do {
      if (peek().is("]")) break;
      if (peek().text == "None") {
        take();
        part.axes.push_back(1);
        part.strides.push_back(0);
        continue;
      }
      if (take_sign("...")) {
        for (const std::size_t later = indices_ahead(); axis + later < from.size(); ++axis) {
          part.axes.push_back(from[axis]);
          part.strides.push_back(dense[axis]);
        }
        continue;
      }
      if (axis == from.size()) fail(peek(), "there are more indices than axes", Rule::shape, to_string(from));
      const AxisIndex index = axis_index(from[axis], past && axis == 0);
      part.first += index.begin * dense[axis];
      if (index.keeps_axis) {
        part.axes.push_back(index.count);
        part.strides.push_back(index.step * dense[axis]);
      }
      ++axis;
    } while (take_sign(","));
    close("]");
    for (; axis < from.size(); ++axis) {
      part.axes.push_back(from[axis]);
      part.strides.push_back(dense[axis]);
    }
    return part;
  }

  Parser& parser() { return static_cast<Parser&>(*this); }

 private:
  /// Part of an axis: `count` elements starting at `begin`, `step` apart; a single index removes the axis.
  struct AxisIndex {
    std::int64_t begin, count, step;
    bool keeps_axis;
  };

  AxisIndex axis_index(std::int64_t n, bool past) {
    const EquationToken at = peek();
    const auto number = [&](std::int64_t otherwise) {
      if (peek().is(":") || peek().is("]") || peek().is(",")) return otherwise;
      constexpr const char* kIndices =
          "an index is a whole number, made of numbers, hyper-parameters and dimensions, "
          "a part b:e:s, ... or None; ";
      if (peek().is("["))
        fail(at, text_of(kIndices, "of a list join the parts: concat(a[0:1], a[3:4])."), Rule::wrong_type);
      const Operand index = sum();
      if (!parser().known_number(index))
        fail(at, text_of(kIndices, "what depends on values is where(c, a, b)."), Rule::wrong_type);
      return parser().whole(index);
    };
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::int64_t begin = number(kNone);
    if (!take_sign(":")) {
      if (begin < 0 && past && peek().is("]"))
        fail(at,
             text_of(
                 "a new value has no past; the state before the step is h, the one before that h[-1], and an "
                 "element of the new value, from its end, is (h')[",
                 begin, "]"),
             Rule::conflict, text_of(begin));
      if (begin >= n || begin < -n)
        fail(at, text_of("an index of this axis is from ", -n, " to ", n - 1), Rule::out_of_range,
             text_of(begin));
      return {begin < 0 ? begin + n : begin, 1, 1, false};
    }
    std::int64_t end = number(kNone), step = take_sign(":") ? number(1) : 1;
    if (step == 0) fail(at, "the step of a part is not 0", Rule::out_of_range);
    const auto within = [&](std::int64_t i, std::int64_t otherwise) {
      if (i == kNone) return otherwise;
      return std::clamp(i < 0 ? i + n : i, step > 0 ? std::int64_t{0} : -1, step > 0 ? n : n - 1);
    };
    begin = within(begin, step > 0 ? 0 : n - 1);
    end = within(end, step > 0 ? n : -1);
    const std::int64_t count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    if (count < 1) fail(at, text_of("this part of an axis of ", n, " has no elements"), Rule::out_of_range);
    return {begin, count, step, true};
  }

  /// Numbers between square brackets, after the opening one has been read: the shape, and the numbers in order.
  void array_of_numbers(Shape& shape, std::vector<double>& numbers, std::size_t axis = 0) {
    const EquationToken begin = peek();
    std::int64_t count = 0;
    if (axis == shape.size()) shape.push_back(-1);
    do {
      if (take_sign("[")) {
        if (count > 0 && shape.size() == axis + 1)
          fail(peek(), "the rows of an array have the same length", Rule::shape);
        array_of_numbers(shape, numbers, axis + 1);
      } else {
        if (shape.size() > axis + 1) fail(peek(), "the rows of an array have the same length", Rule::shape);
        const Operand number = condition();
        if (!parser().known_number(number))
          fail(number.token,
               "an array is written of numbers, hyper-parameters and dimensions; values are joined by "
               "concat(a, b).",
               Rule::wrong_type);
        numbers.push_back(parser().constant(number));
      }
      ++count;
    } while (take_sign(","));
    close("]");
    const bool filled = shape[axis] >= 0;
    if (filled && shape[axis] != count)
      fail(begin, "the rows of an array have the same length", Rule::shape,
           text_of(shape[axis], " and ", count));
    shape[axis] = count;
  }

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

  /// Counts the nesting depth of an expression, which could exhaust the stack.
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
    if (token.is("+")) return factor();
    const Operand base = factor_from(token);
    if (!peek().is("**") && !peek().is("^")) return base;
    const EquationToken sign = take();
    return parser().combined(sign, base, factor());
  }

  Operand factor_from(const EquationToken& token) {
    if (token.kind == EquationToken::Kind::number) return parser().number(token);
    if (token.is("[")) {
      Shape shape;
      std::vector<double> numbers;
      array_of_numbers(shape, numbers);
      if (element_count(shape) != std::ssize(numbers))
        fail(token, "the rows of an array have the same length", Rule::shape);
      return parser().enclosed(token, parser().array(token, shape, numbers));
    }
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
