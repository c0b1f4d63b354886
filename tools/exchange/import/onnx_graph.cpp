#include "lagtape/tools/exchange/import/onnx_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/onnx_call.h"
#include "lagtape/tools/exchange/import/onnx_loop.h"
#include "lagtape/tools/exchange/import/onnx_recurrence.h"
#include "lagtape/tools/exchange/import/step_layers.h"
#include "lagtape/tools/exchange/import/unrolled.h"

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

bool is_recurrence(const OnnxNode& node) {
  return node.type == "RNN" || node.type == "LSTM" || node.type == "GRU";
}

constexpr const std::map<std::string, OnnxRule>& (*kRules[])() = {
    fold_rules, move_rules, function_rules, activation_rules, element_rules, map_rules, sequence_rules};

std::string supported_nodes() {
  std::set<std::string> names = {"If", "Loop", "Scan"};
  for (const auto rules : kRules)
    for (const auto& [name, rule] : rules()) names.insert(name);
  std::string text = "RNN, LSTM, GRU";
  for (const std::string& name : names) text += ", " + name;
  return text;
}

/// The names that a node reads, those in its graphs among them.
void add_read_names(const OnnxNode& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const auto& [name, attribute] : node.attributes) {
    if (attribute.graph == nullptr) continue;
    for (const OnnxNode& inner : attribute.graph->nodes) add_read_names(inner, names);
    for (const OnnxValue& output : attribute.graph->outputs) names.insert(output.name);
  }
}

/// The nodes that outputs need, in their order, and the names that they read.
std::vector<const OnnxNode*> needed_nodes(const OnnxGraph& graph, std::set<std::string>& needed) {
  std::vector<const OnnxNode*> nodes;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](const std::string& name) { return needed.contains(name); }))
      continue;
    add_read_names(*node, needed);
    nodes.push_back(&*node);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

/// A value has at most so many numbers a step.
constexpr std::int64_t kMostNumbers = 1 << 17;

/// Follows the nodes of a graph from its input to its output.
class GraphReader {
 public:
  GraphReader(const OnnxGraph& graph, const std::string& where) : graph_(graph), where_(where) {}

  /// `numbers_last`: an input of two axes is [time, numbers], else [batch, time] of one number.
  ForeignModel read(bool numbers_last) {
    model_.format = "onnx";
    if (graph_.outputs.empty()) throw InputError({where_}, Rule::missing, "the graph has no output.");
    needed_ = {graph_.outputs.front().name};
    const std::vector<const OnnxNode*> nodes = needed_nodes(graph_, needed_);
    read_inputs(nodes, numbers_last);
    for (const auto& [name, tensor] : graph_.tensors) read_tensor(name, tensor, needed_.contains(name));
    for (const OnnxNode* node : nodes) follow(*node);
    read_output();
    return std::move(model_);
  }

 private:
  [[noreturn]] void refuse(const OnnxNode& node, const std::string& message) const {
    throw InputError({.file = where_, .item = node.title()}, Rule::not_supported, message);
  }

  void read_tensor(const std::string& name, const OnnxTensor& tensor, bool is_read) {
    if (!is_read && tensor.is_real)
      throw InputError({.file = where_, .item = text_of("tensor ", quote(name))}, Rule::not_supported,
                       "is used by no layer.");
    if (tensor.is_double) model_.precision = Dtype::f64;
    values_.emplace(name, tensor);
  }

  /// The inputs that nodes use as first states of recurrences alone.
  std::set<std::string> state_inputs(const std::vector<const OnnxNode*>& nodes) const {
    std::set<std::string> states;
    for (const OnnxValue& input : graph_.inputs) {
      std::set<std::string> names = {input.name};
      bool is_state = false, is_other = false;
      for (const OnnxNode* node : nodes)
        for (std::size_t i = 0; i < node->inputs.size(); ++i) {
          if (!names.contains(node->inputs[i])) continue;
          const bool first = is_recurrence(*node) && (i == 5 || i == 6),
                     moves = move_rules().contains(node->type) && i == 0;
          is_state = is_state || first;
          is_other = is_other || (!first && !moves);
          if (moves) names.insert(node->outputs.begin(), node->outputs.end());
        }
      if (is_state && !is_other) states.insert(input.name);
    }
    return states;
  }

