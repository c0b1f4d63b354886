#include "lagtape/tools/exchange/import/step_layers.h"

#include <algorithm>
#include <set>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/step_equations.h"

namespace lagtape::foreign {
namespace {

/// The values that a value is computed from, itself among them, without constants, in order. The values of cells
/// include the cells' steps.
std::set<int> needed_for(const StepGraph& graph, std::vector<int> open, const std::set<int>& known) {
  std::set<int> needed;
  while (!open.empty()) {
    const int value = open.back();
    open.pop_back();
    if (graph[value].kind == StepKind::constant || known.contains(value) || !needed.insert(value).second)
      continue;
    open.insert(open.end(), graph[value].inputs.begin(), graph[value].inputs.end());
  }
  return needed;
}

bool is_layer(const StepValue& value) {
  return value.kind == StepKind::recurrence || value.kind == StepKind::embedding;
}

/// Values that follow each other: each takes the one before alone.
struct Group {
  std::vector<int> nodes;
  int source = 0;
  int result() const { return nodes.back(); }
};

/// Cuts nodes from `source` to the last of them where a single value is all that is needed further on.
std::vector<Group> groups_of(const StepGraph& graph, const std::vector<int>& nodes, int source) {
  std::map<int, int> last_use;
  for (const int node : nodes)
    for (const int input : graph[node].inputs) last_use[input] = node;
  std::vector<Group> groups;
  Group group{.nodes = {}, .source = source};
  int last = last_use[source];  // of all values but the newest
  for (const int node : nodes) {
    group.nodes.push_back(node);
    if (last <= node) {
      groups.push_back(group);
      group = {.nodes = {}, .source = node};
    }
    last = std::max(last, last_use[node]);
  }
  return groups;
}

/// A scale and a shift for each number: y = (x - mean) / scale, or back.
struct Affine {
  std::vector<double> mean, scale;

  explicit Affine(std::int64_t width) : mean(static_cast<std::size_t>(width), 0), scale(mean.size(), 1) {}

  bool is_valid(std::int64_t width) const {
    try {
      Scaling{mean, scale}.check(width, "");
    } catch (const InputError&) {
      return false;
    }
    return true;
  }
};

/// The constant of a sum, a difference, a product or a quotient of a group's source and a constant; -1 for other groups.
int constant_of(const StepGraph& graph, const Group& group) {
  const StepValue& value = graph[group.result()];
  if (group.nodes.size() != 1 || value.kind != StepKind::element || value.inputs.size() != 2) return -1;
  const int a = value.inputs[0], b = value.inputs[1];
  if (value.width != graph.width(group.source) ||
      std::string("+-*/").find(value.function) == std::string::npos)
    return -1;
  if (a == group.source && graph[b].kind == StepKind::constant) return b;
  const bool commutes = value.function == "+" || value.function == "*";
  return commutes && b == group.source && graph[a].kind == StepKind::constant ? a : -1;
}

/// y = (x - mean) / scale, then the group.
void normalize_further(Affine& affine, const StepGraph& graph, const Group& group) {
  const StepValue& value = graph[group.result()];
  const std::vector<double> k = graph.constants(constant_of(graph, group), value.width);
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (value.function == "+") affine.mean[i] -= k[i] * affine.scale[i];
    if (value.function == "-") affine.mean[i] += k[i] * affine.scale[i];
    if (value.function == "*") affine.scale[i] /= k[i];
    if (value.function == "/") affine.scale[i] *= k[i];
  }
}

/// y = x scale + mean, then the group.
void restore_further(Affine& affine, const StepGraph& graph, const Group& group) {
  const StepValue& value = graph[group.result()];
  const std::vector<double> k = graph.constants(constant_of(graph, group), value.width);
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (value.function == "+") affine.mean[i] += k[i];
    if (value.function == "-") affine.mean[i] -= k[i];
    const double factor = value.function == "*" ? k[i] : value.function == "/" ? 1 / k[i] : 1;
    affine.scale[i] *= factor;
    affine.mean[i] *= factor;
  }
}

/// Adds layers to a model, from the input up.
class LayerWriter {
 public:
  LayerWriter(ForeignModel& model, const StepGraph& graph, const std::string& where)
      : model_(model), graph_(graph), where_(where), width_(model.input) {}

  void write(int output) {
    const std::set<int> all = needed_for(graph_, {output}, {});
    for (const int value : all)
      if (graph_[value].kind == StepKind::input) take_input(value, all, output);
    for (const int value : all) {
      if (!is_layer(graph_[value])) continue;
      add_segment(graph_[value].inputs[0], value, all, output);
      add_layer(value);
    }
    add_last(output);
  }

