#include "lagtape/ops/recurrence/stages.h"

#include <map>

#include "lagtape/core/error.h"

namespace lagtape::recurrence {
namespace {

class StageFormer {
 public:
  StageFormer(const LayerOps& layer, const Ops& list)
      : layer_(layer), list_(list), done_(list.size(), false), left_(list.size()) {
    for (std::size_t i = 0; i < list.size(); ++i) maker_[list[i].out] = i;
  }

  std::vector<StageOps> form() {
    while (left_ > 0) {
      const std::size_t before = left_;
      take_products();
      take_element_wise();
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
      if (at == stages_.size()) stages_.push_back({true, {}});
      take(i, stages_[at]);
    }
  }

  void take_element_wise() {
    StageOps tile;
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (!done_[i] && list_[i].kind != Op::Kind::product && is_ready(i)) take(i, tile);
    if (!tile.ops.empty()) stages_.push_back(std::move(tile));
  }

  void take(std::size_t i, StageOps& stage) {
    stage.ops.push_back(list_[i]);
    done_[i] = true;
    --left_;
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
    const Place& target = layer_.values[list_[i].out].place;
    if (target.kind != Place::Kind::array || layer_.arrays[target.index].kind != Array::Kind::direct)
      return false;
    for (std::size_t j = 0; j < list_.size(); ++j) {
      if (done_[j] || j == i) continue;
      bool reads = false;
      for_operands(list_[j], [&](int o) {
        const Place& p = layer_.values[o].place;
        if (p.kind == Place::Kind::array && p.index == target.index && o != list_[i].out) reads = true;
      });
      if (reads) return true;
    }
    return false;
  }

  const LayerOps& layer_;
  const Ops& list_;
  std::map<int, std::size_t> maker_;  // by value: the op that computes it
  std::vector<bool> done_;
  std::size_t left_;
  std::vector<StageOps> stages_;
};

}  // namespace

std::vector<StageOps> form_stages(const LayerOps& layer, const Ops& list) {
  return StageFormer(layer, list).form();
}

}  // namespace lagtape::recurrence