  void read_inputs(const std::vector<const OnnxNode*>& nodes, bool numbers_last) {
    const std::set<std::string> states =
        graph_.inputs.size() > 1 ? state_inputs(nodes) : std::set<std::string>();
    std::vector<const OnnxValue*> inputs;
    std::vector<std::string> names;
    for (const OnnxValue& input : graph_.inputs) {
      if (states.contains(input.name)) {
        add_zero_state(input);
      } else {
        inputs.push_back(&input);
        names.push_back(input.name);
      }
    }
    if (inputs.size() != 1)
      throw unexpected({where_}, Rule::shape, "one input", text_of(names.size(), ": ", listed(names)),
                       "First states are supported as constants of the file.");
    read_input(*inputs.front(), numbers_last);
  }

  void add_zero_state(const OnnxValue& input) {
    OnnxTensor zeros{.shape = input.shape, .values = {}};
    for (std::int64_t& extent : zeros.shape)
      if (extent < 1) extent = 1;
    if (count_of(zeros.shape) > kMostFolded)
      throw InputError({.file = where_, .item = text_of("input '", input.name, "'")}, Rule::out_of_range,
                       text_of("the shape ", to_string(input.shape), "."));
    zeros.values.resize(static_cast<std::size_t>(count_of(zeros.shape)), 0.0);
    values_.emplace(input.name, std::move(zeros));
    model_.notes.push_back(
        text_of("The file takes the first state '", input.name,
                "' as an input. The model begins with zeros there, and a stream hands its states on."));
  }

  void read_input(const OnnxValue& input, bool numbers_last) {
    const Place place{.file = where_, .item = text_of("input '", input.name, "'")};
    const std::size_t rank = input.shape.size();
    if (rank != 2 && rank != 3)
      throw unexpected(place, Rule::shape, "3 axes: time, batch and numbers", text_of(rank));
    const bool has_numbers = rank == 3 || numbers_last;
    model_.input = has_numbers ? input.shape.back() : 1;
    if (model_.input < 1) throw InputError(place, Rule::missing, "the number of its inputs is not given.");
    if (model_.input > kMostNumbers)
      throw InputError(place, Rule::out_of_range, text_of(model_.input, " numbers at a step."));
    OnnxFlow flow;
    for (std::size_t i = 0; i < rank - (has_numbers ? 1 : 0); ++i) {
      const std::int64_t extent = input.shape[i];
      flow.axes.push_back({i == 0 ? 'a' : 'b', extent >= 1 ? extent : kOpenExtents[i]});
    }
    if (has_numbers) flow.axes.push_back({'C', model_.input});
    flow.value = reading_.steps.add({.kind = StepKind::input, .width = model_.input});
    reading_.input_axes = flow.axes;
    values_.emplace(input.name, flow);
  }

