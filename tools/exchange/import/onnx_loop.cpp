#include "lagtape/tools/exchange/import/onnx_loop.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

/// A graph whose own names begin with a prefix, so that those of two loops differ.
OnnxGraph renamed(const OnnxGraph& graph, std::set<std::string> own, const std::string& prefix) {
  for (const OnnxValue& input : graph.inputs) own.insert(input.name);
  for (const auto& [name, tensor] : graph.tensors) own.insert(name);
  for (const OnnxNode& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const auto rename = [&](std::string& name) {
    if (!name.empty() && own.contains(name)) name.insert(0, prefix);
  };
  OnnxGraph result = graph;
  result.tensors.clear();
  for (const auto& [name, tensor] : graph.tensors) result.tensors.emplace(prefix + name, tensor);
  for (OnnxValue& input : result.inputs) rename(input.name);
  for (OnnxValue& output : result.outputs) rename(output.name);
  for (OnnxNode& node : result.nodes) {
    std::ranges::for_each(node.inputs, rename);
    std::ranges::for_each(node.outputs, rename);
    for (auto& [name, attribute] : node.attributes)
      if (attribute.graph != nullptr)
        attribute.graph = std::make_shared<OnnxGraph>(renamed(*attribute.graph, own, prefix));
  }
  return result;
}

/// Reads one loop. Of its steps the last but one is followed: numbers of a step are those of that step, so that a condition is
/// whether the loop goes on to the last.
class LoopReader {
 public:
  LoopReader(const OnnxCall& call, OnnxScope& scope)
      : call_(call), scope_(scope), reading_(call.reading), is_scan_(call.node.type == "Scan") {
    const auto found = call.node.attributes.find("body");
    if (found == call.node.attributes.end() || found->second.graph == nullptr) call.refuse("has no body.");
    if (reading_.loop_steps > 0) call.refuse("is inside of another loop.");
    cell_ = std::ssize(reading_.steps.first_states);
    body_ = renamed(*found->second.graph, {}, text_of("loop ", cell_, ": "));
  }

  Results read() {
    reading_.steps.first_states.emplace_back();
    scope_.inside.clear();
    begin();
    for (const auto& [name, tensor] : body_.tensors) scope_.values.insert_or_assign(name, tensor);
    for (const OnnxNode& node : body_.nodes) scope_.follow(node);
    Results results = end();
    reading_.loop_steps = 0;
    return results;
  }

 private:
  /// A value that is handed from step to step, or an output of all steps.
  struct Carried {
    std::size_t operand = 0;  ///< of the node
    std::string input, output;
    OnnxFlow state = {};
    enum class Kind : std::uint8_t { state, same, number, list } kind = Kind::state;
  };

  void begin() {
    const std::size_t outputs = body_.outputs.size();
    const auto count =
        static_cast<std::size_t>(std::max<std::int64_t>(call_.integer("num_scan_inputs", 0), 0));
    const std::size_t all = call_.operands.size(), first = is_scan_ ? 0 : 2;  // of the operands
    if (all < first + count || body_.inputs.size() != all ||
        outputs + (is_scan_ ? 0 : 2) < all - count + (is_scan_ ? 0 : 1))
      call_.refuse("its body does not fit its inputs.");
    if (is_scan_) {
      begin_scan(all - count);
    } else {
      begin_loop();
    }
    for (std::size_t i = first; i < all - count; ++i)
      add_carried(i, body_.inputs[i].name, body_.outputs[is_scan_ ? i : i - 1].name);
    const std::size_t handed = all - count - first + (is_scan_ ? 0 : 1);
    for (std::size_t i = handed; i < outputs; ++i) gathered_.push_back(body_.outputs[i].name);
  }

  void bind(const std::string& name, OnnxOperand value) {
    scope_.inside.insert(name);
    scope_.values.insert_or_assign(name, std::move(value));
  }

  void begin_loop() {
    if (!call_.has(0)) call_.refuse("has no number of steps.");
    if (call_.has(1) && (call_.constant(1).numel() != 1 || call_.constant(1).values[0] == 0))
      call_.refuse("its condition is not true before its first step.");
    const Integers steps = call_.constant(0).integers();
    if (steps.size() != 1 || steps[0] < 1) call_.refuse("its number of steps is not the input's.");
    reading_.loop_steps = steps[0];
    OnnxTensor number{
        .shape = {}, .values = {static_cast<double>(steps[0] - 2)}, .is_real = false, .is_step = true};
    bind(body_.inputs[0].name, std::move(number));
    bind(body_.inputs[1].name, OnnxTensor{.shape = {}, .values = {1}, .is_real = false});
  }

  void begin_scan(std::size_t first) {
    if (call_.has_attribute("directions"))
      call_.refuse("is supported as operators of version 9 and later have it.");
    for (const char* name : {"scan_input_directions", "scan_output_directions"})
      for (const std::int64_t direction : call_.integers(name, call_.operands.size(), {}))
        if (direction != 0) call_.refuse("is supported from the first step to the last.");
    const Integers axes = call_.integers("scan_input_axes", call_.operands.size(), {});
    for (std::size_t i = first; i < call_.operands.size(); ++i) {
      OnnxFlow flow = call_.flow(i);
      const std::size_t axis = call_.axis(axes.size() > i - first ? axes[i - first] : 0, flow.axes.size());
      reading_.loop_steps = flow.axes[axis].extent;
      call_.reading.take_time(call_, flow, axis);
      flow.axes.erase(flow.axes.begin() + static_cast<std::ptrdiff_t>(axis));
      bind(body_.inputs[i].name, flow);
    }
    if (first == call_.operands.size()) call_.refuse("reads no value of all steps.");
  }

  void add_carried(std::size_t operand, const std::string& input, const std::string& output) {
    Carried carried{operand, input, output};
    const bool is_same = input == output || std::ranges::any_of(body_.nodes, [&](const OnnxNode& node) {
                           return node.type == "Identity" && node.inputs == std::vector{input} &&
                                  node.outputs == std::vector{output};
                         });
    if (!call_.has(operand)) call_.refuse(text_of("expected a value as input ", operand, "."));
    const auto* tensor = std::get_if<OnnxTensor>(call_.operands[operand]);
    if (std::holds_alternative<OnnxList>(*call_.operands[operand])) {
      carried.kind = Carried::Kind::list;
      bind(input, OnnxList{});
    } else if (tensor != nullptr && is_same) {
      carried.kind = Carried::Kind::same;
      bind(input, *tensor);
    } else if (tensor != nullptr && !tensor->is_real && tensor->numel() == 1 && !is_scan_) {
      carried.kind = Carried::Kind::number;
      OnnxTensor number = *tensor;
      number.values[0] += static_cast<double>(reading_.loop_steps - 2);
      number.is_step = true;
      bind(input, std::move(number));
    } else if (tensor != nullptr) {
      carried.state = state_of(*tensor);
      bind(input, carried.state);
    } else {
      call_.refuse(text_of("input ", operand, " ", quote(call_.node.inputs[operand]),
                           ", the first state, depends on the model's input. Supported: constants."));
    }
    carried_.push_back(std::move(carried));
  }

  /// A state that begins with that constant, which must be the same for all sequences of a batch.
  OnnxFlow state_of(const OnnxTensor& initial) {
    if (initial.values.empty()) call_.refuse("has a first state without numbers.");
    OnnxTensor first = initial;
    OnnxFlow flow;
    for (std::size_t i = 0; i < initial.shape.size(); ++i) {
      const OnnxAxis* batch = reading_.batch_of(reading_.loop_steps);
      const bool is_batch = batch != nullptr && i + 1 < initial.shape.size() &&
                            initial.shape[i] == batch->extent && batch->extent > 1 &&
                            !flow.has(batch->letter);
      flow.axes.push_back(is_batch ? *batch : OnnxAxis{'C', initial.shape[i]});
      if (!is_batch) continue;
      const OnnxTensor row = taken(first, i, {0});
      if (spread(row, first.shape).values != first.values)
        call_.refuse("first states that differ from sequence to sequence are not supported.");
      first = row;
    }
    StepGraph& g = reading_.steps;
    std::vector<int>& states = g.first_states[static_cast<std::size_t>(cell_)];
    const StepValue constant = g[g.vector(first.values)];
    flow.value = g.add({.kind = StepKind::state,
                        .width = first.numel(),
                        .begin = std::ssize(states),
                        .number = static_cast<double>(cell_)});
    states.push_back(g.add({.kind = StepKind::constant,
                            .width = first.numel(),
                            .weight = constant.weight,
                            .number = constant.number}));
    return flow;
  }

  const OnnxOperand& made(const std::string& name) const {
    const auto found = scope_.values.find(name);
    if (found == scope_.values.end()) call_.refuse(text_of("its body does not give ", quote(name), "."));
    return found->second;
  }

  const OnnxFlow& made_flow(const std::string& name) const {
    const auto* flow = std::get_if<OnnxFlow>(&made(name));
    if (flow == nullptr || !scope_.inside.contains(name))
      call_.refuse(text_of("its body gives ", quote(name), ", which no step computes."));
    return *flow;
  }

  bool is_needed(std::size_t output) const {
    return output < call_.node.outputs.size() && scope_.needed.contains(call_.node.outputs[output]);
  }

  /// Where the outputs lie in that of the cell.
  int part(int value) {
    if (std::ranges::find(parts_, value) == parts_.end()) parts_.push_back(value);
    return value;
  }

  void check_condition() const {
    if (is_scan_) return;
    const auto* condition = std::get_if<OnnxTensor>(&made(body_.outputs[0].name));
    if (condition == nullptr || condition->numel() != 1 || condition->values[0] == 0)
      call_.refuse("it ends before the last step, or by what its steps compute.");
  }

  Results end() {
    check_condition();
    StepValue cell{.kind = StepKind::cell, .begin = cell_};
    std::vector<std::pair<std::size_t, OnnxFlow>> flows;  // outputs, of one step
    Results results(carried_.size() + gathered_.size(), OnnxTensor{});
    std::size_t output = 0;
    for (const Carried& carried : carried_) {
      end_carried(carried, output, cell, flows, results);
      ++output;
    }
    const std::size_t first_gathered = output;
    for (const std::string& name : gathered_) {
      if (is_needed(output)) flows.emplace_back(output, made_flow(name));
      ++output;
    }
    if (!reading_.reads_steps && !is_scan_) call_.refuse("its body reads no step of the model's input.");
    for (const auto& [number, flow] : flows) part(flow.value);
    StepGraph& g = reading_.steps;
    if (parts_.empty()) return results;
    cell.inputs.push_back(g.concat(parts_));
    cell.width = g.width(cell.inputs.back());
    const int value = g.add(std::move(cell));
    for (auto& [number, flow] : flows) {
      std::int64_t at = 0;
      for (const int other : parts_) {
        if (other == flow.value) break;
        at += g.width(other);
      }
      flow.value = g.slice(value, at, g.width(flow.value));
      if (number >= first_gathered) add_time(flow, number - first_gathered);
      const bool is_list = number < carried_.size() && carried_[number].kind == Carried::Kind::list;
      results[number] = is_list ? OnnxOperand(OnnxList{flow}) : OnnxOperand(flow);
    }
    return results;
  }

  void end_carried(const Carried& carried, std::size_t output, StepValue& cell,
                   std::vector<std::pair<std::size_t, OnnxFlow>>& flows, Results& results) {
    using Kind = Carried::Kind;
    if (carried.kind == Kind::same) results[output] = *call_.operands[carried.operand];
    if (carried.kind == Kind::number) {
      const auto* number = std::get_if<OnnxTensor>(&made(carried.output));
      const auto& before = std::get<OnnxTensor>(made(carried.input));
      if (number == nullptr || !number->is_step || number->values[0] != before.values[0] + 1)
        call_.refuse(text_of("input ", carried.operand, " is a whole number that does not count the steps."));
      OnnxTensor last = *number;
      last.values[0] += 1;
      last.is_step = false;
      last.is_count = true;
      results[output] = last;
    }
    if (carried.kind == Kind::list) {
      const auto* list = std::get_if<OnnxList>(&made(carried.output));
      if (list == nullptr || !list->step) call_.refuse("a list is not given one value at each step.");
      if (is_needed(output)) flows.emplace_back(output, *list->step);
    }
    if (carried.kind != Kind::state) return;
    const OnnxFlow& next = made_flow(carried.output);
    if (reading_.steps.width(next.value) != reading_.steps.width(carried.state.value))
      call_.refuse(text_of("its state ", quote(call_.node.inputs[carried.operand]), " has ",
                           reading_.steps.width(carried.state.value), " numbers before a step and ",
                           reading_.steps.width(next.value), " after it."));
    cell.inputs.push_back(next.value);
    if (is_needed(output)) flows.emplace_back(output, next);
  }

  void add_time(OnnxFlow& flow, std::size_t number) const {
    const Integers axes = call_.integers("scan_output_axes", call_.operands.size(), {});
    const std::size_t axis =
        call_.axis(is_scan_ && axes.size() > number ? axes[number] : 0, flow.axes.size() + 1);
    flow.axes.insert(flow.axes.begin() + static_cast<std::ptrdiff_t>(axis),
                     OnnxAxis{reading_.time, reading_.loop_steps});
  }

  const OnnxCall& call_;
  OnnxScope& scope_;
  OnnxReading& reading_;
  bool is_scan_;
  std::int64_t cell_ = 0;
  OnnxGraph body_;
  std::vector<Carried> carried_;
  std::vector<std::string> gathered_;  ///< outputs of all steps
  std::vector<int> parts_;             ///< of the cell's output
};

Results inserted(const OnnxCall& call) {
  if (!call.has(0) || !std::holds_alternative<OnnxList>(*call.operands[0]) || call.has(2))
    call.refuse("is supported at the end of a list.");
  if (std::get<OnnxList>(*call.operands[0]).step) call.refuse("is supported once a step.");
  return call.one(OnnxList{call.flow(1)});
}

/// Values of all steps, one after the other along a new axis or along one with one index.
Results joined_list(const OnnxCall& call) {
  const auto* list = call.has(0) ? std::get_if<OnnxList>(call.operands[0]) : nullptr;
  if (list == nullptr || !list->step || call.reading.time == 0)
    call.refuse("is supported for a list of all steps.");
  OnnxFlow flow = *list->step;
  const bool is_new = call.integer("new_axis", 0) != 0;
  const std::size_t axis = call.axis_of("axis", 0, flow.axes.size() + (is_new ? 1 : 0));
  const auto place = flow.axes.begin() + static_cast<std::ptrdiff_t>(axis);
  if (is_new) {
    flow.axes.insert(place, OnnxAxis{call.reading.time, call.reading.listed_steps});
  } else {
    if (place->letter != 'C' || place->extent != 1)
      call.refuse_axes(flow, "joins steps along an axis with several numbers.");
    *place = {call.reading.time, call.reading.listed_steps};
  }
  return call.one(std::move(flow));
}

}  // namespace

