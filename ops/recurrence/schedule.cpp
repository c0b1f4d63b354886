#include "lagtape/ops/recurrence/schedule.h"

#include <algorithm>

#include "lagtape/ops/recurrence/array_lifetimes.h"
#include "lagtape/ops/recurrence/fetches.h"
#include "lagtape/ops/recurrence/forward_ops.h"
#include "lagtape/ops/recurrence/gradient_sums.h"
#include "lagtape/ops/recurrence/stages.h"
#include "lagtape/ops/recurrence/tile_writer.h"

namespace lagtape::recurrence {
namespace {

class Scheduler {
 public:
  Scheduler(LayerOps ops, std::int64_t lane, std::size_t weights)
      : ops_(std::move(ops)), slots_(ops_, lane), columns_(weights) {
    const auto lists = phase_lists();
    for (const PhaseList& p : lists) {
      stages_.push_back(form_stages(ops_, slots_, *p.list, p.by_step));
      move_to_readers(ops_, stages_.back());
    }
    find_uses();
    ArrayLifetimes lifetimes(ops_, timed_ops(lists));
    for (std::size_t p = 0; p < lists.size(); ++p)
      place_values(static_cast<int>(p), lists[p].by_step, lifetimes);
    for (std::size_t p = 0; p < lists.size(); ++p)
      for (const auto& stage : stages_[p])
        lists[p].phase->push_back(is_product(stage) ? Stage(product_stage(stage.ops))
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

  // ---- where values live ----

  struct Uses {
    int phase = -1, stage = -1;  // where it is computed
    bool product = false;        // by a product
    bool far = false;            // read by another stage, or by a product
    bool across = false;         // read by another phase, or summed over a run
  };

  static bool is_product(const StageOps& stage) { return stage.kind == StageOps::Kind::products; }

  void find_uses() {
    uses_.resize(ops_.values.size());
    for (int p = 0; p < static_cast<int>(stages_.size()); ++p)
      for (int s = 0; s < static_cast<int>(stages_[p].size()); ++s)
        for (const Op& op : stages_[p][s].ops) {
          Uses& u = uses_[op.out];
          u.phase = p;
          u.stage = s;
          u.product = is_product(stages_[p][s]);
        }
    for (int p = 0; p < static_cast<int>(stages_.size()); ++p)
      for (int s = 0; s < static_cast<int>(stages_[p].size()); ++s)
        for (const Op& op : stages_[p][s].ops)
          for_operands(op, [&](int o) {
            Uses& u = uses_[o];
            u.far = u.far || is_product(stages_[p][s]) || u.phase != p || u.stage != s;
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

  // ---- stages as the machine reads them ----

  ProductStage product_stage(const Ops& ops) {
    ProductStage stage;
    WeightStack stack;
    stack.transposed = ops.front().transposed;
    for (const Op& op : ops) {
      const RowShape& shape = ops_.values[op.out].shape;
      stage.outputs.push_back(slots_.of(op.out));
      stage.output_widths.push_back(shape.size);
      stack.columns += slots_.padded_width(RowShape::vector(shape.size));
      for (const auto& term : op.terms) stack.weights.push_back(term.weight);
    }
    for (const auto& term : ops.front().terms) {
      const RowShape& shape = ops_.values[term.operand].shape;
      stage.operands.push_back(slots_.of(term.operand));
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

  TileStage tile_stage(const Ops& ops) {
    TileStage stage = TileWriter(slots_, columns_).write(ops);
    code_.largest_tile =
        std::max(code_.largest_tile, stage.registers * stage.tile_rows * stage.register_width);
    code_.largest_stage = std::max(code_.largest_stage, stage.slots.size());
    return stage;
  }

  void finish() {
    list_gradient_sums(ops_, slots_, code_);
    code_.columns = columns_.take();
    code_.output = slots_.of(ops_.output);
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

  LayerOps ops_;
  ValueSlots slots_;
  WeightColumns columns_;
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
