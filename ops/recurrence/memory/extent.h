#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/ops/recurrence/schedule/layer_schedule.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::recurrence {

/// Steps of a run. Runs begin at multiples of 16 steps of the sequence, for any chunks, so weight gradients are always
/// summed over the same steps.
inline constexpr std::int64_t kRun = 16;
/// The default number of steps of a chunk.
inline constexpr std::int64_t kDefaultChunk = 4 * kRun;

/// The steps that the arrays of a slice hold, and their purpose.
struct Extent {
  std::int64_t first = 0, last = 0;      ///< absolute steps of the sequence, last excluded
  std::int64_t run = 1;                  ///< steps of a run
  std::int64_t chunk = 1;                ///< steps of a chunk
  std::int64_t checkpoint_interval = 0;  ///< steps between checkpoints, whole chunks; 0: no checkpoints
  std::int64_t slots = 0;                ///< checkpoints that are kept at a time
  bool keep_states = false;  ///< states of the whole sequence (or checkpoint interval), not of a chunk
  bool keep_saved = false;   ///< saved values as well
  bool undo = false;         ///< states are computed from those after them instead
  bool backward = false;     ///< arrays of the backward pass are needed
};

/// Steps of an array that a layer needs; 0 when the pass does not need it.
std::int64_t steps_held(const Array& array, const StepProgram& program, const LayerSchedule& schedule,
                        const Extent& extent);

/// Whether the adjoints of a lagged read are in the array of its state. When all states are kept, these adjoints
/// overwrite states that the backward pass no longer needs: the adjoint of step n is in the place of the state of step
/// n + 1 + adjoints_after_states. Of the reads of one state, only the one that looks back furthest can do so.
bool lies_on_states(const LayerOps::LaggedRead& read, const LayerSchedule& schedule, const Extent& extent);

/// Steps that such adjoints need beyond the last state.
inline std::int64_t adjoints_after_states(const Extent& extent) {
  return std::min(extent.run, extent.last - extent.first);
}

}  // namespace lagtape::recurrence
