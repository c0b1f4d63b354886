#include "lagtape/ops/recurrence/equations/step_parser.h"

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/recurrence/equations/slips.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {
namespace {

using Kind = EquationSymbol::Kind;

}  // namespace

// ---- Lines ----

EquationParser::EquationParser(EquationScope& scope, EquationLine line)
    : ComplexGrammar(std::move(line)), scope_(scope) {}

StepVar EquationParser::expression() {
  const StepVar value = value_of(condition());
  check_end();
  return value;
}

StepOperand EquationParser::statement() {
  Operand operand = condition();
  if (!at_statement()) check_end();
  if (!is_complex(operand)) operand = {value_of(operand), nullptr, operand.token};
  return operand;
}

std::optional<EquationParser::Loop> EquationParser::loop() {
  if (peek().kind != EquationToken::Kind::name || peek().text != "for") return {};
  take();
  constexpr const char* kForm = "a loop reads for k in 0..6: NAME = EXPRESSION; k is 0 to 5";
  const EquationToken name = take();
  if (name.kind != EquationToken::Kind::name || !is_equation_name(name.text) || take().text != "in")
    fail(name, kForm);
  const bool range = peek().text == "range";
  std::int64_t begin = 0;
  if (range) {
    take();
    if (!take_sign("(")) fail(peek(), kForm);
  }
  std::int64_t end = whole(sum());
  if (take_sign(range ? "," : "..")) {
    begin = end;
    end = whole(sum());
  } else if (!range) {
    fail(peek(), kForm);
  }
  if (range) close(")");
  if (!take_sign(":")) fail(peek(), kForm);
  if (begin >= end)
    fail(name, "a loop has at least one turn; its end is not counted", Rule::out_of_range,
         text_of(begin, "..", end));
  return Loop{name, begin, end};
}

std::int64_t EquationParser::dimension() {
  const EquationToken first = peek();
  return size(expression(), first);
}

// ---- Names ----

EquationParser::Operand EquationParser::named(const EquationToken& token) {
  if (const auto parts = name_and_sign(token); parts && scope_.find(token.text) == nullptr)
    if (scope_.find(parts->first.text) != nullptr)  // of a name that is there
      return followed(each_part(operand_of(parts->first),
                                [&](const Operand& part) { return transposed_by(parts->second, part); }));
  const Operand operand = operand_of(token);
  const EquationSymbol& symbol = *scope_.find(token.text);
  const bool in_time = symbol.kind == Kind::state || symbol.kind == Kind::input;
  if (in_time && peek().is("[") && !brackets_have({":", ",", "None"})) {
    take();
    return followed({lagged(token, symbol), nullptr, token});
  }
  return followed(operand, symbol.kind == Kind::next);
}

EquationParser::Operand EquationParser::array(const EquationToken& at, const Shape& shape,
                                              const std::vector<double>& numbers) {
  if (shape.size() > RowShape::kLargestRank)
    fail(at, text_of("an array has at most ", RowShape::kLargestRank, " axes"), Rule::shape,
         to_string(shape));
  return {record(at, [&] { return scope_.array(shape, numbers); }), nullptr, at};
}

EquationParser::Operand EquationParser::transposed_of(const Operand& operand) {
  if (operand.matrix == nullptr) return {transposed(operand.value), nullptr, operand.token};
  if (operand.matrix->shape.size() > 2) return {transposed(value_of(operand)), nullptr, operand.token};
  EquationSymbol& symbol = *operand.matrix;
  EquationSymbol* of =
      symbol.name.ends_with(".T") ? scope_.find(symbol.name.substr(0, symbol.name.size() - 2)) : nullptr;
  return {operand.value, of != nullptr ? of : &scope_.transposed(symbol.name), operand.token};
}

EquationParser::Operand EquationParser::operand_of(const EquationToken& token) {
  EquationSymbol& symbol = resolve(token);
  if (symbol.kind == Kind::function)
    fail(token, text_of("'", token.text, "' is a function; its arguments are missing."), Rule::missing);
  if (const std::optional<StepVar> ago = value_ago(token, symbol)) return {*ago, nullptr, token};
  if (symbol.kind == Kind::slope && symbol.value.id() < 0)
    fail(token, text_of(token.text, " is read before an equation sets it."), Rule::missing);
  symbol.used = true;
  if (symbol.bound) {
    Operand bound = *symbol.bound;
    bound.token = token;
    return bound;
  }
  if (symbol.kind == Kind::weight && symbol.shape.size() > 1)
    return {{}, &symbol, token};  // declared once it is read
  scope_.declare(symbol);
  return {symbol.value, nullptr, token};
}

StepVar EquationParser::lagged(const EquationToken& name, const EquationSymbol& state) {
  const EquationToken first = peek();
  if (scope_.ode)
    fail(name, text_of("an \"ode\" counts no steps; a past value is ", name.text,
                       "(t - E), with E in units of t, as in ", name.text, "(t - tau)."));
  if (first.text == "t" || first.text == "n")
    fail(first, text_of("a step has no number here: ", kStepsOfState));
  const std::size_t begin = position();
  const StepVar index = value_of(sum());
  const bool alone = position() == begin + 1;  // x[0], which NumPy users would read as an element
  close("]");
  const bool old = scope_.tape.spreading() != StepTape::Spreading::numpy;
  if (scope_.tape.is_number(index) && !old)
    if (const double at = number_of(index, first); at > 0 || (at == 0 && alone))
      fail(first,
           text_of(name.text, "[-k] is ", name.text, " k steps before, and ", name.text,
                   " itself that of k = 0; an element of it is ", name.text, "[..., ", at, "], a part ",
                   name.text, "[", at, ":]"),
           Rule::out_of_range, text_of(at));
  if (state.kind == Kind::input) return past_input(first, index);
  if (state.kind != Kind::state) {
    fail(name,
         text_of("only a state has past values; '", name.text, "' is ", description_of(state.kind), "."));
  }
  const Instruction& v = scope_.tape.at(index.id());
  if (v.computes(ElementOp::negate) && scope_.tape.at(v.a).op == StepOp::weight)
    return trained_lag(first, state.value, v.a);
  return scope_.tape.lag(state.value, lag(first, index, "h"));
}

StepVar EquationParser::past_input(const EquationToken& at, StepVar index) {
  if (const Instruction& v = scope_.tape.at(index.id());
      v.computes(ElementOp::negate) && scope_.tape.at(v.a).op == StepOp::weight) {
    const std::string name = scope_.tape.recorded().weights[scope_.tape.at(v.a).index].name;
    const std::int64_t largest = largest_lag(at, name);
    return record(at, [&] { return scope_.past_input(name, scope_.tape.var(v.a), largest); });
  }
  if (!scope_.tape.is_number(index))
    fail(at, "a lag of the input is a number, as in x[-3], or a weight out of \"lags\", as in x[-theta].");
  const std::int64_t steps = lag(at, index, "x");
  return record(at, [&] { return scope_.past_input(steps); });
}

std::int64_t EquationParser::lag(const EquationToken& at, StepVar index, const char* example) const {
  const double steps = -number_of(index, at);
  if (steps < 0)
    fail(at, text_of("an index is 0 or less, as in ", example, "[-3]; the future is not known"),
         Rule::out_of_range, text_of(-steps));
  return whole(steps, at, "the lag");
}

StepVar EquationParser::trained_lag(const EquationToken& at, StepVar state, int weight) {
  const StepProgram& program = scope_.tape.recorded();
  const std::int64_t largest = largest_lag(at, program.weights[program.values[weight].index].name);
  return record(at, [&] { return scope_.tape.lag(state, scope_.tape.var(weight), largest); });
}

std::int64_t EquationParser::largest_lag(const EquationToken& at, const std::string& name) const {
  const auto largest = scope_.largest_lags.find(name);
  if (largest == scope_.largest_lags.end()) {
    fail(at, text_of("the lag '", name, "' is a weight; its largest value must be given in \"lags\"."),
         Rule::missing);
  }
  return largest->second;
}

// ---- Operations ----

EquationParser::Operand EquationParser::real_negated(const EquationToken& sign, const Operand& operand) {
  if (const auto matrix = scaled({scope_.tape.constant(-1), nullptr, sign}, operand)) return *matrix;
  const StepVar value = value_of(operand);
  return {record(sign, [&] { return -value; }), nullptr, sign};
}

EquationParser::Operand EquationParser::inverted(const EquationToken& word, const Operand& operand) {
  const StepVar value = value_of(operand);
  return {record(word, [&] { return 1 - truth(value); }), nullptr, word};
}

std::optional<EquationParser::Operand> EquationParser::scaled(const Operand& left, const Operand& right) {
  const auto is_matrix = [](const Operand& one) { return one.matrix && one.matrix->shape.size() == 2; };
  if (!scope_.ode || is_matrix(left) == is_matrix(right)) return {};
  const Operand& matrix = is_matrix(left) ? left : right;
  StepVar factor = value_of(is_matrix(left) ? right : left);
  if (factor.shape().rank > 0) return {};
  if (matrix.value.id() >= 0) factor = factor * matrix.value;
  return Operand{factor, matrix.matrix, left.token};
}

EquationParser::Operand EquationParser::real_combined(const EquationToken& sign, const Operand& left,
                                                      const Operand& right) {
  if (sign.is("@")) return multiplied(sign, left, right);
  if (sign.is("*"))
    if (const auto matrix = scaled(left, right)) return *matrix;
  const StepVar a = value_of(left), b = value_of(right);
  const auto value = [&] {
    const bool power = sign.is("**") || sign.is("^");
    return power && scope_.tape.is_number(b) ? lagtape::power(a, number_of(b, right.token))
                                             : operated(sign.text, a, b);
  };
  return {record(sign, value), nullptr, left.token};
}

EquationParser::Operand EquationParser::multiplied(const EquationToken& sign, const Operand& left,
                                                   const Operand& right) {
  const auto is_plain = [](const Operand& one) {
    return one.matrix != nullptr && one.matrix->shape.size() == 2 && one.value.id() < 0;
  };
  if (is_plain(left) && is_plain(right) && !scope_.ode) {
    if (left.matrix->shape[1] != right.matrix->shape[0])
      fail(sign, "the columns on the left and the rows on the right must agree", Rule::shape,
           text_of(to_string(left.matrix->shape), " and ", to_string(right.matrix->shape)));
    return {{}, &scope_.product(*left.matrix, *right.matrix), left.token};
  }
  if (right.matrix != nullptr && left.matrix != nullptr && scope_.ode)
    fail(sign,
         "a product of two weights is a derived weight; from the right, as in W @ (V @ x), there is none",
         Rule::not_supported);
  for (const Operand* one : {&left, &right}) {
    if (one->matrix == nullptr || one->value.id() < 0) continue;
    const Operand plain{{}, one->matrix, one->token};
    const Operand product = one == &left ? multiplied(sign, plain, right) : multiplied(sign, left, plain);
    return {record(sign, [&] { return one->value * product.value; }), nullptr, left.token};
  }
  if (right.matrix != nullptr && right.matrix->shape.size() == 2) {
    const StepVar rows = value_of(left);
    const Shape &shape = right.matrix->shape, axes = rows.shape().axes();
    if (axes.size() == 1 && axes[0] != shape[0] && axes[0] == shape[1])
      fail(sign,
           Problem{.rule = Rule::shape,
                   .statement = "what is left of @ has as many elements as the matrix has rows",
                   .found = text_of(to_string(axes), " and ", right.matrix->name, " ", to_string(shape)),
                   .hint = text_of("Write ", right.matrix->name, " @ ", left.token.text, ".")});
    return {record(sign, [&] { return product(matrices_of(transposed_of(right)).front(), rows); }), nullptr,
            left.token};
  }
  const StepVar v = value_of(right);
  const auto value = [&] {
    if (left.matrix == nullptr) return matmul(left.value, v);
    const Shape& shape = left.matrix->shape;
    if (shape.size() == 3)
      return of_groups(left, v) ? product_of_groups(matrices_of(left), v) : matmul(value_of(left), v);
    const bool numpy = scope_.tape.spreading() == StepTape::Spreading::numpy;
    return numpy ? matmul(matrices_of(left).front(), v) : product(matrices_of(left).front(), v);
  };
  return {record(sign, value), nullptr, left.token};
}

/// Whether R @ v with a weight [g, out, in] is a product for each row of v [g, in], which NumPy does not have.
bool EquationParser::of_groups(const Operand& weight, StepVar v) const {
  const Shape &R = weight.matrix->shape, axes = v.shape().axes();
  if (axes != Shape{R[0], R[2]}) return false;
  if (R[0] == R[2] && scope_.tape.spreading() == StepTape::Spreading::numpy)
    fail(weight.token,
         text_of("with as many groups as columns this may mean two things; write einsum('gij,gj->gi', ",
                 weight.token.text, ", v) for a product of each group"),
         Rule::conflict, text_of(to_string(R), " and ", to_string(axes)));
  return true;
}

std::span<const StepMatrix> EquationParser::matrices_of(const Operand& operand) {
  scope_.declare(*operand.matrix);
  return operand.matrix->matrices;
}

StepVar EquationParser::value_of(const Operand& operand) const {
  check_real(operand);
  if (operand.matrix == nullptr) return operand.value;
  const StepVar values = scope_.values_of(*operand.matrix);
  return operand.value.id() < 0 ? values : operand.value * values;
}

double EquationParser::number_of(StepVar value, const EquationToken& at) const {
  const Instruction& v = scope_.tape.at(value.id());
  if (v.op != StepOp::constant)
    fail(at, "this must be made of numbers, hyper-parameters and dimensions.", Rule::wrong_type);
  return v.value;
}

std::int64_t EquationParser::whole(double size, const EquationToken& at, const char* what) const {
  constexpr double kLargest = 1 << 30;
  if (size != std::floor(size))
    fail(at, text_of(what, " must be a whole number"), Rule::wrong_type, text_of(size));
  if (std::abs(size) > kLargest)
    fail(at, text_of(what, " must be at most 2^30 in size"), Rule::out_of_range, text_of(size));
  return static_cast<std::int64_t>(size);
}

std::int64_t EquationParser::whole(StepVar value, const EquationToken& at) const {
  return whole(number_of(value, at), at, "this");
}

std::int64_t EquationParser::size(StepVar value, const EquationToken& at) const {
  const std::int64_t size = whole(value, at);
  if (size < 1) fail(at, "this must be at least 1", Rule::out_of_range, text_of(size));
  return size;
}

EquationSymbol& EquationParser::resolve(const EquationToken& name) {
  if (EquationSymbol* symbol = scope_.find(name.text)) {
    if (symbol->kind == Kind::failed) throw FollowingError();
    return *symbol;
  }
  const std::string cure = cure_of_name(name.text);
  if (!cure.empty()) fail(name, text_of("unknown name '", name.text, "'", cure), Rule::unknown_name);
  if (scope_.lacks_names) throw FollowingError();
  if (name.text.back() == '\'') {
    const EquationSymbol* state = scope_.find(name.text.substr(0, name.text.size() - 1));
    if (state && state->kind == Kind::state)
      fail(name, text_of(name.text, " is read before an equation sets it."), Rule::missing);
  }
  if (const std::size_t dot = name.text.find('.'); dot != std::string_view::npos) {
    const std::string_view of = name.text.substr(0, dot), method = name.text.substr(dot + 1);
    const bool is_sizes = method == "shape" || method == "size" || method == "ndim";
    if (scope_.find(of) != nullptr && method != "T" && method != "mT")
      fail(name,
           text_of("'", of, "' has no attribute '", method, "'",
                   is_sizes ? "; sizes are numbers, units, input and hyper-parameters."
                            : text_of("; functions come first, as in sum(", of, ").")),
           Rule::unknown_name);
  }
  std::vector<std::string> known = scope_.added();
  Problem problem = unknown_name("name", name.text, known);
  for (const std::string& function : step_function_names()) known.push_back(function);
  problem.nearest = nearest_name(name.text, known);
  if (!problem.nearest.empty()) problem.expected.clear();
  fail(name, problem);
}

}  // namespace lagtape
