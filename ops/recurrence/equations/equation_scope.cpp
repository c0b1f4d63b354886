#include "lagtape/ops/recurrence/equations/equation_scope.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

namespace {

using Kind = EquationSymbol::Kind;

/// Functions added later than cells that may use their names.
constexpr std::string_view kFree[] = {"atan", "stop",  "surrogate", "spike", "complex", "real", "imag",
                                      "conj", "angle", "integral",  "zeros", "ones",    "eye",  "arange"};

}  // namespace

std::string description_of(Kind kind) {
  switch (kind) {
    case Kind::function: return "a function";
    case Kind::input: return "the input";
    case Kind::step_index: return "the step index";
    case Kind::time: return "the time";
    case Kind::dimension: return "a dimension";
    case Kind::hyper: return "a hyper-parameter";
    case Kind::state: return "a state";
    case Kind::next: return "a next value";
    case Kind::slope: return "the derivative of a state";
    case Kind::weight: return "a weight";
    case Kind::equation: return "an equation";
    case Kind::failed: return "a name whose own line has an error";
  }
  return {};
}

std::string description_of(const EquationSymbol& symbol) {
  return symbol.param ? "a param" : description_of(symbol.kind);
}

EquationScope::EquationScope(std::int64_t input) : tape(input), x(tape.input()) {
  for (const std::string& name : step_function_names())
    if (array_function_named<StepVar>(name) == nullptr && std::ranges::find(kFree, name) == std::end(kFree))
      symbols_[name] = {};  // a cell may use the names of the others
}

void EquationScope::add(const std::string& name, EquationSymbol symbol) {
  symbol.name = name;
  if (symbols_.insert_or_assign(name, std::move(symbol)).second ||
      std::ranges::find(added_, name) == added_.end())
    added_.push_back(name);
}

void EquationScope::add_local(const std::string& name, EquationSymbol symbol) {
  symbol.name = name;
  locals_.back().symbols.insert_or_assign(name, std::move(symbol));
}

EquationSymbol* EquationScope::find(std::string_view name) {
  for (auto locals = locals_.rbegin(); locals != locals_.rend(); ++locals) {
    if (const auto place = locals->symbols.find(name); place != locals->symbols.end()) return &place->second;
    if (locals->of_function) break;
  }
  const auto place = symbols_.find(name);
  return place == symbols_.end() ? nullptr : &place->second;
}

void EquationScope::declare(EquationSymbol& symbol) {
  if (symbol.declared) return;
  symbol.declared = true;
  const std::string& text = symbol.name;
  const Shape& shape = symbol.shape;
  if (shape.empty()) symbol.value = tape.scalar(text);
  if (shape.size() == 1) symbol.value = tape.vector(text, shape[0]);
  if (shape.size() == 2) symbol.matrices = {tape.matrix(text, shape[0], shape[1])};
  if (shape.size() == 3) {
    for (std::int64_t g = 0; g < shape[0]; ++g)
      symbol.matrices.push_back(tape.matrix(text_of(text, ".", g), shape[1], shape[2]));
  }
}

EquationSymbol& EquationScope::transposed(const std::string& name) {
  const std::string transposed = name + ".T";
  if (EquationSymbol* known = find(transposed)) return *known;
  const Shape& shape = find(name)->shape;
  derived_.push_back({transposed, {name}, [](std::span<const Var> values) { return transpose(values[0]); }});
  return symbols_[transposed] = {.kind = EquationSymbol::Kind::weight,
                                 .shape = {shape[1], shape[0]},
                                 .name = transposed,
                                 .declared = false};
}

EquationSymbol& EquationScope::product(const EquationSymbol& a, const EquationSymbol& b) {
  const std::string name = text_of("(", a.name, " @ ", b.name, ")");
  if (EquationSymbol* known = find(name)) return *known;
  derived_.push_back({name, {a.name, b.name}, [](std::span<const Var> values) {
                        return lagtape::matmul(values[0], values[1]);
                      }});
  return symbols_[name] = {
             .kind = Kind::weight, .shape = {a.shape[0], b.shape[1]}, .name = name, .declared = false};
}

