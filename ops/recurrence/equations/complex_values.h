#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/ops/recurrence/equations/grammar.h"

namespace lagtape {

/// The grammar with complex values, as pairs of real ones: Operand::imaginary is the other part of such a pair. The
/// derived Parser must also define operations on the parts, in these functions:
///
///     Operand number_operand(number, token)           Operand real_combined(sign, left, right)
///     Operand real_negated(sign, operand)             Operand function_of_values(name, operands)
///     Shape axes_of(operand)                          Operand expanded(operand, shape)
///     Operand transposed_of(operand)                  Operand part_of(sign, operand, IndexedPart)
///     std::optional<double> known_number(operand)     Operand einsum_of(name, letters, operands)
///     bool is_numpy()                                 false for grammar 1
///
/// and for calls of the cell's own functions calls(), open_call(function), close_call(), bind(name, operand), within(line)
/// and statement().
template <class Parser, class Operand>
class ComplexGrammar : public EquationGrammar<Parser, Operand> {
 public:
  using EquationCursor::fail;

 protected:
  using Grammar = EquationGrammar<Parser, Operand>;
  using Grammar::check_count, Grammar::parser, Grammar::peek, Grammar::take;

  explicit ComplexGrammar(EquationLine line) : Grammar(std::move(line)) {}

  static bool is_complex(const Operand& operand) { return operand.imaginary != nullptr; }

  static Operand complex_of(Operand real, const Operand& imaginary) {
    real.imaginary = std::make_shared<Operand>(imaginary);
    return real;
  }

  /// The parts; the imaginary part of a real value is 0.
  static Operand real_of(Operand operand) {
    operand.imaginary = nullptr;
    return operand;
  }
  Operand imaginary_of(const Operand& operand) {
    return is_complex(operand) ? *operand.imaginary : parser().number_operand(0, operand.token);
  }

  void check_real(const Operand& operand) const {
    if (is_complex(operand))
      fail(operand.token,
           "this is complex; states, outputs, weights and real functions take real(z), imag(z) or abs(z).",
           Rule::wrong_type);
  }

  Operand number(const EquationToken& token) {
    const Operand value = parser().number_operand(token.value, token);
    return token.text.ends_with('j') ? complex_of(parser().number_operand(0, token), value) : value;
  }

  Operand negated(const EquationToken& sign, const Operand& operand) {
    if (!is_complex(operand)) return parser().real_negated(sign, operand);
    return complex_of(parser().real_negated(sign, real_of(operand)),
                      parser().real_negated(sign, *operand.imaginary));
  }

  Operand combined(const EquationToken& sign, const Operand& left, const Operand& right) {
    if (!is_complex(left) && !is_complex(right)) return parser().real_combined(sign, left, right);
    const Operand a = real_of(left), c = real_of(right), b = imaginary_of(left), d = imaginary_of(right);
    const auto of = [&](std::string_view s, const Operand& x, const Operand& y) {
      return parser().real_combined(sign_of(sign, s), x, y);
    };
    const auto text = sign.text;
    if (text == "+" || text == "-") return complex_of(of(text, a, c), of(text, b, d));
    if (text == "*" || text == "@") {
      if (!is_complex(left)) return complex_of(of(text, a, c), of(text, a, d));
      if (!is_complex(right)) return complex_of(of(text, a, c), of(text, b, c));
      return complex_of(of("-", of(text, a, c), of(text, b, d)), of("+", of(text, a, d), of(text, b, c)));
    }
    if (text == "/") {
      if (!is_complex(right)) return complex_of(of("/", a, c), of("/", b, c));
      const Operand size = of("+", of("*", c, c), of("*", d, d));
      const Operand product = combined(sign_of(sign, "*"), left, complex_of(c, negated(sign, d)));
      return complex_of(of("/", real_of(product), size), of("/", *product.imaginary, size));
    }
    if (text == "**" || text == "^") return complex_power(sign, left, right);
    if (text == "==" || text == "!=") {
      const Operand same = of("and", of("==", a, c), of("==", b, d));
      return text == "==" ? same : parser().inverted(sign, same);
    }
    fail(sign,
         text_of("complex values have no order and no '", text, "'; compare abs(z), real(z) or imag(z)."),
         Rule::wrong_type);
  }

