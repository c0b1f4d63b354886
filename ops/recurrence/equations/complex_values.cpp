#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

// Complex values of a step, as pairs of real ones.

namespace lagtape {
namespace {

/// Functions that act on the real and the imaginary part alike.
constexpr std::string_view kOfEachPart[] = {"sum",     "mean",   "cumsum", "roll",   "transpose",
                                            "reshape", "expand", "slice",  "concat", "where"};

EquationToken sign_of(const EquationToken& at, std::string_view sign) {
  EquationToken token = at;
  token.kind = EquationToken::Kind::sign;
  token.text = sign;
  return token;
}

EquationToken name_of(const EquationToken& at, std::string_view name) {
  EquationToken token = at;
  token.text = name;
  return token;
}

}  // namespace

EquationParser::Operand EquationParser::complex_of(Operand real, const Operand& imaginary) {
  real.imaginary = std::make_shared<Operand>(imaginary);
  return real;
}

EquationParser::Operand EquationParser::real_of(Operand operand) {
  operand.imaginary = nullptr;
  return operand;
}

EquationParser::Operand EquationParser::imaginary_of(const Operand& operand) {
  return is_complex(operand) ? *operand.imaginary : Operand{scope_.tape.constant(0), nullptr, operand.token};
}

EquationParser::Operand EquationParser::aligned(const Operand& operand) {
  const StepVar a = value_of(real_of(operand)), b = value_of(*operand.imaginary);
  const Shape of_a = a.shape().axes(), of_b = b.shape().axes();
  if (of_a == of_b) return complex_of({a, nullptr, operand.token}, {b, nullptr, operand.token});
  Shape both = of_a.size() < of_b.size() ? of_b : of_a;
  const Shape& other = of_a.size() < of_b.size() ? of_a : of_b;
  for (std::size_t i = 1; i <= other.size(); ++i)
    both[both.size() - i] = std::max(both[both.size() - i], other[other.size() - i]);
  const auto part = [&](StepVar v) {
    return Operand{record(operand.token, [&] { return scope_.tape.expand(v, both); }), nullptr,
                   operand.token};
  };
  return complex_of(part(a), part(b));
}

EquationParser::Operand EquationParser::complex_combined(const EquationToken& sign, const Operand& left,
                                                         const Operand& right) {
  const Operand a = real_of(left), c = real_of(right), b = imaginary_of(left), d = imaginary_of(right);
  const auto of = [&](std::string_view s, const Operand& x, const Operand& y) {
    return combined(sign_of(sign, s), x, y);
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
    const Operand product = complex_combined(sign_of(sign, "*"), left, complex_of(c, negated(sign, d)));
    return complex_of(of("/", real_of(product), size), of("/", *product.imaginary, size));
  }
  if (text == "**" || text == "^") {
    constexpr double kMostFactors = 64;
    if (!is_complex(right) && scope_.tape.is_number(value_of(c))) {
      const double power = number_of(value_of(c), right.token);
      if (power == std::floor(power) && power >= 1 && power <= kMostFactors) {
        Operand result = left;
        for (int i = 1; i < static_cast<int>(power); ++i)
          result = complex_combined(sign_of(sign, "*"), result, left);
        return result;
      }
    }
    fail(sign,
         text_of("a power of a complex value is a whole number from 1 to ", kMostFactors, "; else write exp"),
         Rule::not_supported);
  }
  fail(sign, text_of("complex values have no order and no '", text, "'; compare abs(z), real(z) or imag(z)."),
       Rule::wrong_type);
}

std::optional<EquationParser::Operand> EquationParser::complex_function(const EquationToken& name,
                                                                        const std::vector<Operand>& values) {
  const auto of = [&](std::string_view function, std::vector<Operand> arguments) {
    return function_of_values(name_of(name, function), arguments);
  };
  const auto product = [&](const Operand& x, const Operand& y) { return combined(sign_of(name, "*"), x, y); };
  if (name.text == "complex") {
    check_count(name, values.size(), 2, 2);
    for (const Operand& part : values)
      if (is_complex(part)) value_of(part);
    Operand result = complex_of(values[0], values[1]);
    result.token = name;
    return result;
  }
  const bool of_parts =
      name.text == "real" || name.text == "imag" || name.text == "conj" || name.text == "angle";
  if (of_parts) check_count(name, values.size(), 1, 1);
  if (of_parts || (values.size() == 1 && is_complex(values[0]))) {
    const Operand a = real_of(values[0]), b = imaginary_of(values[0]);
    if (name.text == "real") return a;
    if (name.text == "imag") return is_complex(values[0]) ? b : product(a, b);
    if (name.text == "conj") return is_complex(values[0]) ? complex_of(a, negated(sign_of(name, "-"), b)) : a;
    if (name.text == "angle") return of("atan2", {b, a});
    if (name.text == "abs") return of("sqrt", {combined(sign_of(name, "+"), product(a, a), product(b, b))});
    if (name.text == "exp") {
      const Operand size = of("exp", {a});
      return complex_of(product(size, of("cos", {b})), product(size, of("sin", {b})));
    }
    if (name.text == "log")
      return complex_of(of("log", {*complex_function(name_of(name, "abs"), values)}), of("atan2", {b, a}));
  }
  bool any = false;
  for (const Operand& value : values) any = any || is_complex(value);
  if (!any) return {};
  for (const std::string_view known : kOfEachPart) {
    if (name.text != known) continue;
    const bool parts_of_all = known == "concat" || known == "where";
    std::vector<Operand> real, imaginary;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_part = parts_of_all ? !(known == "where" && i == 0) : i == 0;
      const Operand value = is_part && is_complex(values[i]) ? aligned(values[i]) : values[i];
      real.push_back(real_of(value));
      imaginary.push_back(is_part ? imaginary_of(value) : value);
      if (known == "concat" && !is_complex(value) && !scope_.tape.is_number(value_of(value)))
        imaginary.back() = product(value, imaginary.back());  // zeros
    }
    return complex_of(of(known, real), of(known, imaginary));
  }
  fail(name,
       text_of("'", name.text,
               "' is not a function of complex values; these are exp, log, abs, angle, real, imag, ",
               "conj, sum, mean, cumsum, concat, where, indices and shapes."),
       Rule::not_supported);
}

}  // namespace lagtape
