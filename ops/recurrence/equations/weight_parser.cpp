#include "lagtape/ops/recurrence/equations/weight_parser.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/recurrence/equations/derived_weight.h"
#include "lagtape/ops/recurrence/equations/grammar.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

/// A number, or a tensor.
struct WeightOperand {
  std::optional<double> number;
  Var var;
  EquationToken token;
};

/// The functions of one matrix or vector that are not element-wise.
const std::map<std::string_view, Var (*)(const Var&)> kOfOne = {
    {"transpose", [](const Var& a) { return transpose(a); }},
    {"expm", matrix_exponential},
};
const std::vector<std::string> kOthers = {"sum",   "mean", "eye",    "arange", "reshape", "strict_upper",
                                          "where", "mod",  "expand", "concat", "einsum",  "slice"};

class WeightParser : public EquationGrammar<WeightParser, WeightOperand> {
 public:
  WeightParser(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
               std::vector<std::string>* used)
      : EquationGrammar(line), scope_(scope), values_(values), used_(used) {}

  Var value() {
    const Var value = tensor(condition());
    check_end();
    return value;
  }

 private:
  using Operand = WeightOperand;
  friend class EquationGrammar<WeightParser, WeightOperand>;

  Operand number(const EquationToken& token) { return {token.value, {}, token}; }

  Operand negated(const EquationToken& sign, const Operand& operand) {
    if (operand.number) return {-*operand.number, {}, sign};
    return {{}, -operand.var, sign};
  }

  Operand enclosed(const EquationToken&, const Operand& operand) { return followed(operand); }

  /// The operand with what follows it: .T, [:k], [:, None].
  Operand followed(Operand operand) {
    while (peek().is("[") || peek().is(".T")) {
      const EquationToken sign = take();
      const Var value = tensor(operand);
      if (sign.is(".T")) {
        operand = {{}, record(sign, [&] { return transpose(value); }), operand.token};
        continue;
      }
      const IndexedPart part = index_of(value.shape(), false);
      operand = {{},
                 record(sign, [&] { return as_strided(value, part.axes, part.first, part.strides); }),
                 operand.token};
    }
    return operand;
  }

  Operand array(const EquationToken& at, const Shape& shape, const std::vector<double>& numbers) {
    return {{}, array_of(values_[0], shape, numbers), at};
  }

  std::int64_t whole(const Operand& operand) const {
    const double value = constant(operand);
    if (value != std::floor(value) || std::abs(value) > (1 << 30))
      fail(operand.token, "this must be a whole number", Rule::wrong_type, text_of(value));
    return static_cast<std::int64_t>(value);
  }

  Operand inverted(const EquationToken& word, const Operand& operand) {
    if (operand.number) return {*operand.number == 0 ? 1.0 : 0.0, {}, word};
    return {{}, 1 - truth(operand.var), word};
  }

  Operand combined(const EquationToken& sign, const Operand& left, const Operand& right) {
    if (left.number && right.number && !sign.is("@"))
      return {operated(sign.text, *left.number, *right.number), {}, left.token};
    const Var a = tensor(left), b = tensor(right);
    expect(sign,
           sign.is("@") ? numbers_of_product(a.shape(), b.shape()) : numbers_of_pair(a.shape(), b.shape()));
    return {{},
            record(sign,
                   [&] {
                     if (sign.is("@")) return product(a, b);
                     const bool power = sign.is("**") || sign.is("^");
                     return power && right.number ? lagtape::power(a, *right.number)
                                                  : operated(sign.text, a, b);
                   }),
            left.token};
  }

  /// The matrix product; the right side may be a vector.
  static Var product(const Var& a, const Var& b) {
    if (b.value().rank() != 1) return matmul(a, b);
    Shape rows = a.shape();
    rows.pop_back();
    return reshape(matmul(a, reshape(b, {b.value().size(0), 1})), rows);
  }

  Operand named(const EquationToken& token) {
    std::string_view name = token.text;
    const bool is_transposed = !known(name) && name.ends_with(".T");
    if (is_transposed) name.remove_suffix(2);
    if (used_) used_->emplace_back(name);
    if (const auto number = scope_.numbers.find(name); number != scope_.numbers.end() && !is_transposed)
      return {number->second, {}, token};
    const auto place = scope_.values.find(name);
    if (place == scope_.values.end()) {
      if (scope_.lacks_names || scope_.failed.contains(name)) throw FollowingError();
      fail(token, unknown_name("weight, hyper-parameter or dimension", name, names()));
    }
    const Var value = values_[place->second];
    if (!is_transposed) return followed({{}, value, token});
    return followed({{}, record(token, [&] { return transpose(value); }), token});
  }

