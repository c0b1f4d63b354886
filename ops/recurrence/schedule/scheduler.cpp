#include "lagtape/ops/recurrence/schedule/scheduler.h"

#include <algorithm>
#include <array>
#include <set>

#include "lagtape/ops/recurrence/derive/adjoint.h"
#include "lagtape/ops/recurrence/derive/forward_ops.h"
#include "lagtape/ops/recurrence/schedule/array_lifetimes.h"
#include "lagtape/ops/recurrence/schedule/fusion.h"
#include "lagtape/ops/recurrence/schedule/prefetches.h"
#include "lagtape/ops/recurrence/schedule/stage_writer.h"
#include "lagtape/ops/recurrence/schedule/weight_gradients.h"

namespace lagtape::recurrence {
namespace {

class Scheduler {
 public:
  Scheduler(LayerOps ops, std::int64_t lane, std::size_t weights)
      : ops_(std::move(ops)), operands_(ops_, lane), columns_(weights) {
    const auto lists = all_lists<Ops>(ops_);
    for (const auto& phase : lists) {
      stages_.push_back(fuse(ops_, operands_, *phase.list, phase.by_step));
      move_to_readers(ops_, stages_.back());
    }
    find_uses();
    ArrayLifetimes lifetimes(ops_, timed_ops(lists));
    for (std::size_t p = 0; p < lists.size(); ++p)
      place_values(static_cast<int>(p), lists[p].by_step, lifetimes);
    const auto phases = all_lists<Phase>(schedule_);
    for (std::size_t p = 0; p < phases.size(); ++p)
      for (const auto& stage : stages_[p])
        phases[p].list->push_back(is_product(stage) ? Stage(product_stage(stage.ops))
                                                    : Stage(element_stage(stage.ops)));
    finish();
    plan_prefetches(schedule_);
  }
  LayerSchedule take() { return std::move(schedule_); }

 private:
  // ---- where values live ----

  struct Uses {
    int phase = -1, stage = -1;  // where it is computed
    bool product = false;        // it is computed by a product
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

  std::vector<TimedOp> timed_ops(const std::array<PassList<Ops>, 16>& lists) const {
    std::vector<TimedOp> all;
    for (std::size_t p = 0; p < lists.size(); ++p)
      for (const StageOps& stage : stages_[p])
        for (const Op& op : stage.ops) all.push_back({&op, lists[p].pass});
    return all;
  }

  void place_values(int phase, bool by_step, ArrayLifetimes& lifetimes) {
    for (const auto& stage : stages_[phase])
      for (const Op& op : stage.ops) {
        Location& location = ops_.values[op.out].location;
        const Uses& u = uses_[op.out];
        if (location.kind != Location::Kind::none || u.phase != phase) continue;
        if (!u.product && !u.far && !u.across) {
          location.kind = Location::Kind::tile;
          continue;
        }
        const bool one_step = by_step && !u.across;
        const bool rounded = op.kind == Op::Kind::save;
        int array = one_step ? -1 : lifetimes.claim(op.out, rounded);
        if (array < 0) {
          const auto kind = one_step ? Array::Kind::step : Array::Kind::run;
          array = add_array(ops_, kind, 0, ops_.values[op.out].shape.width());
          ops_.arrays[static_cast<std::size_t>(array)].rounded = rounded;
          if (!one_step) lifetimes.add(array, op.out);
        }
        location = in_array(array);
      }
  }

  // ---- stages in execution order ----

  ProductStage product_stage(const Ops& ops) {
    ProductStage stage;
    WeightStack stack;
    stack.transposed = ops.front().transposed;
    for (const Op& op : ops) {
      const RowShape& shape = ops_.values[op.out].shape;
      stage.outputs.push_back(operands_.of(op.out));
      stage.output_widths.push_back(shape.size);
      stack.columns += operands_.padded_width(RowShape::vector(shape.size));
      for (const auto& term : op.terms) stack.weights.push_back(term.weight);
    }
    for (const auto& term : ops.front().terms) {
      const RowShape& shape = ops_.values[term.operand].shape;
      stage.operands.push_back(operands_.of(term.operand));
      stage.operand_widths.push_back(shape.size);
      stage.groups = shape.groups;
      stack.k += shape.size;
    }
    if (stage.groups > 1) schedule_.group_columns = std::max(schedule_.group_columns, stack.columns);
    const auto known = std::find(schedule_.stacks.begin(), schedule_.stacks.end(), stack);
    stage.stack = static_cast<int>(known - schedule_.stacks.begin());
    if (known == schedule_.stacks.end()) schedule_.stacks.push_back(stack);
    return stage;
  }

  ElementStage element_stage(const Ops& ops) {
    ElementStage stage = StageWriter(operands_, columns_).write(ops);
    schedule_.largest_tile =
        std::max(schedule_.largest_tile, stage.registers * stage.tile_rows * stage.register_width);
    schedule_.largest_stage = std::max(schedule_.largest_stage, stage.operands.size());
    return stage;
  }

  void finish() {
    list_gradient_sums(ops_, operands_, schedule_);
    schedule_.columns = columns_.take();
    schedule_.output = operands_.of(ops_.output);
    schedule_.block = ops_.block;
    schedule_.lagged = ops_.lagged;
    const std::set<int> read_for_a_run = arrays_read_for_a_run();
    for (auto& l : schedule_.lagged) {
      if (l.tau >= 0) l.tau = ops_.values[l.tau].location.index;
      l.by_step = !read_for_a_run.contains(l.adjoint_array);
    }
    schedule_.state_arrays = ops_.state_arrays;
    schedule_.grid_arrays = ops_.grid_arrays;
    schedule_.direct = ops_.direct;
    schedule_.input_array = ops_.input_array;
    schedule_.output_adjoint_array = ops_.output_adjoint_array;
    schedule_.input_adjoint_array = ops_.input_adjoint_array;
    schedule_.arrays = ops_.arrays;
  }

  /// The arrays from which work for many steps at once reads a later step, such as adjoints.
  std::set<int> arrays_read_for_a_run() const {
    std::set<int> arrays;
    const auto note = [&](const Operand& operand) {
      if (operand.kind == Operand::Kind::array && operand.step > 0) arrays.insert(operand.index);
    };
    for (const Phase* phase : {&schedule_.backward.block, &schedule_.backward.after})
      for (const Stage& stage : *phase) {
        const auto* elements = std::get_if<ElementStage>(&stage);
        std::ranges::for_each(
            elements != nullptr ? elements->operands : std::get<ProductStage>(stage).operands, note);
      }
    for (const auto& gradient : schedule_.narrow_gradients) {
      note(gradient.rows);
      note(gradient.factor);
    }
    for (const auto& gradient : schedule_.matrix_gradients) note(gradient.delta);
    return arrays;
  }

  LayerOps ops_;
  ValueOperands operands_;
  WeightColumns columns_;
  LayerSchedule schedule_;
  std::vector<std::vector<StageOps>> stages_;  // by phase
  std::vector<Uses> uses_;
};

}  // namespace

LayerSchedule schedule_layer(const StepProgram& program, bool input_gradient, std::int64_t lane,
                             ProductFormat saved) {
  return Scheduler(derive_ops(program, input_gradient, saved), lane, program.weights.size()).take();
}

}  // namespace lagtape::recurrence
