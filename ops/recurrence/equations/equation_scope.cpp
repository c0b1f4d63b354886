#include "lagtape/ops/recurrence/equations/equation_scope.h"

#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

namespace {

using Kind = EquationSymbol::Kind;

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

EquationScope::EquationScope(std::int64_t input) : tape(input) {
  for (const std::string& name : step_function_names())
    if (step_function_named(name) == nullptr)
      symbols_[name] = {};  // names of cells may be those of the others
}

void EquationScope::add(const std::string& name, EquationSymbol symbol) {
  symbol.name = name;
  symbols_[name] = std::move(symbol);
  added_.push_back(name);
}

EquationSymbol* EquationScope::find(std::string_view name) {
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

void EquationScope::add_failed(const std::string& name) {
  if (find(name) == nullptr) add(name, {.kind = EquationSymbol::Kind::failed});
}

StepVar EquationScope::past_input(std::int64_t steps) {
  if (steps == 0) return tape.input();
  if (past_input_.id() < 0) {
    past_input_ = tape.state("x.past", tape.input().shape());
    tape.set_next(past_input_, tape.input());
  }
  return tape.lag(past_input_, steps - 1);
}

}  // namespace lagtape