  /// The operand with what follows it: .T, [:k], [:, None]. `past`: a lone negative number would be taken for a
  /// past value, and is an error.
  Operand followed(Operand operand, bool past = false) {
    for (; peek().is("[") || peek().is(".T") || peek().is(".mT"); past = false) {
      const EquationToken sign = take();
      if (sign.is(".T") || sign.is(".mT")) {
        operand = each_part(operand, [&](const Operand& part) { return transposed_by(sign, part); });
        continue;
      }
      if (is_complex(operand)) operand = aligned(operand);
      const auto index = this->index_of(parser().axes_of(real_of(operand)), past);
      operand = each_part(operand, [&](const Operand& part) { return parser().part_of(sign, part, index); });
    }
    return operand;
  }

  /// f of the value, or of both parts of a complex one.
  template <class F>
  Operand each_part(const Operand& operand, F f) {
    if (!is_complex(operand)) return f(operand);
    const Operand both = aligned(operand);
    return complex_of(f(real_of(both)), f(*both.imaginary));
  }

  /// The transpose that a sign or name requests: of at most two axes or, with an m, of the last two.
  Operand transposed_by(const EquationToken& sign, const Operand& operand) {
    const Shape axes = parser().axes_of(operand);
    if (axes.size() > 2 && sign.text.find('m') == std::string_view::npos && parser().is_numpy())
      fail(sign,
           text_of("the transpose of ", axes.size(),
                   " axes exchanges all of them in NumPy; the last two are exchanged by a.mT, and an order "
                   "of axes is "
                   "transpose(a, 0, 2, 1)"),
           Rule::shape, to_string(axes));
    return parser().transposed_of(operand);
  }

  /// "A.T" and "A.mT" split into the name and its sign; nothing for other names.
  static std::optional<std::pair<EquationToken, EquationToken>> name_and_sign(const EquationToken& token) {
    for (const std::string_view end : {".T", ".mT"}) {
      if (!token.text.ends_with(end)) continue;
      EquationToken name = token, sign = sign_of(token, token.text.substr(token.text.size() - end.size()));
      name.text.remove_suffix(end.size());
      sign.position += name.text.size();
      return std::pair(name, sign);
    }
    return {};
  }

  /// A function of complex values, or of parts; none if it is not defined for them.
  std::optional<Operand> complex_function(const EquationToken& name, const std::vector<Operand>& values) {
    if (name.text == "complex") {
      check_count(name, values.size(), 2, 2);
      for (const Operand& part : values) check_real(part);
      Operand result = complex_of(values[0], values[1]);
      result.token = name;
      return result;
    }
    const bool of_parts =
        name.text == "real" || name.text == "imag" || name.text == "conj" || name.text == "angle";
    if (of_parts) check_count(name, values.size(), 1, 1);
    if (of_parts || (values.size() == 1 && is_complex(values[0])))
      if (const std::optional<Operand> result = complex_function_of_one(name, values[0])) return result;
    if (std::ranges::none_of(values, is_complex)) return {};
    if (name.text == "norm") {
      std::vector<Operand> sizes = values;
      sizes[0] = *complex_function_of_one(name_of(name, "abs"), values[0]);
      return parser().function_of_values(name, sizes);
    }
    if (name.text == "outer" && values.size() == 2) {
      const auto of = [&](const Operand& x, const Operand& y) {
        return parser().function_of_values(name, {x, y});
      };
      return bilinear(name, values[0], values[1], of);
    }
    return function_of_each_part(name, values);
  }

