#include "lagtape/ops/recurrence/equations/equations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"
#include "lagtape/ops/recurrence/equations/equation_lines.h"
#include "lagtape/ops/recurrence/equations/ode_equations.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"
#include "lagtape/ops/recurrence/equations/weight_parser.h"
#include "lagtape/ops/recurrence/step/canonical_form.h"
#include "lagtape/ops/recurrence/step/resets.h"

namespace lagtape {
namespace {

using Kind = EquationSymbol::Kind;

/// Reads the parts of a cell in dependency order.
class CellCompiler {
 public:
  CellCompiler(const EquationCell& cell, std::int64_t units, std::int64_t input)
      : cell_(cell), scope_(input) {
    if (cell_.grammar < 2) scope_.tape.spread(StepTape::Spreading::last_axis);
    weight_scope_.numpy = cell_.grammar > 1;
    if (cell_.ode.empty()) {
      part("reads", "", [&] { read_flags(input); });
      if (const std::int64_t rest = input - std::ssize(cell_.reads); rest > 0) input = rest;
      scope_.add("x", {.kind = Kind::input, .value = scope_.x});
      scope_.add("n", {.kind = Kind::step_index, .value = scope_.tape.step_index()});
    } else {
      begin_time(scope_, cell_);
      part("reads", "", [&] { read_flags(input); });
    }
    add_number("units", Kind::dimension, static_cast<double>(units));
    add_number("input", Kind::dimension, static_cast<double>(input));
  }

  CompiledCell compile() {
    for (const auto& [name, value] : cell_.hyper) {
      entry("hyper", name, [&, &name = name, &value = value] {
        check_name("hyper-parameter", name);
        add_number(name, Kind::hyper, value);
      });
    }
    for (const auto& param : cell_.params) entry("params", param.name, [&] { add_param(param); });
    for (const auto& state : cell_.states) entry("state", state.name, [&] { add_state(state); });
    for (const auto& weight : cell_.weights) entry("weights", weight.name, [&] { add_weight(weight); });
    if (!compiled_.weights.empty()) scope_.first_weight = compiled_.weights.front().name;
    for (const auto& constant : cell_.constants)
      entry("constants", constant.name, [&] { add_constant(constant); });
    for (const auto& function : cell_.functions)
      entry("functions", function.name, [&] { add_function(function); });
    for (const auto& [name, text] : cell_.derived)
      entry("derived", name, [&, &name = name, &text = text] { add_derived(name, text); });
    for (const auto& [name, largest] : cell_.lags)
      part("lags", name, [&, &name = name, &largest = largest] { add_lag(name, largest); });
    EquationLines lines(
        scope_, !scope_.ode ? EquationLines::ReadRate() : [this](auto& parser, const auto& target) {
          return read_slope(scope_, parser, target);
        });
    for (std::size_t i = 0; i < cell_.step.size(); ++i)
      part("step", text_of(i), [&] {
        lines.read({text_of("equation ", i + 1), cell_.step[i], text_of("/step/", i)});
      });
    for (std::size_t i = 0; i < cell_.ode.size(); ++i)
      part("ode", text_of(i), [&] { lines.read({text_of("equation ", i + 1), cell_.ode[i]}); });
    if (errors_.empty()) lines.name_values();
    for (const auto& [name, text] : cell_.history)
      part("history", name,
           [&, &name = name, &text = text] { histories_[name] = read_history(scope_, name, text); });
    check_next_values();
    part("output", "", [&] {
      scope_.tape.set_output(EquationParser(scope_, {"output", cell_.output, "/output"}).expression());
    });
    check_complete();
    std::ranges::copy(scope_.derived(), std::back_inserter(compiled_.derived));
    compiled_.input_lags = scope_.input_lags;
    if (errors_.empty() && cell_.ode.empty()) part("", "", [&] { finish(); });
    if (errors_.empty() && scope_.ode)
      part("ode", "", [&] { compiled_.right_side = right_side_of(scope_, cell_, histories_); });
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return std::move(compiled_);
  }

 private:
  /// Reads a part of the cell, and records its error, so that the others are read too. Returns whether there is
  /// none. After many errors it stops reading, since each error searches all names for the one that was meant.
  template <class Read>
  bool part(const std::string& section, const std::string& name, Read read) {
    constexpr std::size_t kMostErrors = 100;
    if (errors_.size() >= kMostErrors) return false;
    try {
      read();
      return true;
    } catch (const InputError& error) {
      note(section, name, error);
    } catch (const FollowingError&) {  // the line that it follows from has its own error
    }
    return false;
  }

