#include "lagtape/ops/recurrence/step/step_tape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/canonical_form.h"

namespace lagtape {
namespace {

/// A key by which equal instructions are found. It contains numbers as bits, so 0 and -0 differ.
std::string key_of(const Instruction& v) {
  const std::string key =
      text_of(static_cast<int>(v.op), ' ', static_cast<int>(v.element), ' ', v.shape.rank, ' ',
              v.shape.groups, ' ', v.shape.size, ' ', v.shape.first[0], ' ', v.shape.first[1], ' ', v.a, ' ',
              v.b, ' ', v.index, ' ', v.lag, ' ', std::bit_cast<std::uint64_t>(v.value));
  return v.op == StepOp::view ? text_of(key, to_string(strides_of(v))) : key;
}

/// The value of a function of numbers.
double fold(ElementOp op, double a, double b = 0) {
  const ElementFunction& function = function_of(op);
  if (function.value == nullptr) throw Error(text_of("[", function.name, "] no step has this function."));
  return function.value(a, b);
}

bool is_constant(const Instruction& v) { return v.op == StepOp::constant; }
bool is_one(const Instruction& v) { return is_constant(v) && v.value == 1; }

void check_extent(std::string_view what, std::int64_t extent) {
  if (extent < 1)
    throw InputError({.op = std::string(what)}, Rule::out_of_range, "an extent must be at least 1",
                     text_of(extent));
}

}  // namespace

const RowShape& StepVar::shape() const { return tape_->at(id_).shape; }

StepTape::StepTape(std::int64_t input_width) {
  check_extent("input", input_width);
  program_.input = RowShape::vector(input_width);
}

// ---- Leaves ----

StepVar StepTape::input() { return record({.op = StepOp::input, .shape = program_.input}); }
StepVar StepTape::step_index() { return record({.op = StepOp::step_index, .shape = RowShape::scalar()}); }

StepVar StepTape::constant(double value) {
  if (!std::isfinite(value))
    throw InputError({.op = "constant"}, Rule::not_finite, "a number must be finite", text_of(value));
  return record({.op = StepOp::constant, .shape = RowShape::scalar(), .value = value});
}

StepVar StepTape::state(std::string name, RowShape shape, Arithmetic arithmetic) {
  check_extent("state " + name, shape.groups);
  check_extent("state " + name, shape.size);
  take_name(name);
  program_.states.push_back({std::move(name), shape, -1, arithmetic});
  return record({.op = StepOp::state, .shape = shape, .index = static_cast<int>(program_.states.size()) - 1});
}

StepVar StepTape::lag(StepVar state, std::int64_t lag) {
  check_mine(state);
  const Instruction& v = at(state.id());
  if (v.op != StepOp::state) {
    throw InputError({.op = "lag"}, Rule::wrong_type, "only a state has past values",
                     std::string(name_of(v)));
  }
  if (lag < 0) throw InputError({.op = "lag"}, Rule::out_of_range, "a lag must be at least 0", text_of(lag));
  if (lag > kLargestLag)
    throw InputError({.op = "lag"}, Rule::out_of_range, text_of("a lag must be at most ", kLargestLag),
                     text_of(lag));
  if (lag == 0) return state;
  return record({.op = StepOp::lag, .shape = v.shape, .index = v.index, .lag = lag});
}

StepVar StepTape::lag(StepVar state, StepVar tau, std::int64_t tau_max) {
  check_mine(state);
  check_mine(tau);
  const Instruction& v = at(state.id());
  if (v.op != StepOp::state) {
    throw InputError({.op = "lag"}, Rule::wrong_type, "only a state has past values",
                     std::string(name_of(v)));
  }
  if (at(tau.id()).op != StepOp::weight) {
    throw InputError({.op = "lag"}, Rule::wrong_type, "a real lag must be a weight",
                     std::string(name_of(at(tau.id()))));
  }
  if (tau.shape().rank != 0 && tau.shape() != v.shape) {
    throw InputError({.op = "lag"}, Rule::shape, "a real lag must be a scalar or one per unit",
                     text_of("the lag ", to_string(tau.shape()), " of a state ", to_string(v.shape)));
  }
  if (tau_max < 1 || tau_max > kLargestLag) {
    throw InputError({.op = "lag"}, Rule::out_of_range,
                     text_of("the largest lag must be between 1 and ", kLargestLag), text_of(tau_max));
  }
  return record({.op = StepOp::real_lag, .shape = v.shape, .a = tau.id(), .index = v.index, .lag = tau_max});
}

StepMatrix StepTape::matrix(std::string name, std::int64_t out, std::int64_t in) {
  const int index = declare_weight(std::move(name), {out, in});
  return {this, index, {out, in}};
}

StepVar StepTape::vector(std::string name, std::int64_t size) {
  const int index = declare_weight(std::move(name), {size});
  return record({.op = StepOp::weight, .shape = RowShape::vector(size), .index = index});
}

StepVar StepTape::scalar(std::string name) {
  const int index = declare_weight(std::move(name), {});
  return record({.op = StepOp::weight, .shape = RowShape::scalar(), .index = index});
}

StepVar StepTape::mask(RowShape shape, double rate, bool every_step) {
  if (!(rate >= 0 && rate < 1))
    throw InputError({.op = "mask"}, Rule::out_of_range, "a rate is at least 0 and below 1", text_of(rate));
  program_.draws.push_back({DrawDefinition::Kind::mask, every_step, 1, rate});
  return record({.op = StepOp::draw, .shape = shape, .index = static_cast<int>(program_.draws.size()) - 1});
}

StepVar StepTape::draw(DrawDefinition::Kind kind, RowShape shape, bool every_step, double evaluation) {
  program_.draws.push_back({kind, every_step, evaluation});
  return record({.op = StepOp::draw, .shape = shape, .index = static_cast<int>(program_.draws.size()) - 1});
}

// ---- Operations ----

StepVar StepTape::product(const StepMatrix& w, StepVar v) {
  check_mine(v);
  if (w.tape != this) throw Error("[@] the matrix belongs to another step tape.");
  const RowShape& shape = v.shape();
  if (shape.rank == 0 || shape.size != w.shape[1]) {
    throw InputError(
        {.op = "@"}, Rule::shape, "a matrix [out, in] multiplies a vector [in] or [g, in]",
        text_of(program_.weights[w.index].name, " ", to_string(w.shape), " and ", to_string(shape)));
  }
  RowShape result = shape;
  result.size = w.shape[0];
  return record({.op = StepOp::product, .shape = result, .a = v.id(), .index = w.index});
}

StepVar StepTape::unary(ElementOp function, StepVar a) {
  check_mine(a);
  const Instruction& v = at(a.id());
  if (is_constant(v)) return constant(fold(function, v.value));
  return record({.op = StepOp::element, .element = function, .shape = v.shape, .a = a.id()});
}

StepVar StepTape::binary(ElementOp function, StepVar a, StepVar b) {
  check_mine(a);
  check_mine(b);
  const Instruction left = at(a.id()), right = at(b.id());
  if (is_constant(left) && is_constant(right)) return constant(fold(function, left.value, right.value));
  if (is_one(right) && (function == ElementOp::multiply || function == ElementOp::divide)) return a;
  if (is_one(left) && function == ElementOp::multiply) return b;

  if (!is_constant(left) && !is_constant(right) && left.shape != right.shape) make_one_shape(function, a, b);
  const RowShape shape = is_constant(left) ? b.shape() : a.shape();
  return record({.op = StepOp::element, .element = function, .shape = shape, .a = a.id(), .b = b.id()});
}

StepVar StepTape::sum(StepVar a) {
  check_mine(a);
  const RowShape& shape = a.shape();
  if (shape.rank == 0)
    throw InputError({.op = "sum"}, Rule::shape, "there must be an axis to sum over", "a scalar []");
  Shape result = shape.axes();
  result.pop_back();
  return record({.op = StepOp::sum, .shape = RowShape::of(result), .a = a.id()});
}

StepVar StepTape::replay(const Instruction& v, StepVar a, StepVar b) {
  switch (v.op) {
    case StepOp::element: return v.b < 0 ? unary(v.element, a) : binary(v.element, a, b);
    case StepOp::sum: return sum(a);
    case StepOp::broadcast: return broadcast(a, v.shape);
    case StepOp::reshape: return reshape(a, v.shape);
    case StepOp::concatenate: return concatenate(a, b);
    case StepOp::slice: return slice(a, v.index, v.index + v.shape.width());
    case StepOp::view: return view(a, v.shape.axes(), v.index, strides_of(v));
    default: throw Error(text_of("[replay] ", name_of(v), " is no operation of values alone"));
  }
}

// ---- The end of a step ----

void StepTape::set_next(StepVar state, StepVar value) {
  check_mine(state);
  check_mine(value);
  const Instruction& v = at(state.id());
  if (v.op != StepOp::state) {
    throw InputError({.op = "set_next"}, Rule::wrong_type, "only a state has a next value",
                     std::string(name_of(v)));
  }
  StateDefinition& definition = program_.states[v.index];
  if (definition.next >= 0) {
    throw InputError({.op = "set_next"}, Rule::conflict,
                     text_of("the next value of state '", definition.name, "' is set already."));
  }
  if (value.shape() != v.shape) {
    throw InputError({.op = "set_next"}, Rule::shape, "the next value of a state must have its shape",
                     text_of(definition.name, " ", to_string(v.shape), " and ", to_string(value.shape())));
  }
  definition.next = value.id();
}

void StepTape::set_output(StepVar value) {
  check_mine(value);
  if (program_.output >= 0)
    throw InputError({.op = "set_output"}, Rule::conflict, "the output of the step is set already.");
  program_.output = value.id();
}

void StepTape::name(const std::string& name, StepVar value) {
  check_mine(value);
  if (is_constant(at(value.id()))) return;
  if (!value_names_.insert(name).second)
    throw InputError({.op = "name"}, Rule::conflict, text_of("the name '", name, "' is taken."));
  program_.named.push_back({name, value.id()});
}

StepProgram StepTape::finish() {
  if (finished_) throw Error("[finish] the step is finished already.");
  if (program_.output < 0) throw InputError({.op = "finish"}, Rule::missing, "the step has no output.");
  for (const StateDefinition& state : program_.states) {
    if (state.next < 0)
      throw InputError({.op = "finish"}, Rule::missing,
                       text_of("state '", state.name, "' has no next value."));
  }
  StepProgram result = canonical_form(program_);
  if (result.weights.size() < program_.weights.size()) {
    std::string unused;
    for (const WeightDefinition& weight : program_.weights) {
      const auto same = [&](const auto& other) { return other.name == weight.name; };
      if (std::ranges::any_of(result.weights, same)) continue;
      unused += text_of(unused.empty() ? "" : ", ", weight.name);
    }
    throw InputError({.op = "finish"}, Rule::conflict,
                     text_of("every weight must reach a next value or the output. Unused: ", unused, "."));
  }
  finished_ = true;
  return result;
}

// ---- Recording ----

StepVar StepTape::record(const Instruction& instruction) {
  if (finished_) throw Error("[record] the step is finished.");
  const auto [place, is_new] =
      known_.try_emplace(key_of(instruction), static_cast<int>(program_.values.size()));
  if (is_new) program_.values.push_back(instruction);
  return {this, place->second};
}

void StepTape::check_mine(StepVar v) const {
  if (v.tape_ != this) throw Error("[step] a value belongs to another step tape.");
}

void StepTape::take_name(const std::string& name) {
  if (!names_.insert(name).second)
    throw InputError({.op = "step"}, Rule::conflict, text_of("the name '", name, "' is taken."));
}

int StepTape::declare_weight(std::string name, Shape shape) {
  for (std::int64_t extent : shape) check_extent("weight " + name, extent);
  take_name(name);
  program_.weights.push_back({std::move(name), std::move(shape)});
  return static_cast<int>(program_.weights.size()) - 1;
}

// ---- Operators ----

StepVar operator+(StepVar a, StepVar b) { return a.tape().binary(ElementOp::add, a, b); }
StepVar operator-(StepVar a, StepVar b) { return a.tape().binary(ElementOp::subtract, a, b); }
StepVar operator*(StepVar a, StepVar b) { return a.tape().binary(ElementOp::multiply, a, b); }
StepVar operator/(StepVar a, StepVar b) { return a.tape().binary(ElementOp::divide, a, b); }
StepVar operator+(StepVar a, double b) { return a + a.tape().constant(b); }
StepVar operator-(StepVar a, double b) { return a - a.tape().constant(b); }
StepVar operator*(StepVar a, double b) { return a * a.tape().constant(b); }
StepVar operator/(StepVar a, double b) { return a / a.tape().constant(b); }
StepVar operator+(double a, StepVar b) { return b.tape().constant(a) + b; }
StepVar operator-(double a, StepVar b) { return b.tape().constant(a) - b; }
StepVar operator*(double a, StepVar b) { return b.tape().constant(a) * b; }
StepVar operator/(double a, StepVar b) { return b.tape().constant(a) / b; }
StepVar operator-(StepVar a) { return a.tape().unary(ElementOp::negate, a); }
StepVar product(const StepMatrix& w, StepVar v) { return v.tape().product(w, v); }

StepVar sum(StepVar a) { return a.tape().sum(a); }

StepVar mean(StepVar a) {
  const double n = static_cast<double>(a.shape().size);
  return a.tape().sum(a) * (1 / n);
}

}  // namespace lagtape
