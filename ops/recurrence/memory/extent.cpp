#include "lagtape/ops/recurrence/memory/extent.h"

namespace lagtape::recurrence {

bool lies_on_states(const LayerOps::LaggedRead& read, const LayerSchedule& schedule, const Extent& extent) {
  if (!extent.backward || !extent.keep_states || extent.checkpoint_interval > 0 || !read.by_step)
    return false;
  const auto first = std::ranges::find(schedule.lagged, read.state, &LayerOps::LaggedRead::state);
  return first->adjoint_array == read.adjoint_array;
}

namespace {

std::int64_t states_held(const Array& array, const StepProgram& program, const LayerSchedule& schedule,
                         const Extent& extent, std::int64_t chunk, std::int64_t kept) {
  const std::int64_t window = program.history(array.index) + 1;
  // Room for a second window, so sliding costs at most one copy per step.
  if (!extent.keep_states) return chunk + 2 * window;
  const bool adjoints_follow = std::ranges::any_of(schedule.lagged, [&](const LayerOps::LaggedRead& read) {
    return read.state == array.index && lies_on_states(read, schedule, extent);
  });
  return kept + window + (adjoints_follow ? adjoints_after_states(extent) : 0);
}

}  // namespace

std::int64_t steps_held(const Array& array, const StepProgram& program, const LayerSchedule& schedule,
                        const Extent& extent) {
  const std::int64_t all = extent.last - extent.first;
  const std::int64_t chunk = std::min(extent.chunk, all);
  const std::int64_t kept = extent.checkpoint_interval > 0 ? std::min(extent.checkpoint_interval, all) : all;
  switch (array.kind) {
    case Array::Kind::input: return chunk;
    case Array::Kind::state: return states_held(array, program, schedule, extent, chunk, kept);
    case Array::Kind::grid: return 2;
    case Array::Kind::saved: return extent.keep_saved ? kept : chunk;
    case Array::Kind::run: return std::min(extent.run, all);
    case Array::Kind::step: return 1;
    case Array::Kind::output_adjoint:
    case Array::Kind::input_adjoint: return extent.backward ? chunk : 0;
    case Array::Kind::lag_adjoint: {
      if (!extent.backward) return 0;
      const LayerOps::LaggedRead& read = schedule.lagged[array.index];
      return lies_on_states(read, schedule, extent) ? 1 : chunk + 2 * (read.lag + 2);  // 1: zeros
    }
    case Array::Kind::direct: return extent.backward ? 1 : 0;
  }
  return 0;
}

}  // namespace lagtape::recurrence
