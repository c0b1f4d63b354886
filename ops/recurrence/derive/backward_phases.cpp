#include "lagtape/ops/recurrence/derive/backward_phases.h"

#include <algorithm>
#include <map>

namespace lagtape::recurrence {
namespace {

/// The later of two moments of the backward pass, in which a block comes after its steps.
Moment later(Moment a, Moment b) {
  const auto order = [](Moment m) {
    return m == Moment::before ? 0 : m == Moment::step ? 1 : m == Moment::block ? 2 : 3;
  };
  return order(a) < order(b) ? b : a;
}

class MomentAssigner {
 public:
  MomentAssigner(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count)
      : layer_(layer), backward_(backward), forward_count_(forward_count) {
    for (std::size_t i = 0; i < ops().size(); ++i) maker_[ops()[i].out] = i;
  }

  void run() {
    const auto by_step = needed_by(backward_.step), by_lags = needed_by(backward_.lags);
    const auto live = needed_by(wanted());
    std::vector<Moment> moments(ops().size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const Op& op = ops()[i];
      Moment w = earliest(op, moments);
      if (by_step[i]) {
        if (is_step_source(op)) w = Moment::step;
      } else if (op.kind == Op::Kind::product && w != Moment::before) {
        w = later(w, by_lags[i] ? Moment::block : Moment::after);
      }
      moments[i] = w;
    }
    stay_in_steps(moments);
    for (std::size_t i = 0; i < moments.size(); ++i)
      if (live[i]) layer_.backward.at(moments[i]).push_back(ops()[i]);
  }

 private:
  const Ops& ops() const { return backward_.ops; }

  /// A flag for each op: whether it leads to one of the values `roots`.
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
      for (const int v : {g.delta, g.operand})
        if (maker_.contains(v)) values.push_back(v);
    for (const auto& g : layer_.vector_gradients)
      if (maker_.contains(g.adjoint)) values.push_back(g.adjoint);
    return values;
  }

  /// The earliest moment at which an op can run. It does not run before its operands, and nothing runs before
  /// the steps unless a product can be taken out of them.
  Moment earliest(const Op& op, const std::vector<Moment>& moments) const {
    if (op.kind == Op::Kind::real_lag_adjoint) return Moment::step;
    const bool recurrent = !layer_.state_arrays.empty();
    Moment w = recurrent && layer_.forward.after.empty() ? Moment::step : Moment::before;
    for_operands(op, [&](int o) {
      if (const auto m = maker_.find(o); m != maker_.end()) w = later(w, moments[m->second]);
      if (static_cast<std::size_t>(o) >= forward_count_ && from_later_steps(o)) w = later(w, Moment::step);
    });
    return w;
  }

  /// Moves ops into the steps if a step reads their results and no product before the steps needs them. The
  /// results are then available at once and need not pass through the memory of a run.
  void stay_in_steps(std::vector<Moment>& moments) const {
    std::vector<bool> for_product(moments.size(), false), for_step(moments.size(), false);
    for (std::size_t i = moments.size(); i-- > 0;) {
      const bool leads_to_product = for_product[i] || ops()[i].kind == Op::Kind::product;
      if (moments[i] == Moment::before && for_step[i] && !leads_to_product) moments[i] = Moment::step;
      for_operands(ops()[i], [&](int o) {
        const auto m = maker_.find(o);
        if (m == maker_.end()) return;
        if (moments[i] == Moment::before && leads_to_product) for_product[m->second] = true;
        if (moments[i] == Moment::step) for_step[m->second] = true;
      });
    }
    for (std::size_t i = 0; i < moments.size(); ++i)
      for_operands(ops()[i], [&](int o) {
        if (const auto m = maker_.find(o); m != maker_.end())
          moments[i] = later(moments[i], moments[m->second]);
      });
  }

  bool from_later_steps(int v) const {
    const Location& p = layer_.values[v].location;
    if (p.kind != Location::Kind::array) return false;
    const Array::Kind kind = layer_.arrays[p.index].kind;
    return kind == Array::Kind::direct || kind == Array::Kind::lag_adjoint;
  }
  /// An op that writes what the previous step reads must not run ahead of the steps.
  bool is_step_source(const Op& op) const {
    const Location& p = layer_.values[op.out].location;
    return p.kind == Location::Kind::array && layer_.arrays[p.index].kind == Array::Kind::direct;
  }

  LayerOps& layer_;
  const BackwardOps& backward_;
  std::size_t forward_count_;
  std::map<int, std::size_t> maker_;  // value -> the op that computes it
};

}  // namespace

void assign_moments(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count) {
  MomentAssigner(layer, backward, forward_count).run();
}

}  // namespace lagtape::recurrence