 private:
  std::set<int> known() const {
    std::set<int> values;
    for (const auto& [value, pieces] : layout_) values.insert(value);
    return values;
  }

  /// Begins with the model's input. Where that is scaled and shifted and not used otherwise, with what comes of it.
  void take_input(int input, const std::set<int>& all, int output) {
    Affine affine(width_);
    Affine found = affine;
    int last = input;
    for (int value = input;;) {
      std::vector<int> users;
      for (const int other : all)
        if (std::ranges::find(graph_[other].inputs, value) != graph_[other].inputs.end())
          users.push_back(other);
      if (users.size() != 1 || users[0] == output) break;
      const Group group{.nodes = users, .source = value};
      if (constant_of(graph_, group) < 0) break;
      normalize_further(affine, graph_, group);
      value = users[0];
      if (affine.is_valid(width_)) {
        found = affine;
        last = value;
      }
    }
    if (last != input) model_.normalization.input = {found.mean, found.scale};
    computed_ = needed_for(graph_, {last}, {});
    layout_[last] = {{0, width_}};
  }

  /// Makes the layers' output the input of the layer `next`, and behind it what is needed further on.
  void add_segment(int wanted, int next, const std::set<int>& all, int output) {
    const std::set<int> nodes = needed_for(graph_, {wanted}, known());
    computed_.insert(nodes.begin(), nodes.end());
    computed_.insert(next);
    std::set<int> later;  // values that are used once `next` is computed
    for (const int value : all) {
      if (computed_.contains(value)) continue;
      for (const int input : graph_[value].inputs) later.insert(input);
    }
    later.insert(output);
    std::vector<int> targets = {wanted};
    const bool is_alone = layout_.size() == 1 && layout_.contains(wanted) && layout_.at(wanted).size() == 1;
    for (const int value : later)
      if (value != wanted && (nodes.contains(value) || layout_.contains(value))) targets.push_back(value);
    const bool doubled = later.contains(wanted);
    carry_ = {};
    if (doubled && is_alone && graph_[next].kind == StepKind::recurrence) {
      carry_ = {graph_.width(wanted), true};  // the recurrence hands on its own input
      carried_ = {wanted};
      return;
    }
    carried_.assign(targets.begin() + 1, targets.end());
    if (doubled) {
      targets.push_back(wanted);
      carried_.push_back(wanted);
    }
    for (const int value : carried_) carry_.count += graph_.width(value);
    add_values({nodes.begin(), nodes.end()}, targets);
  }

  /// Whether nodes may be cut into groups: they take one value, and no cell has its states among them.
  bool is_chain(const std::vector<int>& nodes) const {
    return layout_.size() == 1 && layout_.begin()->second.size() == 1 && !nodes.empty() &&
           std::ranges::none_of(nodes, [&](int node) { return graph_[node].kind == StepKind::state; });
  }

  /// Layers after which the output is those values, one after the other.
  void add_values(const std::vector<int>& nodes, const std::vector<int>& targets) {
    if (nodes.empty() && targets.size() == 1 && layout_.size() == 1 && layout_.contains(targets[0]) &&
        layout_.at(targets[0]).size() == 1)
      return;
    if (targets.size() == 1 && is_chain(nodes))
      return add_groups(groups_of(graph_, nodes, layout_.begin()->first));
    add_equations(nodes, targets);
  }

  void add_equations(const std::vector<int>& nodes, const std::vector<int>& targets) {
    const std::string name = text_of("steps_", ++equations_);
    push(name, equation_layer(graph_, nodes, layout_, width_, targets, name));
    set_layout(targets);
  }

  void push(const std::string& place, ForeignContent content) {
    model_.layers.push_back({place, std::move(content)});
    width_ = width_after(model_.layers.back(), width_);
  }

  void set_layout(const std::vector<int>& values) {
    layout_.clear();
    std::int64_t at = 0;
    for (const int value : values) {
      layout_[value] = {{at, graph_.width(value)}};
      at += graph_.width(value);
    }
  }

