#include "lagtape/ops/recurrence/schedule/fusion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lagtape/core/error.h"

namespace lagtape::recurrence {
namespace {

/// Maximum ops per stage. The time to compile a stage grows with the square of their number.
constexpr std::size_t kMostOps = 256;

/// Whether a value is in an array that the previous step takes over.
bool is_of_one_step(const LayerOps& layer, int value) {
  const Location& location = layer.values[value].location;
  return location.kind == Location::Kind::array && layer.arrays[location.index].kind == Array::Kind::direct;
}

/// Whether two values share such an array.
bool takes_place_of(const LayerOps& layer, int value, int other) {
  return value != other && is_of_one_step(layer, value) && is_of_one_step(layer, other) &&
         layer.values[value].location.index == layer.values[other].location.index;
}

class StageFormer {
  using Kind = StageOps::Kind;

 public:
  StageFormer(const LayerOps& layer, const ValueOperands& operands, const Ops& list, bool by_step)
      : layer_(layer),
        operands_(operands),
        list_(list),
        by_step_(by_step),
        waits_for_(list.size(), 0),
        readers_(list.size()),
        left_(list.size()) {
    std::map<int, std::size_t> maker;
    for (std::size_t i = 0; i < list.size(); ++i) maker[list[i].out] = i;
    for (std::size_t i = 0; i < list.size(); ++i)
      for_operands(list[i], [&](int o) {
        if (is_of_one_step(layer, o)) ++reads_left_[layer.values[o].location.index][o];
        const auto m = maker.find(o);
        if (m == maker.end()) return;
        ++waits_for_[i];
        readers_[m->second].push_back(i);
      });
    for (std::size_t i = 0; i < list.size(); ++i)
      if (waits_for_[i] == 0) computable_.insert(i);
  }

  std::vector<StageOps> form() {
    while (left_ > 0) {
      const std::size_t before = left_;
      take_products();
      take_others();
      if (left_ == before) throw Error("[schedule] the ops of a phase wait for each other");
    }
    return std::move(stages_);
  }

 private:
  /// Takes all products that are ready before the first of them is taken.
  void take_products() {
    std::vector<std::size_t> now;
    for (std::size_t i : computable_)
      if (is_product(i) && !overwrites(i)) now.push_back(i);
    std::map<int, std::size_t> of_operand;
    for (std::size_t i : now) {
      std::size_t at = stages_.size();
      if (!list_[i].transposed)  // products of one operand are stacked
        at = of_operand.try_emplace(list_[i].terms.front().operand, at).first->second;
      if (at == stages_.size()) stages_.emplace_back();
      take(i, stages_[at]);
    }
  }

  void take_others() {
    while (std::optional<StageOps> stage = next_stage()) {
      auto next = computable_.begin();
      while (next != computable_.end() && stage->ops.size() < kMostOps) {
        const std::size_t i = *next;
        if (!is_product(i) && !overwrites(i) && belongs(list_[i], *stage)) {
          stage->kind = std::max(stage->kind, kind_of(list_[i]));
          take(i, *stage);
        }
        next = computable_.upper_bound(i);
      }
      stages_.push_back(*std::move(stage));
    }
  }

  /// An empty stage with the kind and width that the ready ops need; none if no op is ready.
  std::optional<StageOps> next_stage() const {
    std::optional<StageOps> stage;
    for (std::size_t i : computable_) {
      if (is_product(i) || overwrites(i)) continue;
      if (!stage) stage = StageOps{Kind::elements, 0, {}};
      stage->kind = std::max(stage->kind, kind_of(list_[i]));
      stage->width = std::max(stage->width, width_of(list_[i]));
    }
    return stage;
  }

  bool belongs(const Op& op, const StageOps& stage) const {
    if (!by_step_ && std::max(stage.width, width_of(op)) <= kTileElements) return true;
    if (stage.kind == Kind::across)
      return kind_of(op) == Kind::across || layer_.values[op.out].shape.rank == 0;
    return kind_of(op) == Kind::elements && width_of(op) == stage.width;
  }

  /// `across` if an element of the result depends on more than the matching elements of the operands, or is
  /// left to the C library.
  Kind kind_of(const Op& op) const {
    bool across = true;
    switch (op.kind) {
      case Op::Kind::element: across = function_of(op.element).calls_library; break;
      case Op::Kind::broadcast: across = layer_.values[op.a].location.kind != Location::Kind::constant; break;
      case Op::Kind::narrow_product:
      case Op::Kind::save:
      case Op::Kind::grid_update:
      case Op::Kind::grid_undo: across = false; break;
      default: break;
    }
    return across ? Kind::across : Kind::elements;
  }

