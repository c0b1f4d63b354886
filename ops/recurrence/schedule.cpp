#include "lagtape/ops/recurrence/schedule.h"

#include <algorithm>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/array_lifetimes.h"
#include "lagtape/ops/recurrence/fetches.h"
#include "lagtape/ops/recurrence/forward_ops.h"

namespace lagtape::recurrence {
namespace {

/// The ops of one stage, in order: products of one stack, or element-wise work.
struct StageOps {
  bool product = false;
  Ops ops;
};

class Scheduler {
 public:
  Scheduler(LayerOps ops, std::int64_t lane, std::size_t weights)
      : ops_(std::move(ops)), lane_(lane), weight_count_(static_cast<int>(weights)) {
    const auto lists = phase_lists();
    for (const PhaseList& p : lists) stages_.push_back(form_stages(*p.list));
    find_uses();
    ArrayLifetimes lifetimes(ops_, timed_ops(lists));
    for (std::size_t p = 0; p < lists.size(); ++p)
      place_values(static_cast<int>(p), lists[p].by_step, lifetimes);
    for (std::size_t p = 0; p < lists.size(); ++p)
      for (const auto& stage : stages_[p])
        lists[p].phase->push_back(stage.product ? Stage(product_stage(stage.ops))
                                                : Stage(tile_stage(stage.ops)));
    finish();
    plan_fetches(code_);
  }
  LayerCode take() { return std::move(code_); }

 private:
  struct PhaseList {
    Ops* list;
    Phase* phase;
    RunPass pass;
    bool by_step;
  };
  std::vector<PhaseList> phase_lists() {
    return {{&ops_.pre, &code_.pre, RunPass::forward, false},
            {&ops_.delay, &code_.delay, RunPass::forward, false},
            {&ops_.loop, &code_.loop, RunPass::forward, true},
            {&ops_.post, &code_.post, RunPass::forward, false},
            {&ops_.replay, &code_.replay, RunPass::replay, false},
            {&ops_.undo_pre, &code_.undo_pre, RunPass::undo, false},
            {&ops_.undo_loop, &code_.undo_loop, RunPass::undo, true},
            {&ops_.undo_post, &code_.undo_post, RunPass::undo, false},
            {&ops_.before, &code_.before, RunPass::backward, false},
            {&ops_.backward_loop, &code_.backward_loop, RunPass::backward, true},
            {&ops_.backward_block, &code_.backward_block, RunPass::backward, false},
            {&ops_.after, &code_.after, RunPass::backward, false}};
  }

  // ---- stages: whatever products are ready, then all element-wise work that is ready, and again ----

  std::vector<StageOps> form_stages(const Ops& list) {
    std::map<int, std::size_t> maker;
    for (std::size_t i = 0; i < list.size(); ++i) maker[list[i].out] = i;
    std::vector<bool> done(list.size(), false);
    std::vector<StageOps> stages;
    const auto ready = [&](std::size_t i) {
      bool yes = true;
      for_operands(list[i], [&](int o) {
        if (const auto m = maker.find(o); m != maker.end() && !done[m->second]) yes = false;
      });
      return yes && !overwrites(list, done, i);
    };
    std::size_t left = list.size();
    while (left > 0) {
      const std::size_t before = left;
      for (auto& stage : product_stages(list, done, ready)) {
        left -= stage.ops.size();
        stages.push_back(std::move(stage));
      }
      StageOps tile;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (done[i] || list[i].kind == Op::Kind::product || !ready(i)) continue;
        done[i] = true;
        tile.ops.push_back(list[i]);
        --left;
      }
      if (!tile.ops.empty()) stages.push_back(std::move(tile));
      if (left == before) throw Error("[schedule] the ops of a phase wait for each other");
    }
    return stages;
  }