  void note(const std::string& section, const std::string& name, const InputError& error) {
    Place place;
    for (const std::string& key : {section, name})
      if (!key.empty()) place.pointer += pointer_part(key);
    const InputError located = error.within(place);
    errors_.insert(errors_.end(), located.problems().begin(), located.problems().end());
  }

  /// Reads a part that declares a name.
  template <class Read>
  void entry(const std::string& section, const std::string& name, Read read) {
    if (part(section, name, read)) return;
    if (!is_equation_name(name) || scope_.find(name) != nullptr) {  // another name may be meant
      scope_.lacks_names = weight_scope_.lacks_names = true;
      return;
    }
    scope_.add_failed(name);
    weight_scope_.failed.insert(name);
  }

  /// Removes the columns that the cell reads by name from the input; in continuous time, the input stays whole.
  void read_flags(std::int64_t input) {
    std::vector<bool> taken(static_cast<std::size_t>(input), false);
    for (const auto& [name, column] : cell_.reads) {
      const std::int64_t at = column < 0 ? column + input : column;
      if (at < 0 || at >= input)
        throw InputError(item("reads", name), Rule::out_of_range,
                         text_of("the input has ", input, " columns, 0 to ", input - 1, " or -1 to ", -input),
                         text_of(column));
      if (taken[static_cast<std::size_t>(at)])
        throw InputError(item("reads", name), Rule::conflict, "another name reads this column",
                         text_of(column));
      taken[static_cast<std::size_t>(at)] = true;
      StepVar value = scope_.tape.sum(scope_.tape.slice(scope_.tape.input(), at, at + 1));
      if (scope_.ode && (name == "reset" || name == "mask"))
        throw InputError(item("reads", name), Rule::not_supported, "an \"ode\" has no resets and no mask");
      if (name == "reset") reset_column_ = at;
      if (name == "reset" || name == "mask") value = above(value, scope_.tape.constant(0));
      if (name != "mask") check_name("reads", name);  // which is a function otherwise
      scope_.add(name, {.kind = Kind::input, .value = value});
    }
    if (scope_.ode) return;
    StepVar rest;
    for (std::int64_t i = 0; i < input; ++i) {
      std::int64_t end = i;
      while (end < input && !taken[static_cast<std::size_t>(end)]) ++end;
      if (end == i) continue;
      const StepVar piece = scope_.tape.slice(scope_.tape.input(), i, end);
      rest = rest.id() < 0 ? piece : scope_.tape.concatenate(rest, piece);
      i = end;
    }
    if (rest.id() < 0)
      throw InputError({.item = "reads"}, Rule::out_of_range, "a column of the input is left, which is x");
    scope_.x = rest;
  }

  void finish() {
    for (const auto& [name, largest] : cell_.lags)
      if (const EquationSymbol& lag = *scope_.find(name); lag.declared) scope_.tape.name(name, lag.value);
    compiled_.program = canonical_form(scope_.tape.recorded());
    scope_.check_reached(compiled_.program, compiled_.derived);
    if (reset_column_ >= 0) compiled_.program = with_reset_column(compiled_.program, reset_column_);
  }

  void add_number(const std::string& name, Kind kind, double value) {
    scope_.add(name, {.kind = kind, .value = scope_.tape.constant(value)});
    weight_scope_.numbers[name] = value;
  }

  void add_state(const EquationCell::Named& state) {
    check_name("state", state.name);
    const Shape sizes = sizes_of("state", state, RowShape::kLargestRank);
    const StepVar value = scope_.tape.state(state.name, RowShape::of(sizes), cell_.arithmetic);
    scope_.add(state.name, {.kind = Kind::state, .value = value});
    if (scope_.ode) add_slope(scope_, state.name);
  }

  void add_weight(const EquationCell::Named& weight) {
    check_name("weight", weight.name);
    const Shape shape = sizes_of("weight", weight, 3);
    if (shape.size() == 3) return add_weight_of_groups(weight.name, shape);
    compiled_.weights.push_back({weight.name, shape});
    add_weight(weight.name, shape);
    weight_scope_.most_numbers = std::min(kMostNumbers, kFreeNumbers + kNumbersForEach * sampled_);
  }

  void add_param(const EquationCell::Param& param) {
    check_name("param", param.name);
    const EquationCell::Named named{param.name, std::vector(param.size.empty() ? 0 : 1, param.size)};
    const Shape shape = sizes_of("param", named, 1);
    compiled_.weights.push_back({param.name, shape});
    add_weight(param.name, shape);
    scope_.find(param.name)->param = true;
    if (param.largest >= 1 && param.largest <= StepTape::kLargestLag)
      scope_.largest_lags[param.name] = static_cast<std::int64_t>(std::ceil(param.largest));
  }