  void follow(const OnnxNode& node) {
    if (node.outputs.empty()) refuse(node, "has no output.");
    const bool is_known =
        std::ranges::any_of(kRules, [&](auto rules) { return rules().contains(node.type); });
    if (!is_known && !is_recurrence(node) && !is_loop(node) && node.type != "If")
      refuse(node, text_of("is not supported. Supported: ", supported_nodes(), "."));
    OnnxCall call{node, where_, {}, reading_};
    bool constant = true;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = values_.find(node.inputs[i]);
      if (!node.inputs[i].empty() && found == values_.end())
        refuse(node, text_of("expected the output of the node before as input ", i, "."));
      call.operands.push_back(node.inputs[i].empty() ? nullptr : &found->second);
      constant = constant && !call.is_flow(i);
    }
    if (is_recurrence(node)) return add_recurrence(call);
    if (node.type == "If") return follow_branch(call);
    if (is_loop(node)) return follow_loop(call);
    const bool has_none = node.type == "Constant" || node.type == "SequenceEmpty";
    if (!has_none && !call.has(0)) refuse(node, "expected an input.");
    const bool is_outside = reading_.loop_steps > 0 && reads_outside(call);
    Results results = results_of(call, constant);
    if (constant && reads_step_number(call)) mark_steps(call, results);
    give(node, std::move(results), !is_outside);
  }

  Results results_of(const OnnxCall& call, bool constant) const {
    const std::string& type = call.node.type;
    const bool is_of_shapes = type == "Shape" || type == "Size" || type == "Constant";
    if (constant || is_of_shapes)
      if (const auto rule = fold_rules().find(type); rule != fold_rules().end()) return rule->second(call);
    for (const auto rules :
         {move_rules, function_rules, activation_rules, element_rules, map_rules, sequence_rules})
      if (const auto rule = rules().find(type); rule != rules().end()) return rule->second(call);
    call.refuse("is supported for constants and shapes alone.");
  }

  /// Whether a node of a loop's body moves a value of all steps, of which a later node takes the loop's step. Throws
  /// InputError where it does something else with it.
  bool reads_outside(const OnnxCall& call) const {
    bool is_outside = false;
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      is_outside = is_outside || (call.is_flow(i) && !inside_.contains(call.node.inputs[i]));
    const bool takes_step = call.node.type == "Gather" && call.is_flow(0) && reads_step_number(call);
    if (!is_outside || takes_step || call.node.type == "Shape" || call.node.type == "Size") return false;
    if (!move_rules().contains(call.node.type) || !call.is_flow(0) || call.node.type == "Concat")
      call.refuse(
          "reads a value of all steps inside of a loop. Supported: the step that the loop is at, by Gather "
          "or as "
          "an input of Scan.");
    return true;
  }

  void follow_loop(const OnnxCall& call) {
    OnnxScope scope{values_, inside_, needed_, [this](const OnnxNode& node) { follow(node); }};
    Results results = loop_outputs(call, scope);
    give(call.node, std::move(results));
  }

  void give(const OnnxNode& node, Results results, bool is_inside = true) {
    for (std::size_t i = 0; i < std::min(node.outputs.size(), results.size()); ++i) {
      if (node.outputs[i].empty()) continue;
      if (is_inside && reading_.loop_steps > 0) inside_.insert(node.outputs[i]);
      if (const auto* tensor = std::get_if<OnnxTensor>(&results[i]);
          tensor != nullptr && tensor->is_real && tensor->is_double)
        model_.precision = Dtype::f64;
      const auto* flow = std::get_if<OnnxFlow>(&results[i]);
      if (flow != nullptr && reading_.steps.width(flow->value) > kMostNumbers)
        refuse(node, text_of("gives more than ", kMostNumbers, " numbers a step."));
      values_.insert_or_assign(node.outputs[i], std::move(results[i]));
    }
  }

  /// A branch whose condition is decided by shapes.
  void follow_branch(const OnnxCall& call) {
    const OnnxTensor& condition = call.constant(0);
    const char* name = condition.numel() == 1 && condition.values[0] != 0 ? "then_branch" : "else_branch";
    const auto found = call.node.attributes.find(name);
    if (condition.numel() != 1 || found == call.node.attributes.end() || found->second.graph == nullptr)
      call.refuse("expected a condition and two branches.");
    const OnnxGraph& branch = *found->second.graph;
    for (const auto& [key, tensor] : branch.tensors) values_.insert_or_assign(key, tensor);
    for (const OnnxNode& node : branch.nodes) follow(node);
    for (std::size_t i = 0; i < std::min(branch.outputs.size(), call.node.outputs.size()); ++i) {
      const auto value = values_.find(branch.outputs[i].name);
      if (value == values_.end())
        call.refuse(text_of("its branch does not give '", branch.outputs[i].name, "'."));
      values_.insert_or_assign(call.node.outputs[i], OnnxOperand(value->second));
    }
  }

  /// Time and batch must be the same axes for every recurrence.
  void note_time(const OnnxCall& call, char time) {
    if (time == 'C') call.refuse_axes(call.flow(0), "expected an input of time, batch and numbers.");
    if (reading_.time != 0 && reading_.time != time)
      call.refuse("takes the batch of the recurrence before as its time.");
    reading_.time = time;
  }

  void add_recurrence(const OnnxCall& call) {
    if (!call.is_flow(0)) call.refuse("expected the output of the node before as input 0.");
    const OnnxFlow& flow = call.flow(0);
    const bool batch_first = call.integer("layout", 0) == 1;
    StepGraph& steps = reading_.steps;
    if (flow.axes.size() != 3 || flow.axes[2].letter != 'C' || flow.axes[2].extent != steps.width(flow.value))
      call.refuse_axes(flow, "expected an input of time, batch and numbers.");
    const OnnxAxis time = flow.axes[batch_first ? 1 : 0], batch = flow.axes[batch_first ? 0 : 1];
    if (time.letter == 'F' || batch.letter == 'F')
      call.refuse_axes(flow, "expected an input of time, batch and numbers.");
    if (time.letter == 'C' && time.extent == 1) return give(call.node, recurrence_step(call));
    note_time(call, time.letter);
    ForeignRecurrence recurrence = recurrence_of(call);
    const auto count = std::ssize(recurrence.directions);
    const std::int64_t units = recurrence.directions[0].units, input = recurrence.directions[0].input;
    const bool gives_memory = call.node.outputs.size() > 2 && needed_.contains(call.node.outputs[2]);
    for (ForeignCell& cell : recurrence.directions) cell.gives_memory = gives_memory;
    if (input != steps.width(flow.value))
      throw InputError(
          {.file = where_, .item = call.node.title()}, Rule::shape,
          text_of("takes ", input, " numbers a step. Its input has ", steps.width(flow.value), "."));
    const std::int64_t each = recurrence.directions[0].output(), begun = recurrence.is_backward ? 1 : 0;
    const int value = steps.add({.kind = StepKind::recurrence,
                                 .inputs = {flow.value},
                                 .width = count * each,
                                 .begin = std::ssize(steps.recurrences)});
    steps.recurrences.push_back({call.node.title(), std::move(recurrence)});
    // The outputs at all steps, and behind the last one, of h or of the memory.
    const auto parts = [&](std::int64_t begin) {
      std::vector<int> all, last;
      for (std::int64_t d = begun; d < count; ++d) {
        all.push_back(steps.slice(value, d * each + begin, units));
        last.push_back(d == 0 ? all.back()
                              : steps.add({.kind = StepKind::over_time,
                                           .function = "first",
                                           .inputs = {all.back()},
                                           .width = units}));
      }
      return std::pair(each == units && begun == 0 ? value : steps.concat(all), steps.concat(last));
    };
    const auto [hidden, last] = parts(0);
    const OnnxAxis directions{'C', count - begun}, numbers{'C', units};
    OnnxFlow all{{time, directions, batch, numbers}, hidden}, state{{directions, batch, numbers}, last};
    if (batch_first) all.axes = {batch, time, directions, numbers}, state.axes = {batch, directions, numbers};
    Results results = {all, state};
    if (each > units) results.emplace_back(OnnxFlow{state.axes, parts(units).second});
    give(call.node, std::move(results));
  }

  void read_output() {
    const std::string& output = graph_.outputs.front().name;
    const auto found = values_.find(output);
    const auto* flow = found == values_.end() ? nullptr : std::get_if<OnnxFlow>(&found->second);
    if (flow == nullptr)
      throw InputError({where_}, Rule::not_supported,
                       text_of("the output '", output, "' is not what the last layer gives."));
    std::vector<std::string> others;
    for (std::size_t i = 1; i < graph_.outputs.size(); ++i) others.push_back(graph_.outputs[i].name);
    if (!others.empty())
      model_.notes.push_back(
          text_of("The model gives the output ", quote(output), ". The file also has ", listed(others), "."));
    if (reading_.time != 0 && !flow->has(reading_.time) && !flow->has('F')) model_.at = ReadAt::last_step;
    const int value = rolled(reading_.steps, flow->value, where_);
    add_layers(model_, reading_.steps, value, where_);
  }

  const OnnxGraph& graph_;
  const std::string& where_;
  ForeignModel model_ = {};
  OnnxReading reading_ = {};
  std::map<std::string, OnnxOperand> values_;
  std::set<std::string> needed_;  ///< the names that nodes read
  std::set<std::string> inside_;  ///< the names that the body of a loop makes
};

}  // namespace

ForeignModel read_onnx(std::string_view bytes, const std::filesystem::path& folder,
                       const std::string& where) {
  const OnnxGraph graph = read_onnx_graph(bytes, folder, where);
  const bool is_flat = !graph.inputs.empty() && graph.inputs.front().shape.size() == 2;
  if (is_flat && !graph.inputs.front().is_real) return GraphReader(graph, where).read(false);
  try {
    return GraphReader(graph, where).read(true);
  } catch (const InputError&) {
    if (!is_flat) throw;
    try {
      return GraphReader(graph, where).read(false);
    } catch (const InputError&) {
    }
    throw;
  }
}

}  // namespace lagtape::foreign