  /// Whether op i writes an array of one step that another op has still to read.
  bool overwrites(const Ops& list, const std::vector<bool>& done, std::size_t i) const {
    const Place& target = ops_.values[list[i].out].place;
    if (target.kind != Place::Kind::array || ops_.arrays[target.index].kind != Array::Kind::direct)
      return false;
    for (std::size_t j = 0; j < list.size(); ++j) {
      if (done[j] || j == i) continue;
      bool reads = false;
      for_operands(list[j], [&](int o) {
        const Place& p = ops_.values[o].place;
        if (p.kind == Place::Kind::array && p.index == target.index && o != list[i].out) reads = true;
      });
      if (reads) return true;
    }
    return false;
  }

  template <class Ready>
  std::vector<StageOps> product_stages(const Ops& list, std::vector<bool>& done, Ready ready) {
    std::vector<std::size_t> now;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!done[i] && list[i].kind == Op::Kind::product && ready(i)) now.push_back(i);
    std::vector<StageOps> stages;
    std::map<int, std::size_t> of_operand;
    for (std::size_t i : now) {
      done[i] = true;
      if (!list[i].transposed) {  // products of one operand are stacked
        const auto [at, fresh] = of_operand.try_emplace(list[i].terms.front().operand, stages.size());
        if (fresh) stages.push_back({true, {}});
        stages[at->second].ops.push_back(list[i]);
      } else {
        stages.push_back({true, {list[i]}});
      }
    }
    return stages;
  }

  // ---- where values live ----

  struct Uses {
    int phase = -1, stage = -1;  // where it is computed
    bool product = false;        // by a product
    bool far = false;            // read by another stage, or by a product
    bool across = false;         // read by another phase, or summed over a run
  };

  void find_uses() {
    uses_.resize(ops_.values.size());
    for (int p = 0; p < static_cast<int>(stages_.size()); ++p)
      for (int s = 0; s < static_cast<int>(stages_[p].size()); ++s)
        for (const Op& op : stages_[p][s].ops) {
          Uses& u = uses_[op.out];
          u.phase = p;
          u.stage = s;
          u.product = stages_[p][s].product;
        }
    for (int p = 0; p < static_cast<int>(stages_.size()); ++p)
      for (int s = 0; s < static_cast<int>(stages_[p].size()); ++s)
        for (const Op& op : stages_[p][s].ops)
          for_operands(op, [&](int o) {
            Uses& u = uses_[o];
            u.far = u.far || stages_[p][s].product || u.phase != p || u.stage != s;
            u.across = u.across || (u.phase >= 0 && u.phase != p);
          });
    for (const auto& g : ops_.matrix_gradients) uses_[g.delta].across = uses_[g.operand].across = true;
    for (const auto& g : ops_.vector_gradients) uses_[g.adjoint].across = true;
  }

  std::vector<TimedOp> timed_ops(const std::vector<PhaseList>& lists) const {
    std::vector<TimedOp> all;
    for (std::size_t p = 0; p < lists.size(); ++p)
      for (const StageOps& stage : stages_[p])
        for (const Op& op : stage.ops) all.push_back({&op, lists[p].pass});
    return all;
  }

  void place_values(int phase, bool by_step, ArrayLifetimes& lifetimes) {
    for (const auto& stage : stages_[phase])
      for (const Op& op : stage.ops) {
        Place& place = ops_.values[op.out].place;
        const Uses& u = uses_[op.out];
        if (place.kind != Place::Kind::none || u.phase != phase) continue;
        if (!u.product && !u.far && !u.across) {
          place.kind = Place::Kind::tile;
          continue;
        }
        const bool one_step = by_step && !u.across;
        int array = one_step ? -1 : lifetimes.claim(op.out);
        if (array < 0) {
          const auto kind = one_step ? Array::Kind::step : Array::Kind::run;
          array = add_array(ops_, kind, 0, ops_.values[op.out].shape.width());
          if (!one_step) lifetimes.add(array, op.out);
        }
        place = in_array(array);
      }
  }