  Operand called(const EquationToken& name) {
    if (name.text == "einsum") return einsum_of(name);
    const std::vector<Operand> values = arguments();
    close(")");
    if (const ElementFunction* function = function_named(name.text))
      return of_elements(name, *function, values);
    if (const auto row = kOfOne.find(name.text); row != kOfOne.end()) {
      check_count(name, values.size(), 1, 1);
      const Var a = tensor(values[0]);
      if (used_ && name.text == "expm" && is_square(a.shape()))
        return {{}, a, name};  // the same shape, at no cost
      return {{}, record(name, [&] { return row->second(a); }), name};
    }
    if (name.text == "sum" || name.text == "mean") return reduced(name, values);
    if (name.text == "reshape") {
      check_count(name, values.size(), 2, 5);
      Shape shape;
      for (std::size_t i = 1; i < values.size(); ++i) shape.push_back(size(values[i]));
      return {{}, record(name, [&] { return reshape(tensor(values[0]), shape); }), name};
    }
    if (name.text == "strict_upper") {
      check_count(name, values.size(), 2, 2);
      const std::int64_t n = size(values[1]);
      expect(name, n * n);
      return {{}, record(name, [&] { return strict_upper(tensor(values[0]), n); }), name};
    }
    if (name.text == "where" || name.text == "mod") return chosen(name, values);
    if (name.text == "expand") {
      check_count(name, values.size(), 2, 5);
      Shape shape;
      for (std::size_t i = 1; i < values.size(); ++i) shape.push_back(size(values[i]));
      expect(name, element_count(shape));
      const Tensor zeros(shape, values_[0].dtype());
      return {{}, record(name, [&] { return tensor(values[0]) + values_[0].tape().constant(zeros); }), name};
    }
    if (name.text == "concat") return concatenated(name, values);
    if (name.text == "slice") {
      check_count(name, values.size(), 3, 3);
      return {{},
              record(name, [&] { return slice(tensor(values[0]), 0, whole(values[1]), whole(values[2])); }),
              name};
    }
    if (const ArrayFunction<Var>* function = array_function_named<Var>(name.text))
      return composed(name, *function, values);
    check_count(name, values.size(), 1, 1);
    if (name.text == "eye" || name.text == "arange") {
      const std::int64_t n = size(values[0]);
      expect(name, name.text == "eye" ? n * n : n);
      return {{}, name.text == "eye" ? identity(values_[0], n) : arange(values_[0], n), name};
    }
    fail(name, unknown_name("function", name.text, weight_function_names()));
  }

  /// The sum or the mean, of all elements or along an axis.
  Operand reduced(const EquationToken& name, const std::vector<Operand>& values) {
    check_count(name, values.size(), 1, 2);
    const Var a = tensor(values[0]);
    const bool all = values.size() == 1 && scope_.numpy;
    const auto axis = values.size() == 1 ? -1 : static_cast<std::int64_t>(constant(values[1]));
    return {{},
            record(name,
                   [&] {
                     if (name.text == "sum") return all ? lagtape::sum(a) : lagtape::sum(a, axis);
                     return all ? mean(a) : mean(a, axis);
                   }),
            name};
  }

  Operand of_elements(const EquationToken& name, const ElementFunction& function,
                      const std::vector<Operand>& values) {
    const bool of_many = function.op == ElementOp::minimum || function.op == ElementOp::maximum;
    check_count(name, values.size(), function.arrays, of_many ? 16 : function.arrays);
    if (name.text == "floor" && values[0].number) return {std::floor(*values[0].number), {}, name};
    Var a = tensor(values[0]);
    if (function.arrays == 1)
      return {{}, record(name, [&] { return elementwise(function.op, a, {}); }), name};
    for (std::size_t i = 1; i < values.size(); ++i) {
      const Var b = tensor(values[i]);
      expect(name, numbers_of_pair(a.shape(), b.shape()));
      a = record(name, [&] { return elementwise(function.op, a, b); });
    }
    return {{}, a, name};
  }

  Operand composed(const EquationToken& name, const ArrayFunction<Var>& function,
                   const std::vector<Operand>& values) {
    check_count(name, values.size(), function.least, function.most);
    std::vector<Var> arrays;
    std::vector<std::optional<double>> numbers;
    for (const Operand& value : values) {
      arrays.push_back(tensor(value));
      numbers.push_back(value.number);
    }
    std::int64_t count = 1;
    if (name.text == "outer" && values.size() == 2)
      count = element_count(arrays[0].shape()) * element_count(arrays[1].shape());
    else if (values.size() > 1)
      count = numbers_of_pair(arrays[0].shape(), arrays[1].shape());
    expect(name, count);
    return {{}, record(name, [&] { return function.value({arrays, numbers}); }), name};
  }

  Operand einsum_of(const EquationToken& name) {
    const EquationToken letters = take();
    if (letters.kind != EquationToken::Kind::text)
      fail(letters, "einsum takes the letters of the axes first, as in einsum('ij,j->i', A, v)");
    if (!take_sign(",")) expected("','");
    std::vector<Var> operands;
    for (const Operand& operand : arguments()) operands.push_back(tensor(operand));
    close(")");
    const std::string_view text = letters.text.substr(1, letters.text.size() - 2);
    std::map<char, std::int64_t> extents;  // of all letters
    std::size_t o = 0, axis = 0;
    for (const char c : text.substr(0, text.find('-'))) {
      if (c == ',')
        ++o, axis = 0;
      else if (c != ' ' && o < operands.size() && axis < operands[o].shape().size())
        extents[c] = operands[o].shape()[axis++];
    }
    double numbers = 1;
    for (const auto& [letter, extent] : extents) numbers *= static_cast<double>(extent);
    expect(name, static_cast<std::int64_t>(std::min(numbers, 1e18)));
    return {{}, record(name, [&] { return einsum<Var>(text, operands); }), name};
  }