  /// One matrix per group, which only the step reads.
  void add_weight_of_groups(const std::string& name, const Shape& shape) {
    if (shape[0] > kMostGroups)
      throw InputError(item("weight", name), Rule::out_of_range,
                       text_of("there are at most ", kMostGroups, " groups"), text_of(shape[0]));
    for (std::int64_t g = 0; g < shape[0]; ++g) {
      check_name("weight", text_of(name, ".", g));
      compiled_.weights.push_back({text_of(name, ".", g), {shape[1], shape[2]}});
    }
    scope_.add(name, {.kind = Kind::weight, .shape = shape, .declared = false});
  }

  void add_weight(const std::string& name, const Shape& shape) {
    scope_.add(name, {.kind = Kind::weight, .shape = shape, .declared = false});
    if (cell_.derived.empty()) return;
    const std::int64_t numbers = element_count(shape);
    if (numbers > kMostSampled - sampled_)
      throw InputError(
          item("weight", name), Rule::out_of_range,
          text_of("a cell with derived weights may have ", kMostSampled, " numbers in its weights."));
    sampled_ += numbers;
    weight_scope_.values[name] = samples_.size();
    if (numbers > zeros_.numel()) zeros_ = Tensor({numbers}, Dtype::f32);
    samples_.push_back(sample_tape_.constant(
        Tensor::over(zeros_.raw(), shape, Dtype::f32, std::make_shared<const Tensor>(zeros_))));
  }

  /// Evaluates the derived weight on zero weights to find its shape, and records the names that it uses.
  void add_derived(const std::string& name, const std::string& text) {
    check_name("derived", name);
    if (samples_.empty() && !weight_scope_.failed.empty()) throw FollowingError();
    if (samples_.empty()) throw InputError(item("derived", name), Rule::missing, "the cell has no weights.");
    const EquationLine line{text_of("derived '", name, "'"), text};
    std::vector<std::string> names;
    const Tape::Mark before = sample_tape_.mark();
    const Shape shape = derive_weight(line, weight_scope_, samples_, &names).shape();
    sample_tape_.rewind(before);
    if (shape.size() > 2)
      throw InputError(item("derived", name), Rule::shape, "a weight is a matrix, a vector or a scalar.");

    DerivedWeight weight{name, {}, {}};
    WeightScope scope{weight_scope_.numbers, {}, weight_scope_.most_numbers};
    scope.numpy = weight_scope_.numpy;
    for (const std::string& used : names) {
      if (const auto own = scope_.functions.find(used); own != scope_.functions.end()) {
        scope_.used_functions.insert(used);
        scope.functions.insert(*own);
        continue;
      }
      scope_.find(used)->used = true;
      if (weight_scope_.numbers.contains(used) || scope.values.contains(used)) continue;
      scope.values[used] = weight.of.size();
      weight.of.push_back(used);
    }
    if (weight.of.empty()) weight.of.push_back(compiled_.weights.front().name);  // for its tape and precision
    weight.value = [line, scope](std::span<const Var> values) { return derive_weight(line, scope, values); };
    compiled_.derived.push_back(std::move(weight));
    add_weight(name, shape);
  }

  /// A matrix, vector, or scalar is a derived weight; an array with more axes, or in a cell without weights, is
  /// a value of the step.
  void add_constant(const EquationCell::Constant& constant) {
    check_name("constant", constant.name);
    if (constant.shape.empty()) return add_number(constant.name, Kind::hyper, constant.numbers.front());
    if (constant.shape.size() > RowShape::kLargestRank)
      throw InputError(item("constant", constant.name), Rule::shape,
                       text_of("an array has at most ", RowShape::kLargestRank, " axes"),
                       to_string(constant.shape));
    if (constant.shape.size() > 2 || scope_.first_weight.empty())
      return scope_.add(constant.name,
                        {.kind = Kind::equation, .value = scope_.array(constant.shape, constant.numbers)});
    compiled_.derived.push_back(
        {constant.name, {scope_.first_weight}, [constant](std::span<const Var> values) {
           return array_of(values[0], constant.shape, constant.numbers);
         }});
    add_weight(constant.name, constant.shape);
  }

  void add_function(const EquationCell::Function& function) {
    check_name("function", function.name);
    if (function.lines.empty())
      throw InputError(
          item("function", function.name), Rule::missing,
          "a function lists its arguments, and last what it gives: [\"a\", \"a / (1 + abs(a))\"].");
    for (const std::string& argument : function.arguments)
      if (!is_equation_name(argument))
        throw InputError(item("function", function.name), Rule::syntax, "an argument is a name",
                         quote(argument));
    scope_.functions[function.name] = {function.arguments, function.lines};
    weight_scope_.functions = scope_.functions;
  }