  std::int64_t width_of(const Op& op) const { return operands_.padded_width(layer_.values[op.out].shape); }
  bool is_product(std::size_t i) const { return list_[i].kind == Op::Kind::product; }

  void take(std::size_t i, StageOps& stage) {
    stage.ops.push_back(list_[i]);
    computable_.erase(i);
    --left_;
    for (std::size_t reader : readers_[i])
      if (--waits_for_[reader] == 0) computable_.insert(reader);
    for_operands(list_[i], [&](int o) {
      if (is_of_one_step(layer_, o)) --reads_left_[layer_.values[o].location.index][o];
    });
  }

  /// Whether op i writes an array of one step from which another op has yet to read an older value.
  bool overwrites(std::size_t i) const {
    const int out = list_[i].out;
    if (!is_of_one_step(layer_, out)) return false;
    const auto reads = reads_left_.find(layer_.values[out].location.index);
    if (reads == reads_left_.end()) return false;
    return std::ranges::any_of(reads->second, [&](const auto& left) {
      int others = left.second;
      for_operands(list_[i], [&](int o) { others -= o == left.first ? 1 : 0; });
      return left.first != out && others > 0;
    });
  }

  const LayerOps& layer_;
  const ValueOperands& operands_;
  const Ops& list_;
  const bool by_step_;
  std::set<std::size_t> computable_;  // ops that wait for no operand
  std::map<int, std::map<int, int>>
      reads_left_;              // by array of one step and value: reads by ops not taken yet
  std::vector<int> waits_for_;  // operands that are not yet computed
  std::vector<std::vector<std::size_t>> readers_;  // an op is listed once for each of its operands
  std::size_t left_;
  std::vector<StageOps> stages_;
};

class Mover {
 public:
  Mover(const LayerOps& layer, std::vector<StageOps>& stages) : layer_(layer), stages_(stages) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const Op& op : stages[s].ops) {
        made_.insert(op.out);
        for_operands(op, [&](int o) { ++readers_[o][s]; });
      }
  }

  void move_from(std::size_t s) {
    if (stages_[s].kind != StageOps::Kind::elements) return;
    Ops& ops = stages_[s].ops;
    const std::set<int> independent = independent_of(ops);
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (!independent.contains(ops[i].out)) continue;
      const std::size_t reader = first_reader(s, ops[i].out);
      if (reader == s || reader == stages_.size()) continue;
      StageOps& to = stages_[reader];
      if (to.kind != stages_[s].kind || to.width != stages_[s].width || to.ops.size() >= kMostOps ||
          is_overwritten(s, i, reader))
        continue;
      for_operands(ops[i], [&](int o) {
        if (--readers_[o][s] == 0) readers_[o].erase(s);
        ++readers_[o][reader];
      });
      to.ops.insert(to.ops.begin(), ops[i]);
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  /// Results of a stage that depend on no other work of the phase.
  std::set<int> independent_of(const Ops& ops) const {
    std::set<int> independent;
    for (const Op& op : ops) {
      bool all = true;
      for_operands(op, [&](int o) { all = all && (!made_.contains(o) || independent.contains(o)); });
      if (all) independent.insert(op.out);
    }
    return independent;
  }

  /// Stage s or the first after it that reads the value; the number of stages if none does.
  std::size_t first_reader(std::size_t s, int value) const {
    const auto readers = readers_.find(value);
    if (readers == readers_.end()) return stages_.size();
    const auto first = readers->second.lower_bound(s);
    return first == readers->second.end() ? stages_.size() : first->first;
  }

  /// Whether an operand of op i of stage s is overwritten between it and stage `until`.
  bool is_overwritten(std::size_t s, std::size_t i, std::size_t until) const {
    bool yes = false;
    for_operands(stages_[s].ops[i], [&](int o) {
      for (std::size_t t = s; t < until; ++t)
        for (std::size_t j = t == s ? i + 1 : 0; j < stages_[t].ops.size(); ++j)
          yes = yes || takes_place_of(layer_, stages_[t].ops[j].out, o);
    });
    return yes;
  }

  const LayerOps& layer_;
  std::vector<StageOps>& stages_;
  std::set<int> made_;  // values that the phase computes
  std::map<int, std::map<std::size_t, int>>
      readers_;  // value -> the stages that read it, and how often each does
};

}  // namespace

std::vector<StageOps> fuse(const LayerOps& layer, const ValueOperands& operands, const Ops& list,
                           bool by_step) {
  return StageFormer(layer, operands, list, by_step).form();
}

void move_to_readers(const LayerOps& layer, std::vector<StageOps>& stages) {
  Mover mover(layer, stages);
  for (std::size_t s = stages.size(); s-- > 0;) mover.move_from(s);
  std::erase_if(stages, [](const StageOps& stage) { return stage.ops.empty(); });
}

}  // namespace lagtape::recurrence
