#include "lagtape/ops/recurrence/equations/weight_parser.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/recurrence/equations/complex_values.h"
#include "lagtape/ops/recurrence/equations/derived_weight.h"
#include "lagtape/ops/recurrence/equations/equation_scope.h"
#include "lagtape/ops/recurrence/equations/slips.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

class WeightParser : public ComplexGrammar<WeightParser, WeightOperand> {
 public:
  WeightParser(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
               std::vector<std::string>* used, WeightCalls& calls)
      : ComplexGrammar(line), scope_(scope), values_(values), used_(used), calls_(calls) {}

  Var value() {
    const Var value = tensor(condition());
    check_end();
    return value;
  }

 private:
  using Operand = WeightOperand;
  friend class EquationGrammar<WeightParser, WeightOperand>;
  friend class ComplexGrammar<WeightParser, WeightOperand>;

  Operand number_operand(double value, const EquationToken& token) { return {value, {}, token}; }

  // Calls of the cell's own functions.
  const std::vector<const EquationFunction*>& calls() const { return calls_.functions; }
  void open_call(const EquationFunction& function) {
    calls_.functions.push_back(&function);
    calls_.locals.emplace_back();
  }
  void close_call() {
    calls_.functions.pop_back();
    calls_.locals.pop_back();
  }
  void bind(const std::string& name, const Operand& value) { calls_.locals.back()[name] = value; }
  WeightParser within(const EquationLine& line) { return WeightParser(line, scope_, values_, used_, calls_); }
  Operand statement() { return condition(); }

  Shape axes_of(const Operand& operand) const { return operand.number ? Shape{} : operand.var.shape(); }
  Operand transposed_of(const Operand& operand) {
    return {{}, record(operand.token, [&] { return transposed(tensor(operand)); }), operand.token};
  }
  Operand part_of(const EquationToken& at, const Operand& operand, const IndexedPart& part) {
    return {{},
            record(at, [&] { return as_strided(tensor(operand), part.axes, part.first, part.strides); }),
            operand.token};
  }
  Operand expanded(const Operand& operand, const Shape& shape) {
    expect(operand.token, element_count(shape));
    const Tensor zeros(shape, values_[0].dtype());
    return {{},
            record(operand.token, [&] { return tensor(operand) + values_[0].tape().constant(zeros); }),
            operand.token};
  }
  bool is_numpy() const { return scope_.numpy; }
  std::optional<double> known_number(const Operand& operand) const {
    return is_complex(operand) ? std::nullopt : operand.number;
  }

  Operand real_negated(const EquationToken& sign, const Operand& operand) {
    if (operand.number) return {-*operand.number, {}, sign};
    return {{}, -operand.var, sign};
  }