  std::int64_t padded_width(const RowShape& shape) const {
    return (shape.width() + lane_ - 1) / lane_ * lane_;
  }

  Slot slot_of(int v) const {
    const Value& value = ops_.values[v];
    const Place& p = value.place;
    switch (p.kind) {
      case Place::Kind::array: return {Slot::Kind::array, p.index, p.step, padded_width(value.shape)};
      case Place::Kind::weight: return {Slot::Kind::weight, p.index, 0, padded_width(value.shape)};
      default: throw Error("[schedule] a value has no place");
    }
  }

  // ---- stages as the machine reads them ----

  ProductStage product_stage(const Ops& ops) {
    ProductStage stage;
    WeightStack stack;
    stack.transposed = ops.front().transposed;
    for (const Op& op : ops) {
      const RowShape& shape = ops_.values[op.out].shape;
      stage.outputs.push_back(slot_of(op.out));
      stage.output_widths.push_back(shape.size);
      stack.columns += padded_width(RowShape::vector(shape.size));
      for (const auto& term : op.terms) stack.weights.push_back(term.weight);
    }
    for (const auto& term : ops.front().terms) {
      const RowShape& shape = ops_.values[term.operand].shape;
      stage.operands.push_back(slot_of(term.operand));
      stage.operand_widths.push_back(shape.size);
      stage.groups = shape.groups;
      stack.k += shape.size;
    }
    if (stage.groups > 1) code_.group_columns = std::max(code_.group_columns, stack.columns);
    const auto known = std::find(code_.stacks.begin(), code_.stacks.end(), stack);
    stage.stack = static_cast<int>(known - code_.stacks.begin());
    if (known == code_.stacks.end()) code_.stacks.push_back(stack);
    return stage;
  }

  /// The vector of weights that a column of a thin matrix is.
  int column_number(int weight, std::int64_t column) {
    const LayerCode::WeightColumn wanted{weight, column};
    auto known = std::ranges::find(code_.columns, wanted);
    if (known == code_.columns.end()) known = code_.columns.insert(known, wanted);
    return weight_count_ + static_cast<int>(known - code_.columns.begin());
  }