  void add_lag(const std::string& name, const std::string& largest) {
    const EquationSymbol* weight = scope_.find(name);
    if (weight && weight->kind == Kind::failed) return;
    if (!weight || weight->kind != Kind::weight || weight->shape.size() >= 2) {
      throw InputError(item("lag", name), Rule::missing, "there is no scalar or vector weight of that name.");
    }
    scope_.largest_lags[name] = EquationParser(scope_, {text_of("lag '", name, "'"), largest}).dimension();
  }

  void check_next_values() {
    for (const auto& state : cell_.states) {
      const EquationSymbol* symbol = scope_.find(state.name);
      const std::string next = state.name + "'";
      const bool is_state = symbol && symbol->kind == Kind::state && !scope_.ode && !scope_.lacks_names;
      if (!is_state || scope_.find(next)) continue;
      note("state", state.name,
           InputError(item("state", state.name), Rule::missing,
                      text_of("has no next value: no equation sets ", next, ".")));
      scope_.add_failed(next);
    }
  }

  /// Checks that continuous-time states are complete, and that everything declared or computed is used.
  void check_complete() {
    for (const auto& state : cell_.states) {
      const EquationSymbol* symbol = scope_.find(state.name);
      if (symbol && symbol->kind == Kind::state && scope_.ode && !scope_.lacks_names && errors_.empty())
        part("state", state.name, [&] { check_state(scope_, state.name, histories_); });
    }
    if (!errors_.empty()) return;
    std::vector<std::string> unused;
    for (const auto& [name, function] : scope_.functions)
      if (!scope_.used_functions.contains(name)) unused.push_back(quote(name));
    for (const std::string& name : scope_.added()) {
      const EquationSymbol& symbol = *scope_.find(name);
      const bool must_be_used =
          symbol.kind == Kind::hyper || symbol.kind == Kind::weight || symbol.kind == Kind::equation;
      if (must_be_used && !symbol.used) unused.push_back(quote(name));
    }
    if (!unused.empty())
      errors_.push_back(
          {.rule = Rule::conflict, .statement = text_of("no equation uses ", listed(unused), ".")});
  }
  void check_name(const std::string& kind, const std::string& name) {
    if (!is_equation_name(name)) {
      throw InputError(item(kind, name), Rule::syntax,
                       "a name is made of letters, digits, '_' and '.', a letter first.");
    }
    if (const EquationSymbol* taken = scope_.find(name)) {
      const bool is_input = taken->kind == Kind::input && kind == "state";
      throw InputError(item(kind, name), Rule::conflict,
                       text_of("the name is taken; it is ", description_of(*taken),
                               is_input ? " of every step; call the state otherwise, such as h." : "."));
    }
  }

  std::vector<std::int64_t> sizes_of(const std::string& kind, const EquationCell::Named& named,
                                     std::size_t most = 2) {
    if (named.shape.size() > most) {
      throw InputError(item(kind, named.name), Rule::shape,
                       text_of("a shape has at most ", most, " dimensions"), text_of(named.shape.size()));
    }
    std::vector<std::int64_t> sizes;
    for (const std::string& dimension : named.shape) {
      sizes.push_back(EquationParser(scope_, {text_of(kind, " '", named.name, "'"), dimension}).dimension());
    }
    return sizes;
  }

  static Place item(const std::string& kind, const std::string& name) {
    return {.item = text_of(kind, " ", quote(name))};
  }

  // Limits on the numbers in a derived weight: how many are always allowed, how many more for each number of
  // the other weights, and the total for all of them; their shapes are found on zeros.
  static constexpr std::int64_t kFreeNumbers = 1 << 22, kNumbersForEach = 64, kMostNumbers = 1 << 30;
  static constexpr std::int64_t kMostSampled = 1 << 27, kMostGroups = 1 << 10;

  const EquationCell& cell_;
  EquationScope scope_;
  std::map<std::string, int> histories_;  // values by the names of states
  CompiledCell compiled_;
  std::vector<Problem> errors_;
  std::int64_t reset_column_ = -1;  ///< of the input
  WeightScope weight_scope_;
  Tensor zeros_;  ///< shared by all of them
  Tape sample_tape_;
  std::vector<Var> samples_;  ///< zeros as the value of every weight
  std::int64_t sampled_ = 0;  ///< their numbers
};

}  // namespace

CompiledCell compile_cell(const EquationCell& cell, std::int64_t units, std::int64_t input) {
  return CellCompiler(cell, units, input).compile();
}

StepProgram compile_equations(const EquationCell& cell, std::int64_t units, std::int64_t input) {
  return compile_cell(cell, units, input).program;
}

}  // namespace lagtape