  /// A call of one of the cell's own functions, starting at its arguments.
  Operand own_function(const EquationToken& name, const EquationFunction& function) {
    const std::vector<Operand> values = this->arguments();
    this->close(")");
    check_count(name, values.size(), function.arguments.size(), function.arguments.size());
    if (std::ranges::find(parser().calls(), &function) != parser().calls().end())
      fail(name, text_of("'", name.text, "' calls itself; a step has loops of a fixed count."));
    struct Call {
      Call(Parser& p, const EquationFunction& function) : parser(p) { parser.open_call(function); }
      ~Call() { parser.close_call(); }
      Parser& parser;
    };
    const Call call(parser(), function);
    for (std::size_t i = 0; i < values.size(); ++i) parser().bind(function.arguments[i], values[i]);
    const std::string label = text_of("function '", name.text, "'");
    const auto line_of = [&](std::size_t i) {
      return EquationLine{label, function.lines[i],
                          text_of("/functions/", name.text, "/", function.arguments.size() + i)};
    };
    for (std::size_t i = 0; i + 1 < function.lines.size(); ++i) {
      Parser line = parser().within(line_of(i));
      const EquationToken target = line.target();
      parser().bind(std::string(target.text), line.statement());
      line.check_end();
    }
    Parser line = parser().within(line_of(function.lines.size() - 1));
    Operand result = line.condition();
    line.check_end();
    result.token = name;
    return result;
  }

  /// The rest of einsum('ij,j->i', a, b) after its bracket. For complex operands, the sum of the products of
  /// their parts.
  Operand einsum_called(const EquationToken& name) {
    const EquationToken letters = take();
    if (letters.kind != EquationToken::Kind::text)
      fail(letters, "einsum takes the letters of the axes first, as in einsum('ij,j->i', A, v)");
    if (!this->take_sign(",")) this->expected("','");
    std::vector<Operand> operands = this->arguments();
    this->close(")");
    return einsum_from(name, letters.text.substr(1, letters.text.size() - 2), operands, 0);
  }

 private:
  static EquationToken sign_of(const EquationToken& at, std::string_view sign) {
    EquationToken token = at;
    token.kind = EquationToken::Kind::sign;
    token.text = sign;
    return token;
  }
  static EquationToken name_of(const EquationToken& at, std::string_view name) {
    EquationToken token = at;
    token.text = name;
    return token;
  }

  /// The same value with parts of the same shape.
  Operand aligned(const Operand& operand) {
    const Operand a = real_of(operand), &b = *operand.imaginary;
    const Shape of_a = parser().axes_of(a), of_b = parser().axes_of(b);
    if (of_a == of_b) return operand;
    Shape both = of_a.size() < of_b.size() ? of_b : of_a;
    const Shape& other = of_a.size() < of_b.size() ? of_a : of_b;
    for (std::size_t i = 1; i <= other.size(); ++i)
      both[both.size() - i] = std::max(both[both.size() - i], other[other.size() - i]);
    return complex_of(parser().expanded(a, both), parser().expanded(b, both));
  }

  Operand complex_power(const EquationToken& sign, const Operand& left, const Operand& right) {
    constexpr double kMostFactors = 64;
    const std::optional<double> power = is_complex(right) ? std::nullopt : parser().known_number(right);
    if (!power || *power != std::floor(*power) || *power < 1 || *power > kMostFactors)
      fail(sign,
           text_of("a power of a complex value is a whole number from 1 to ", kMostFactors,
                   "; else write exp(b * log(z))"),
           Rule::not_supported);
    Operand result = left;
    for (int i = 1; i < static_cast<int>(*power); ++i) result = combined(sign_of(sign, "*"), result, left);
    return result;
  }

  /// f(x, y), which is linear in each.
  template <class F>
  Operand bilinear(const EquationToken& name, const Operand& x, const Operand& y, F f) {
    const Operand a = real_of(x), c = real_of(y);
    if (!is_complex(x)) return complex_of(f(a, c), f(a, *y.imaginary));
    if (!is_complex(y)) return complex_of(f(a, c), f(*x.imaginary, c));
    const Operand &b = *x.imaginary, &d = *y.imaginary;
    return complex_of(parser().real_combined(sign_of(name, "-"), f(a, c), f(b, d)),
                      parser().real_combined(sign_of(name, "+"), f(a, d), f(b, c)));
  }