  TileStage tile_stage(const Ops& ops) {
    TileStage stage;
    std::map<int, std::size_t> last_use;
    for (std::size_t i = 0; i < ops.size(); ++i) for_operands(ops[i], [&](int o) { last_use[o] = i; });
    std::map<int, int> register_of;
    std::vector<bool> busy;
    const auto claim = [&] {
      std::size_t r = std::find(busy.begin(), busy.end(), false) - busy.begin();
      if (r == busy.size()) busy.push_back(true);
      busy[r] = true;
      return static_cast<int>(r);
    };
    const auto slot = [&](Slot s) {
      const auto known = std::find(stage.slots.begin(), stage.slots.end(), s);
      if (known != stage.slots.end()) return static_cast<int>(known - stage.slots.begin());
      stage.slots.push_back(s);
      return static_cast<int>(stage.slots.size()) - 1;
    };
    const auto tile = [&](int r) { return slot({Slot::Kind::tile, r, 0, 0}); };

    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      const RowShape& shape = ops_.values[op.out].shape;
      TileInstruction t{op.kind, op.element,          -1,    -1,       -1,    -1,
                        op.k,    padded_width(shape), shape, op.index, op.lag};
      std::vector<int> fills;
      const auto operand = [&](int v) {
        if (v < 0) return -1;
        const Place& p = ops_.values[v].place;
        if (p.kind == Place::Kind::tile) return tile(register_of.at(v));
        if (p.kind != Place::Kind::constant) return slot(slot_of(v));
        fills.push_back(claim());
        TileInstruction fill{Op::Kind::element,
                             ElementOp::fill,
                             tile(fills.back()),
                             -1,
                             -1,
                             -1,
                             p.number,
                             t.width,
                             shape,
                             -1,
                             0};
        stage.code.push_back(fill);
        return fill.out;
      };
      t.a = operand(op.a);
      t.b = operand(op.b);
      t.c = operand(op.c);
      t.per_unit = op.a >= 0 && ops_.values[op.a].shape.rank > 0;
      if (op.kind == Op::Kind::grid_update || op.kind == Op::Kind::grid_undo) {
        const std::int64_t from = op.kind == Op::Kind::grid_update ? 0 : 1;
        t.b = slot({Slot::Kind::grid, op.index, from, t.width});
        t.c = slot({Slot::Kind::grid, op.index, 1 - from, t.width});
        if (op.kind == Op::Kind::grid_undo) t.k = -op.k;
      }
      if (op.kind == Op::Kind::thin_product) {
        t.a = slot(slot_of(op.terms.front().operand));
        t.shape = ops_.values[op.terms.front().operand].shape;
      }
      if (op.kind == Op::Kind::sum || op.kind == Op::Kind::slice) t.shape = ops_.values[op.a].shape;
      if (op.kind == Op::Kind::slice) t.part = shape.width();
      if (op.kind == Op::Kind::pad || op.kind == Op::Kind::concatenate)
        t.part = ops_.values[op.a].shape.width();
      if (op.kind == Op::Kind::broadcast && ops_.values[op.a].place.kind == Place::Kind::constant) {
        t.kind = Op::Kind::element;  // the fill is as wide as the result
      }
      for (int r : fills) busy[r] = false;
      // A result may take an operand's register: kernels allow it. Sums and broadcasts change widths and do
      // not.
      const bool in_place = op.kind == Op::Kind::element;
      const auto release = [&] {
        for_operands(op, [&](int o) {
          if (const auto r = register_of.find(o); r != register_of.end() && last_use[o] == i)
            busy[r->second] = false;
        });
      };
      if (in_place) release();
      if (ops_.values[op.out].place.kind == Place::Kind::tile) {
        register_of[op.out] = claim();
        t.out = tile(register_of[op.out]);
        if (!last_use.count(op.out)) busy[register_of[op.out]] = false;
      } else {
        t.out = slot(slot_of(op.out));
      }
      if (!in_place) release();
      stage.register_width = std::max({stage.register_width, t.width, padded_width(t.shape)});
      if (op.kind == Op::Kind::thin_product) {
        for (std::int64_t j = 0; j < t.shape.size; ++j) {
          t.index = static_cast<int>(j);
          t.b = slot({Slot::Kind::weight, column_number(op.terms.front().weight, j), 0, t.width});
          t.c = j == 0 ? -1 : t.out;
          stage.code.push_back(t);
        }
        continue;
      }
      stage.code.push_back(t);
    }
    for (const Slot& s : stage.slots) stage.register_width = std::max(stage.register_width, s.width);
    stage.tile_rows = std::max<std::int64_t>(1, kTileElements / stage.register_width);
    stage.registers = static_cast<int>(busy.size());
    code_.largest_tile =
        std::max(code_.largest_tile, stage.registers * stage.tile_rows * stage.register_width);
    code_.largest_stage = std::max(code_.largest_stage, stage.slots.size());
    return stage;
  }

  void finish() {
    list_gradients();
    code_.output = slot_of(ops_.output);
    code_.block = ops_.block;
    code_.lagged = ops_.lagged;
    for (auto& l : code_.lagged) {
      if (l.tau >= 0) l.tau = ops_.values[l.tau].place.index;
      l.by_step = !is_read_for_a_run(l.adjoint_array);
    }
    code_.state_arrays = ops_.state_arrays;
    code_.grid_arrays = ops_.grid_arrays;
    code_.direct = ops_.direct;
    code_.input_array = ops_.input_array;
    code_.output_adjoint_array = ops_.output_adjoint_array;
    code_.input_adjoint_array = ops_.input_adjoint_array;
    code_.arrays = ops_.arrays;
  }

  /// Whether adjoints of later steps are read for many steps at a time.
  bool is_read_for_a_run(int adjoint_array) const {
    const auto is_one = [&](const Slot& slot) {
      return slot.kind == Slot::Kind::array && slot.index == adjoint_array && slot.step > 0;
    };
    for (const Phase* phase : {&code_.backward_block, &code_.after})
      for (const Stage& stage : *phase) {
        const auto* tiles = std::get_if<TileStage>(&stage);
        if (std::ranges::any_of(tiles != nullptr ? tiles->slots : std::get<ProductStage>(stage).operands,
                                is_one))
          return true;
      }
    return std::ranges::any_of(code_.thin_gradients,
                               [&](const auto& g) { return is_one(g.rows) || is_one(g.factor); }) ||
           std::ranges::any_of(code_.matrix_gradients, [&](const auto& g) { return is_one(g.delta); });
  }

  void list_gradients() {
    auto& thin = code_.thin_gradients;
    for (const auto& g : ops_.matrix_gradients) {
      const RowShape &delta = ops_.values[g.delta].shape, &operand = ops_.values[g.operand].shape;
      const Slot d = slot_of(g.delta), x = slot_of(g.operand);
      const bool once =
          std::ranges::count(ops_.matrix_gradients, g.weight,
                             &LayerOps::MatrixGradient::weight) == 1;  // sums have places of their own
      if (once && operand.groups == 1 && operand.size <= kThin) {
        for (std::int64_t j = 0; j < operand.size; ++j)
          thin.push_back({{g.weight}, j, operand.size, delta.size, d, x, j});
      } else if (once && operand.groups == 1 && delta.size <= kThin) {
        for (std::int64_t i = 0; i < delta.size; ++i)
          thin.push_back({{g.weight}, i * operand.size, 1, operand.size, x, d, i});
      } else {
        code_.matrix_gradients.push_back({g.weight, d, x, operand.groups});
      }
    }
    for (const auto& g : ops_.vector_gradients) {
      const Slot adjoint = slot_of(g.adjoint);
      const auto same = std::find_if(thin.begin(), thin.end(),
                                     [&](const auto& t) { return t.place < 0 && t.rows == adjoint; });
      if (same != thin.end()) {
        same->weights.push_back(g.weight);
      } else {
        thin.push_back({{g.weight}, 0, 1, ops_.values[g.adjoint].shape.width(), adjoint, {}});
      }
    }
    // Those that read the same rows one after another.
    std::stable_sort(thin.begin(), thin.end(), [](const auto& a, const auto& b) {
      return std::pair(a.rows.index, a.rows.step) < std::pair(b.rows.index, b.rows.step);
    });
  }

  LayerOps ops_;
  std::int64_t lane_;
  int weight_count_;
  LayerCode code_;
  std::vector<std::vector<StageOps>> stages_;  // by phase
  std::vector<Uses> uses_;
};

}  // namespace

std::vector<Phase*> LayerCode::phases() {
  return {&pre,       &delay,     &loop,   &post,          &replay,         &undo_pre,
          &undo_loop, &undo_post, &before, &backward_loop, &backward_block, &after};
}

std::vector<const Phase*> LayerCode::phases() const {
  const auto mine = const_cast<LayerCode*>(this)->phases();
  return {mine.begin(), mine.end()};
}

bool is_kept(const Slot& slot, const std::vector<Array>& arrays) {
  if (slot.kind != Slot::Kind::array) return false;
  const Array::Kind kind = arrays[static_cast<std::size_t>(slot.index)].kind;
  return kind == Array::Kind::saved || kind == Array::Kind::state;
}

LayerCode schedule(const StepProgram& program, bool input_gradient, std::int64_t lane) {
  return Scheduler(derive_ops(program, input_gradient), lane, program.weights.size()).take();
}

}  // namespace lagtape::recurrence