  Operand enclosed(const EquationToken&, const Operand& operand) { return followed(operand); }

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
    if (known_number(operand)) return {*operand.number == 0 ? 1.0 : 0.0, {}, word};
    return {{}, 1 - truth(tensor(operand)), word};
  }

  Operand real_combined(const EquationToken& sign, const Operand& left, const Operand& right) {
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

  /// The matrix product; the right-hand side may be a vector.
  static Var product(const Var& a, const Var& b) {
    if (b.value().rank() != 1) return matmul(a, b);
    Shape rows = a.shape();
    rows.pop_back();
    return reshape(matmul(a, reshape(b, {b.value().size(0), 1})), rows);
  }

  Operand named(const EquationToken& token) {
    std::string_view name = token.text;
    if (const Operand* bound = local(name)) return followed(at(token, *bound));
    if (const auto parts = name_and_sign(token); parts && !known(name))
      return followed(each_part(operand_of(parts->first),
                                [&](const Operand& part) { return transposed_by(parts->second, part); }));
    return followed(operand_of(token));
  }

  Operand operand_of(const EquationToken& token) {
    const std::string_view name = token.text;
    if (const Operand* bound = local(name)) return at(token, *bound);
    if (used_) used_->emplace_back(name);
    if (const auto number = scope_.numbers.find(name); number != scope_.numbers.end())
      return {number->second, {}, token};
    const auto place = scope_.values.find(name);
    if (place == scope_.values.end()) {
      if (scope_.lacks_names || scope_.failed.contains(name)) throw FollowingError();
      fail(token, unknown_name("weight, hyper-parameter or dimension", name, names()));
    }
    return {{}, values_[place->second], token};
  }

  Operand called(const EquationToken& name) {
    if (const auto own = scope_.functions.find(name.text); own != scope_.functions.end()) {
      if (used_) used_->emplace_back(name.text);
      return own_function(name, own->second);
    }
    if (name.text == "einsum") return einsum_called(name);
    const std::vector<Operand> values = arguments();
    close(")");
    if (const std::optional<Operand> complex = complex_function(name, values)) return *complex;
    return function_of_values(name, values);
  }

  Operand function_of_values(const EquationToken& name, const std::vector<Operand>& values) {
    if (const ElementFunction* function = function_named(name.text))
      return of_elements(name, *function, values);
    if (name.text == "expm") {
      check_count(name, values.size(), 1, 1);
      const Var a = tensor(values[0]);
      if (used_ && is_square(a.shape())) return {{}, a, name};  // the same shape, at no cost
      return {{}, record(name, [&] { return matrix_exponential(a); }), name};
    }
    if (name.text == "sum" || name.text == "mean") return reduced(name, values);
    if (name.text == "reshape") {
      check_count(name, values.size(), 2, 5);
      const Var a = tensor(values[0]);
      const Shape shape = sizes_of(std::span(values).subspan(1), element_count(a.shape()));
      return {{}, record(name, [&] { return reshape(a, shape); }), name};
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
      return expanded(at(name, values[0]), shape_from(values, 1));
    }
    if (name.text == "concat") return concatenated(name, values);
    if (name.text == "slice") {
      check_count(name, values.size(), 3, 3);
      return {{},
              record(name, [&] { return slice(tensor(values[0]), 0, whole(values[1]), whole(values[2])); }),
              name};
    }
    if (name.text == "transpose" && values.size() == 1) return transposed_by(name, values[0]);
    if (const ArrayFunction<Var>* function = array_function_named<Var>(name.text))
      return composed(name, *function, values);
    if (const std::optional<Operand> array = array_called(name, values)) return *array;
    refuse_function(name);
  }

  /// zeros, ones, eye, arange.
  std::optional<Operand> array_called(const EquationToken& name, const std::vector<Operand>& values) {
    if (name.text == "zeros" || name.text == "ones") {
      check_count(name, values.size(), 1, 4);
      return expanded(number_operand(name.text == "ones" ? 1 : 0, name), shape_from(values, 0));
    }
    if (name.text == "eye" || name.text == "arange") {
      check_count(name, values.size(), 1, 1);
      const std::int64_t n = size(values[0]);
      expect(name, name.text == "eye" ? n * n : n);
      return Operand{{}, name.text == "eye" ? identity(values_[0], n) : arange(values_[0], n), name};
    }
    return {};
  }

  [[noreturn]] void refuse_function(const EquationToken& name) const {
    if (const std::string cure = cure_of_name(name.text); !cure.empty())
      fail(name, text_of("unknown function '", name.text, "'", cure), Rule::unknown_name);
    const std::vector<std::string> of_steps = step_function_names();
    if (std::ranges::find(of_steps, name.text) != of_steps.end())
      fail(name,
           text_of("'", name.text,
                   "' is a function of steps; a derived weight is computed once for each batch."),
           Rule::not_supported);
    fail(name, unknown_name("function", name.text, weight_function_names()));
  }

  /// The sum or mean of all elements or along an axis.
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

  Operand einsum_of(const EquationToken& name, std::string_view text, const std::vector<Operand>& values) {
    std::vector<Var> operands;
    for (const Operand& operand : values) operands.push_back(tensor(operand));
    expect(name, numbers_of_einsum(text, operands));
    return {{}, record(name, [&] { return einsum<Var>(text, operands); }), name};
  }

  /// The parts joined along an axis, which is a number after them; by default the first axis.
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

  /// Rejects a result with more numbers than a derived weight may have.
  void expect(const EquationToken& at, std::int64_t numbers) const {
    if (numbers <= scope_.most_numbers) return;
    fail(at,
         text_of("this has ", numbers, " numbers, where weights of the cell's size may have ",
                 scope_.most_numbers, "."),
         Rule::out_of_range);
  }

  /// Runs `record` and adds the position in the line to errors from the operations.
  template <class Record>
  Var record(const EquationToken& at, Record recorded) const {
    try {
      return recorded();
    } catch (const InputError& error) {
      fail(at, error.problems().front());
    }
  }

  Var tensor(const Operand& operand) const {
    check_real(operand);
    if (!operand.number) return operand.var;
    return values_[0].tape().constant(Tensor::scalar(*operand.number, values_[0].dtype()));
  }

  double constant(const Operand& operand) const {
    if (known_number(operand)) return *operand.number;
    fail(operand.token, "this must be made of numbers, hyper-parameters and dimensions.", Rule::wrong_type);
  }

  std::int64_t size(const Operand& operand) const {
    constexpr double kLargest = 1 << 30;
    const double size = constant(operand);
    if (size >= 1 && size <= kLargest && size == std::floor(size)) return static_cast<std::int64_t>(size);
    fail(operand.token, "this must be a whole number of at least 1", Rule::out_of_range, text_of(size));
  }

  Shape shape_from(const std::vector<Operand>& sizes, std::size_t first) const {
    Shape shape;
    for (std::size_t i = first; i < sizes.size(); ++i) shape.push_back(size(sizes[i]));
    return shape;
  }

  bool known(std::string_view name) const {
    return scope_.numbers.contains(name) || scope_.values.contains(name);
  }

  /// What a name means in the lines of a cell's function; null elsewhere.
  const Operand* local(std::string_view name) const {
    if (calls_.locals.empty()) return nullptr;
    const auto found = calls_.locals.back().find(name);
    return found == calls_.locals.back().end() ? nullptr : &found->second;
  }
  static Operand at(const EquationToken& token, Operand operand) {
    operand.token = token;
    return operand;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    if (!calls_.locals.empty())
      for (const auto& [name, operand] : calls_.locals.back()) all.push_back(name);
    for (const auto& [name, place] : scope_.values) all.push_back(name);
    for (const auto& [name, number] : scope_.numbers) all.push_back(name);
    return all;
  }

  const WeightScope& scope_;
  std::span<const Var> values_;
  std::vector<std::string>* used_;
  WeightCalls& calls_;
};

}  // namespace

Var derive_weight(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
                  std::vector<std::string>* used) {
  WeightCalls calls;
  return WeightParser(line, scope, values, used, calls).value();
}

}  // namespace lagtape
