#include "lagtape/ops/recurrence/stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "lagtape/core/error.h"

namespace lagtape::recurrence {
namespace {

/// Whether two values share an array of one step.
bool takes_place_of(const LayerOps& layer, int value, int other) {
  const Place &a = layer.values[value].place, &b = layer.values[other].place;
  return value != other && a.kind == Place::Kind::array && b.kind == Place::Kind::array &&
         a.index == b.index && layer.arrays[a.index].kind == Array::Kind::direct;
}

class StageFormer {
  using Kind = StageOps::Kind;

 public:
  StageFormer(const LayerOps& layer, const ValueSlots& slots, const Ops& list, bool by_step)
      : layer_(layer),
        slots_(slots),
        list_(list),
        by_step_(by_step),
        done_(list.size(), false),
        left_(list.size()) {
    for (std::size_t i = 0; i < list.size(); ++i) maker_[list[i].out] = i;
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
  /// All that are ready before the first of them is taken.
  void take_products() {
    std::vector<std::size_t> now;
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (!done_[i] && list_[i].kind == Op::Kind::product && is_ready(i)) now.push_back(i);
    std::map<int, std::size_t> of_operand;
    for (std::size_t i : now) {
      std::size_t at = stages_.size();
      if (!list_[i].transposed)  // of one operand: stacked
        at = of_operand.try_emplace(list_[i].terms.front().operand, at).first->second;
      if (at == stages_.size()) stages_.emplace_back();
      take(i, stages_[at]);
    }
  }

  void take_others() {
    for (;;) {
      StageOps stage;
      for (std::size_t i = 0; i < list_.size(); ++i) {
        if (!is_ready_other(i)) continue;
        stage.kind = std::max(stage.kind, kind_of(list_[i]));
        stage.width = std::max(stage.width, width_of(list_[i]));
      }
      if (stage.kind == Kind::products) return;
      for (std::size_t i = 0; i < list_.size(); ++i)
        if (is_ready_other(i) && belongs(list_[i], stage)) {
          stage.kind = std::max(stage.kind, kind_of(list_[i]));
          take(i, stage);
        }
      stages_.push_back(std::move(stage));
    }
  }

  bool belongs(const Op& op, const StageOps& stage) const {
    if (!by_step_ && std::max(stage.width, width_of(op)) <= kTileElements) return true;
    if (stage.kind == Kind::across) return goes_across(op) || layer_.values[op.out].shape.rank == 0;
    return !goes_across(op) && width_of(op) == stage.width;
  }

  /// Whether an element of the result depends on more than its own element of the operands, or is left to the
  /// C library.
  bool goes_across(const Op& op) const {
    switch (op.kind) {
      case Op::Kind::element: return op.element == ElementOp::sin || op.element == ElementOp::cos;
      case Op::Kind::broadcast: return layer_.values[op.a].place.kind != Place::Kind::constant;
      case Op::Kind::thin_product:
      case Op::Kind::grid_update:
      case Op::Kind::grid_undo: return false;
      default: return true;
    }
  }

  Kind kind_of(const Op& op) const { return goes_across(op) ? Kind::across : Kind::elements; }
  std::int64_t width_of(const Op& op) const { return slots_.padded_width(layer_.values[op.out].shape); }

  void take(std::size_t i, StageOps& stage) {
    stage.ops.push_back(list_[i]);
    done_[i] = true;
    --left_;
  }

  bool is_ready_other(std::size_t i) const {
    return !done_[i] && list_[i].kind != Op::Kind::product && is_ready(i);
  }

  bool is_ready(std::size_t i) const {
    bool yes = true;
    for_operands(list_[i], [&](int o) {
      if (const auto m = maker_.find(o); m != maker_.end() && !done_[m->second]) yes = false;
    });
    return yes && !overwrites(i);
  }

  /// Whether op i writes an array of one step that another op has still to read.
  bool overwrites(std::size_t i) const {
    for (std::size_t j = 0; j < list_.size(); ++j) {
      if (done_[j] || j == i) continue;
      bool reads = false;
      for_operands(list_[j], [&](int o) { reads = reads || takes_place_of(layer_, list_[i].out, o); });
      if (reads) return true;
    }
    return false;
  }

  const LayerOps& layer_;
  const ValueSlots& slots_;
  const Ops& list_;
  const bool by_step_;
  std::map<int, std::size_t> maker_;  // by value: the op that computes it
  std::vector<bool> done_;
  std::size_t left_;
  std::vector<StageOps> stages_;
};

class Mover {
 public:
  Mover(const LayerOps& layer, std::vector<StageOps>& stages) : layer_(layer), stages_(stages) {
    for (const StageOps& stage : stages)
      for (const Op& op : stage.ops) made_.insert(op.out);
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
      if (to.kind != stages_[s].kind || to.width != stages_[s].width || is_overwritten(s, i, reader))
        continue;
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

  /// Stage s or the first after it that reads the value; the number of stages when none does.
  std::size_t first_reader(std::size_t s, int value) const {
    for (; s < stages_.size(); ++s) {
      bool reads = false;
      for (const Op& op : stages_[s].ops) for_operands(op, [&](int o) { reads = reads || o == value; });
      if (reads) break;
    }
    return s;
  }

  /// Whether an operand of op i of stage s is written over between it and stage `until`.
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
};

}  // namespace

std::vector<StageOps> form_stages(const LayerOps& layer, const ValueSlots& slots, const Ops& list,
                                  bool by_step) {
  return StageFormer(layer, slots, list, by_step).form();
}

void move_to_readers(const LayerOps& layer, std::vector<StageOps>& stages) {
  Mover mover(layer, stages);
  for (std::size_t s = stages.size(); s-- > 0;) mover.move_from(s);
  std::erase_if(stages, [](const StageOps& stage) { return stage.ops.empty(); });
}

}  // namespace lagtape::recurrence