bool is_loop(const OnnxNode& node) { return node.type == "Loop" || node.type == "Scan"; }

Results loop_outputs(const OnnxCall& call, OnnxScope& scope) {
  LoopReader reader(call, scope);
  return reader.read();
}

bool reads_step_number(const OnnxCall& call) {
  return std::ranges::any_of(call.operands, [](const OnnxOperand* operand) {
    const auto* tensor = operand == nullptr ? nullptr : std::get_if<OnnxTensor>(operand);
    return tensor != nullptr && (tensor->is_step || tensor->depends_on_step);
  });
}

void mark_steps(const OnnxCall& call, Results& results) {
  const auto is_one_of = [&](std::initializer_list<const char*> types) {
    return std::ranges::find(types, call.node.type) != types.end();
  };
  const bool moves = is_one_of({"Cast", "Identity", "Squeeze", "Unsqueeze", "Reshape"});
  if (!moves && !is_one_of({"Add", "Sub", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal", "And",
                            "Or", "Not"}))
    call.refuse(
        "computes with the number of a loop's step. Supported: the step of a value of all steps, and "
        "conditions.");
  const auto is_step = [&](std::size_t i) { return call.is_constant(i) && call.constant(i).is_step; };
  const auto is_fixed = [&](std::size_t i) {
    return call.is_constant(i) && !call.constant(i).is_step && !call.constant(i).depends_on_step;
  };
  const bool counts = (moves && is_step(0)) || (is_one_of({"Add", "Sub"}) && is_step(0) && is_fixed(1)) ||
                      (call.node.type == "Add" && is_step(1) && is_fixed(0));
  for (OnnxOperand& result : results)
    if (auto* tensor = std::get_if<OnnxTensor>(&result))
      (counts ? tensor->is_step : tensor->depends_on_step) = true;
}

const std::map<std::string, OnnxRule>& sequence_rules() {
  static const std::map<std::string, OnnxRule> rules = {
      {"SequenceEmpty", [](const OnnxCall& call) { return call.one(OnnxList{}); }},
      {"SequenceInsert", inserted},
      {"ConcatFromSequence", joined_list},
  };
  return rules;
}

}  // namespace lagtape::foreign
