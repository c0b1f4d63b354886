#include "lagtape/ops/recurrence/derive/backward_phases.h"

#include <algorithm>
#include <map>

namespace lagtape::recurrence {
namespace {

enum class When : std::uint8_t { before, loop, block, after };

class PhaseAssigner {
 public:
  PhaseAssigner(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count)
      : layer_(layer), backward_(backward), forward_count_(forward_count) {
    for (std::size_t i = 0; i < ops().size(); ++i) maker_[ops()[i].out] = i;
  }

  void run() {
    const auto by_loop = needed_by(backward_.loop), by_lags = needed_by(backward_.lags);
    const auto live = needed_by(wanted());
    std::vector<When> when(ops().size());
    for (std::size_t i = 0; i < when.size(); ++i) {
      const Op& op = ops()[i];
      When w = earliest(op, when);
      if (by_loop[i]) {
        if (is_loop_source(op)) w = When::loop;
      } else if (op.kind == Op::Kind::product && w >= When::loop) {
        w = std::max(w, by_lags[i] ? When::block : When::after);
      }
      when[i] = w;
    }
    stay_in_loop(when);
    for (std::size_t i = 0; i < when.size(); ++i)
      if (live[i]) list(when[i]).push_back(ops()[i]);
  }

 private:
  const Ops& ops() const { return backward_.ops; }

  /// Which ops lead to those values.
  std::vector<bool> needed_by(const std::vector<int>& roots) const {
    std::vector<bool> needed(ops().size(), false);
    for (int r : roots) needed[maker_.at(r)] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i]) continue;
      for_operands(ops()[i], [&](int o) {
        if (const auto m = maker_.find(o); m != maker_.end()) needed[m->second] = true;
      });
    }
    return needed;
  }

  std::vector<int> wanted() const {
    std::vector<int> values = backward_.sinks;
    for (const auto& g : layer_.matrix_gradients)
      if (maker_.contains(g.delta)) values.push_back(g.delta);
    for (const auto& g : layer_.vector_gradients)
      if (maker_.contains(g.adjoint)) values.push_back(g.adjoint);
    return values;
  }

  /// Not before its operands. Nothing runs before the loop unless a product can be taken out of it.
  When earliest(const Op& op, const std::vector<When>& when) const {
    if (op.kind == Op::Kind::real_lag_adjoint) return When::loop;
    const bool recurrent = !layer_.state_arrays.empty();
    When w = recurrent && layer_.post.empty() ? When::loop : When::before;
    for_operands(op, [&](int o) {
      if (const auto m = maker_.find(o); m != maker_.end()) w = std::max(w, when[m->second]);
      if (static_cast<std::size_t>(o) >= forward_count_ && from_later_steps(o)) w = std::max(w, When::loop);
    });
    return w;
  }

  /// What the loop reads, and no product before it needs, is computed in the loop: there it is at hand, and
  /// not passed through the memory of a run.
  void stay_in_loop(std::vector<When>& when) const {
    std::vector<bool> for_product(when.size(), false), for_loop(when.size(), false);
    for (std::size_t i = when.size(); i-- > 0;) {
      const bool leads_to_product = for_product[i] || ops()[i].kind == Op::Kind::product;
      if (when[i] == When::before && for_loop[i] && !leads_to_product) when[i] = When::loop;
      for_operands(ops()[i], [&](int o) {
        const auto m = maker_.find(o);
        if (m == maker_.end()) return;
        if (when[i] == When::before && leads_to_product) for_product[m->second] = true;
        if (when[i] == When::loop) for_loop[m->second] = true;
      });
    }
    for (std::size_t i = 0; i < when.size(); ++i)
      for_operands(ops()[i], [&](int o) {
        if (const auto m = maker_.find(o); m != maker_.end()) when[i] = std::max(when[i], when[m->second]);
      });
  }

  bool from_later_steps(int v) const {
    const Location& p = layer_.values[v].location;
    if (p.kind != Location::Kind::array) return false;
    const Array::Kind kind = layer_.arrays[p.index].kind;
    return kind == Array::Kind::direct || kind == Array::Kind::lag_adjoint;
  }
  /// An op that writes what the step before reads must not run ahead of the loop.
  bool is_loop_source(const Op& op) const {
    const Location& p = layer_.values[op.out].location;
    return p.kind == Location::Kind::array && layer_.arrays[p.index].kind == Array::Kind::direct;
  }

  Ops& list(When when) {
    switch (when) {
      case When::before: return layer_.before;
      case When::loop: return layer_.backward_loop;
      case When::block: return layer_.backward_block;
      default: return layer_.after;
    }
  }

  LayerOps& layer_;
  const BackwardOps& backward_;
  std::size_t forward_count_;
  std::map<int, std::size_t> maker_;  // value -> the op that computes it
};

}  // namespace

void assign_phases(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count) {
  PhaseAssigner(layer, backward, forward_count).run();
}

}  // namespace lagtape::recurrence