  void add_layer(int value) {
    const StepValue& layer = graph_[value];
    if (layer.kind == StepKind::embedding) {
      if (carry_.count > 0)
        throw InputError({where_}, Rule::not_supported,
                         "numbers beside those that name rows of an embedding are not supported.");
      const Tensor& table = graph_.tensor(layer.weight);
      push("embedding",
           ForeignEntry{
               .layer = {{"layer", "embedding"}, {"units", layer.width}, {"vocabulary", table.size(0)}},
               .values = {{"E", table}},
               .input = 1,
               .width = layer.width});
      return set_layout({value});
    }
    ForeignLayer made = graph_.recurrences[static_cast<std::size_t>(layer.begin)];
    auto& recurrence = std::get<ForeignRecurrence>(made.content);
    recurrence.carry = carry_;
    const bool both = recurrence.directions.size() > 1;
    const std::int64_t units = recurrence.width() / (both ? 2 : 1), each = units + carry_.count;
    push(made.place, std::move(recurrence));
    layout_.clear();
    layout_[value] = {{0, units}};
    if (both) layout_[value].push_back({each, units});
    if (both && carry_.count == 0) layout_[value] = {{0, 2 * units}};
    std::int64_t at = units;
    for (const int carried : carried_) {
      layout_[carried] = {{at, graph_.width(carried)}};
      at += graph_.width(carried);
    }
  }

  /// The layers of groups that follow each other.
  void add_groups(const std::vector<Group>& groups) {
    std::vector<int> pending;
    int source = layout_.begin()->first;
    const auto flush = [&](int result) {
      if (pending.empty()) return;
      set_layout({source});
      add_equations(pending, {result});
      pending.clear();
    };
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const StepValue& value = graph_[groups[i].result()];
      const bool single = groups[i].nodes.size() == 1,
                 unary = value.kind == StepKind::element && value.inputs.size() == 1;
      if (!single || (value.kind != StepKind::map && value.kind != StepKind::layer_norm && !unary)) {
        if (pending.empty()) source = groups[i].source;
        pending.insert(pending.end(), groups[i].nodes.begin(), groups[i].nodes.end());
        continue;
      }
      flush(groups[i].source);
      if (value.kind == StepKind::layer_norm) {
        push("LayerNormalization", ForeignEntry{.layer = {{"layer", "layer_norm"}, {"eps", value.number}},
                                                .values = {{"gain", graph_.tensor(value.weight)},
                                                           {"bias", graph_.tensor(value.bias)}},
                                                .input = value.width,
                                                .width = value.width});
        continue;
      }
      ForeignDense dense;
      if (value.kind == StepKind::map) {
        dense.W = graph_.tensor(value.weight);
        if (value.bias >= 0) dense.bias = graph_.tensor(value.bias);
        const StepValue* next = i + 1 < groups.size() ? &graph_[groups[i + 1].result()] : nullptr;
        if (next != nullptr && groups[i + 1].nodes.size() == 1 && next->kind == StepKind::element &&
            next->inputs.size() == 1) {
          dense.function = next->function;
          ++i;
        }
      } else {
        dense.function = value.function;
      }
      push(dense.W.empty() ? value.function : "a map", std::move(dense));
    }
    if (!groups.empty()) {
      flush(groups.back().result());
      set_layout({groups.back().result()});
    }
  }

  /// The layers from the last recurrence to the output.
  void add_last(int output) {
    const std::set<int> needed = needed_for(graph_, {output}, known());
    const std::vector<int> nodes(needed.begin(), needed.end());
    if (!is_chain(nodes)) return add_values(nodes, {output});
    std::vector<Group> groups = groups_of(graph_, nodes, layout_.begin()->first);
    std::size_t begin = groups.size();
    while (begin > (model_.layers.empty() ? 1U : 0U) && constant_of(graph_, groups[begin - 1]) >= 0) --begin;
    Affine affine(graph_.width(output));
    for (const Group& group : std::span(groups).subspan(begin)) restore_further(affine, graph_, group);
    if (begin < groups.size() && affine.is_valid(graph_.width(output))) {
      model_.normalization.output = {affine.mean, affine.scale};
      groups.resize(begin);
    }
    const auto is = [&](std::size_t from_end, StepKind kind) {
      if (groups.size() < from_end) return false;
      const Group& group = groups[groups.size() - from_end];
      return group.nodes.size() == 1 && graph_[group.result()].kind == kind;
    };
    const std::size_t pool = is(1, StepKind::map) ? 2 : 1;
    if (is(pool, StepKind::over_time) && graph_[groups[groups.size() - pool].result()].function == "mean") {
      groups.erase(groups.end() - static_cast<std::ptrdiff_t>(pool));
      model_.at = ReadAt::mean;
    }
    if (!groups.empty()) add_groups(groups);
  }

  ForeignModel& model_;
  const StepGraph& graph_;
  const std::string& where_;
  std::int64_t width_;
  StepLayout layout_;
  std::set<int> computed_;
  Carry carry_;
  std::vector<int> carried_;
  int equations_ = 0;
};

}  // namespace

void add_layers(ForeignModel& model, const StepGraph& graph, int output, const std::string& where) {
  LayerWriter(model, graph, where).write(output);
}

}  // namespace lagtape::foreign