  /// The parts one after another along an axis, which is a number after them; the first where there is none.
  Operand concatenated(const EquationToken& name, std::vector<Operand> values) {
    std::int64_t axis = 0;
    if (values.size() > 2 && values.back().number) {
      axis = whole(values.back());
      values.pop_back();
    }
    if (values.size() < 2)
      fail(name, "'concat' takes at least 2 arguments", Rule::out_of_range, text_of(values.size()));
    Var all = tensor(values[0]);
    for (const Operand& value : std::span(values).subspan(1))
      all = record(name, [&] { return joined(all, tensor(value), axis); });
    expect(name, element_count(all.shape()));
    return {{}, all, name};
  }

  /// where(c, a, b), or mod(a, b).
  Operand chosen(const EquationToken& name, const std::vector<Operand>& values) {
    const std::size_t count = name.text == "mod" ? 2 : 3;
    check_count(name, values.size(), count, count);
    const Var a = tensor(values[0]), b = tensor(values[1]);
    expect(name, numbers_of_pair(a.shape(), b.shape()));
    if (count == 2) return {{}, record(name, [&] { return mod(a, b); }), name};
    const Var c = tensor(values[2]);
    expect(name, numbers_of_pair(a.shape(), c.shape()));
    return {{}, record(name, [&] { return scope_.numpy ? where(a, b, c) : a * b + (1 - a) * c; }), name};
  }

  static bool is_square(const Shape& shape) { return shape.size() == 2 && shape[0] == shape[1]; }

  /// The numbers of an element-wise result of two arrays, one of which may be repeated; 0 for shapes that do
  /// not fit, which the operation itself refuses.
  static std::int64_t numbers_of_pair(const Shape& a, const Shape& b) {
    std::int64_t count = 1;
    for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
      const std::int64_t in_a = i <= a.size() ? a[a.size() - i] : 1,
                         in_b = i <= b.size() ? b[b.size() - i] : 1;
      if (in_a != in_b && in_a != 1 && in_b != 1) return 0;
      count *= std::max(in_a, in_b);
    }
    return count;
  }
  static std::int64_t numbers_of_product(const Shape& a, const Shape& b) {
    if (a.empty() || b.size() != 2 || a.back() != b[0] || b[0] == 0) return 0;
    return element_count(a) / b[0] * b[1];
  }

  /// Refuses a result with more numbers than a derived weight may have.
  void expect(const EquationToken& at, std::int64_t numbers) const {
    if (numbers <= scope_.most_numbers) return;
    fail(at,
         text_of("this has ", numbers, " numbers, where weights of the cell's size may have ",
                 scope_.most_numbers, "."),
         Rule::out_of_range);
  }

  /// Runs `record` and adds the place in the line to errors of the operations.
  template <class Record>
  Var record(const EquationToken& at, Record recorded) const {
    try {
      return recorded();
    } catch (const InputError& error) {
      fail(at, error.problems().front());
    }
  }

  Var tensor(const Operand& operand) const {
    if (!operand.number) return operand.var;
    return values_[0].tape().constant(Tensor::scalar(*operand.number, values_[0].dtype()));
  }

  double constant(const Operand& operand) const {
    if (operand.number) return *operand.number;
    fail(operand.token, "this must be made of numbers, hyper-parameters and dimensions.", Rule::wrong_type);
  }

  std::int64_t size(const Operand& operand) const {
    constexpr double kLargest = 1 << 30;
    const double size = constant(operand);
    if (size >= 1 && size <= kLargest && size == std::floor(size)) return static_cast<std::int64_t>(size);
    fail(operand.token, "this must be a whole number of at least 1", Rule::out_of_range, text_of(size));
  }

  bool known(std::string_view name) const {
    return scope_.numbers.contains(name) || scope_.values.contains(name);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, place] : scope_.values) all.push_back(name);
    for (const auto& [name, number] : scope_.numbers) all.push_back(name);
    return all;
  }

  const WeightScope& scope_;
  std::span<const Var> values_;
  std::vector<std::string>* used_;
};

}  // namespace

Var array_of(const Var& like, const Shape& shape, const std::vector<double>& numbers) {
  Tensor tensor(shape, like.dtype());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, numbers[static_cast<std::size_t>(i)]);
  return like.tape().constant(tensor);
}

Var derive_weight(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
                  std::vector<std::string>* used) {
  return WeightParser(line, scope, values, used).value();
}

std::vector<std::string> weight_function_names() {
  std::vector<std::string> names = kOthers;
  for (const auto& row : kOfOne) names.emplace_back(row.first);
  for (const ArrayFunction<Var>& function : array_functions<Var>())
    if (std::ranges::find(names, function.name) == names.end()) names.emplace_back(function.name);
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function) names.emplace_back(function.name);
  return names;
}

}  // namespace lagtape