StepVar EquationScope::values_of(const EquationSymbol& weight) {
  const std::string name = weight.name + ".values";
  if (const EquationSymbol* known = find(name)) return known->value;
  const Shape& shape = weight.shape;
  DerivedWeight flat{name, {}, [](std::span<const Var> values) {
                       std::vector<Var> parts;
                       for (const Var& part : values) parts.push_back(reshape(part, {part.value().numel()}));
                       return concatenate(parts, 0);
                     }};
  if (shape.size() < 3) flat.of = {weight.name};
  for (std::int64_t g = 0; shape.size() == 3 && g < shape[0]; ++g)
    flat.of.push_back(text_of(weight.name, ".", g));
  derived_.push_back(std::move(flat));
  EquationSymbol& symbol = symbols_[name] = {
      .kind = EquationSymbol::Kind::weight, .shape = {element_count(shape)}, .name = name, .declared = false};
  declare(symbol);
  return symbol.value = tape.reshape(symbol.value, RowShape::of(shape));
}

void EquationScope::check_reached(const StepProgram& program, const std::vector<DerivedWeight>& derived) {
  std::set<std::string> reached;
  for (const WeightDefinition& weight : program.weights) reached.insert(weight.name);
  for (auto one = derived.rbegin(); one != derived.rend(); ++one)
    if (reached.contains(one->name)) reached.insert(one->of.begin(), one->of.end());
  std::vector<std::string> unused;
  for (const std::string& name : added_) {
    const EquationSymbol& symbol = *find(name);
    if (symbol.kind != Kind::weight || !symbol.used || reached.contains(name)) continue;
    const bool groups = symbol.shape.size() == 3 && reached.contains(name + ".0");
    const bool is_read = symbol.declared || std::ranges::any_of(derived_, [&](const DerivedWeight& of) {
                           return std::ranges::find(of.of, name) != of.of.end();
                         });
    if (!groups && is_read) unused.push_back(name);
  }
  if (!unused.empty())
    throw InputError(
        {}, Rule::conflict,
        text_of("every weight must reach a next value or the output. Unused: ", listed(unused), "."));
}

void EquationScope::add_failed(const std::string& name) {
  if (find(name) == nullptr) add(name, {.kind = EquationSymbol::Kind::failed});
}

StepVar EquationScope::past_input(std::int64_t steps) {
  if (steps == 0) return x;
  if (past_input_.id() < 0) {
    past_input_ = tape.state("x.past", x.shape());
    tape.set_next(past_input_, x);
  }
  return tape.lag(past_input_, steps - 1);
}

StepVar EquationScope::past_input(const std::string& name, StepVar theta, std::int64_t largest) {
  input_lags[name] = largest;
  // A lag of at least 1 of the state that stores the input is interpolated; it reads from 2 steps back on.
  const StepVar x1 = past_input(1), x2 = past_input(2);
  StepVar lag = maximum(theta, tape.constant(0));
  if (largest <= 2)
    lag = minimum(lag, tape.constant(static_cast<double>(largest)));  // a longer one ends in its state
  if (lag.shape().rank == 0) lag = tape.expand(lag, x.shape().axes());
  const StepVar near = x + minimum(lag, tape.constant(1)) * (x1 - x);
  const StepVar between = x1 + (lag - 1) * (x2 - x1);
  StepVar value = where(above(lag, tape.constant(1)), between, near);
  if (largest <= 2) return value;
  EquationSymbol* past = find(name + ".past");
  if (past == nullptr) {
    derived_.push_back({name + ".past", {name}, [](std::span<const Var> values) { return values[0] - 1; }});
    past = &(
        symbols_[name + ".past"] = {
            .kind = Kind::weight, .shape = theta.shape().axes(), .name = name + ".past", .declared = false});
    declare(*past);
  }
  const StepVar far = tape.lag(past_input_, past->value, largest - 1);
  return where(above(lag, tape.constant(2)), far, value);
}

Var array_of(const Var& like, const Shape& shape, const std::vector<double>& numbers) {
  Tensor tensor(shape, like.dtype());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, numbers[static_cast<std::size_t>(i)]);
  return like.tape().constant(tensor);
}

StepVar EquationScope::array(const Shape& shape, const std::vector<double>& numbers) {
  if (first_weight.empty()) {
    StepVar all;
    for (const double number : numbers) {
      const StepVar one = tape.broadcast(tape.constant(number), RowShape::vector(1));
      all = all.id() < 0 ? one : tape.concatenate(all, one);
    }
    return tape.reshape(all, RowShape::of(shape));
  }
  const std::string name = text_of("array.", ++arrays_);
  derived_.push_back({name, {first_weight}, [numbers](std::span<const Var> values) {
                        return array_of(values[0], {std::ssize(numbers)}, numbers);
                      }});
  const StepVar vector = tape.vector(name, std::ssize(numbers));
  return shape.size() == 1 ? vector : tape.reshape(vector, RowShape::of(shape));
}

}  // namespace lagtape