  std::optional<Operand> complex_function_of_one(const EquationToken& name, const Operand& z) {
    const auto of = [&](std::string_view function, const std::vector<Operand>& arguments) {
      return parser().function_of_values(name_of(name, function), arguments);
    };
    const auto product = [&](const Operand& x, const Operand& y) {
      return parser().real_combined(sign_of(name, "*"), x, y);
    };
    const Operand a = real_of(z), b = imaginary_of(z);
    if (name.text == "real") return a;
    if (name.text == "imag") return is_complex(z) ? b : product(a, b);
    if (name.text == "conj") return is_complex(z) ? complex_of(a, negated(sign_of(name, "-"), b)) : a;
    if (name.text == "angle") return of("atan2", {b, a});
    if (name.text == "abs")
      return is_complex(z)
                 ? of("sqrt", {parser().real_combined(sign_of(name, "+"), product(a, a), product(b, b))})
                 : of("abs", {a});
    if (name.text == "exp") {
      const Operand size = of("exp", {a});
      return complex_of(product(size, of("cos", {b})), product(size, of("sin", {b})));
    }
    if (name.text == "log")
      return complex_of(of("log", {*complex_function_of_one(name_of(name, "abs"), z)}), of("atan2", {b, a}));
    return {};
  }

  /// Functions that act on the real and imaginary parts separately.
  Operand function_of_each_part(const EquationToken& name, const std::vector<Operand>& values) {
    constexpr std::string_view kOfEachPart[] = {
        "sum",  "mean",    "cumsum", "roll",  "transpose", "matrix_transpose",
        "stop", "reshape", "expand", "slice", "concat",    "where"};
    const auto known = std::ranges::find(kOfEachPart, name.text);
    if (known == std::end(kOfEachPart))
      fail(name,
           text_of("'", name.text,
                   "' is not a function of complex values; these are exp, log, abs, angle, real, imag, ",
                   "conj, sum, mean, norm, outer, einsum, cumsum, concat, where, indices and shapes."),
           Rule::not_supported);
    const bool is_concat = *known == "concat", is_where = *known == "where";
    std::vector<Operand> real, imaginary;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_part = is_concat || is_where ? !(is_where && i == 0) : i == 0;
      const Operand value = is_part && is_complex(values[i]) ? aligned(values[i]) : values[i];
      real.push_back(real_of(value));
      imaginary.push_back(is_part ? imaginary_of(value) : value);
      if (!is_concat || is_complex(value)) continue;
      const bool is_axis = i + 1 == values.size() && i > 1 && parser().known_number(value);
      imaginary.back() =
          is_axis ? value : parser().real_combined(sign_of(name, "*"), value, imaginary.back());
    }
    return complex_of(parser().function_of_values(name, real), parser().function_of_values(name, imaginary));
  }

  Operand einsum_from(const EquationToken& name, std::string_view letters, std::vector<Operand>& operands,
                      std::size_t first) {
    const auto complex =
        std::find_if(operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end(), is_complex);
    if (complex == operands.end()) return parser().einsum_of(name, letters, operands);
    const Operand z = *complex;
    const auto rest = static_cast<std::size_t>(complex - operands.begin()) + 1;
    *complex = real_of(z);
    const Operand real = einsum_from(name, letters, operands, rest);
    *complex = *z.imaginary;
    const Operand turned = einsum_from(name, letters, operands, rest);  // of z's part times i
    *complex = z;
    if (!is_complex(turned)) return complex_of(real, turned);
    return complex_of(parser().real_combined(sign_of(name, "-"), real_of(real), *turned.imaginary),
                      parser().real_combined(sign_of(name, "+"), *real.imaginary, real_of(turned)));
  }
};

}  // namespace lagtape
