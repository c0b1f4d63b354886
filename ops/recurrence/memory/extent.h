#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/ops/recurrence/schedule/layer_schedule.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::recurrence {

/// Steps per run. Runs start at multiples of 16 steps of the sequence, whatever the chunks, so weight gradients
/// are always summed over the same steps.
inline constexpr std::int64_t kRun = 16;
/// The default number of steps per chunk.
inline constexpr std::int64_t kDefaultChunk = 4 * kRun;

/// The steps that a slice's arrays hold, and what they are for.
struct Extent {
  std::int64_t first = 0, last = 0;      ///< absolute steps of the sequence, end excluded
  std::int64_t run = 1;                  ///< steps per run
  std::int64_t chunk = 1;                ///< steps per chunk
  std::int64_t checkpoint_interval = 0;  ///< steps between checkpoints, in whole chunks; 0: no checkpoints
  std::int64_t slots = 0;                ///< checkpoints kept at a time
  bool keep_states = false;  ///< states of the whole sequence (or checkpoint interval), not of a chunk
  bool keep_saved = false;   ///< saved values too
  bool undo = false;         ///< earlier states are recomputed from later ones
  bool backward = false;     ///< the arrays of the backward pass are needed
};

/// The number of steps that a layer needs of an array; 0 if the pass does not need it.
std::int64_t steps_held(const Array& array, const StepProgram& program, const LayerSchedule& schedule,
                        const Extent& extent);

/// Whether the adjoints of a lagged read are in its state's array. When all states are kept, these adjoints
/// overwrite states that the backward pass no longer needs: the adjoint of step n takes the place of the state
/// of step n + 1 + adjoints_after_states. For each state, only the read that looks back furthest can do so.
bool lies_on_states(const LayerOps::LaggedRead& read, const LayerSchedule& schedule, const Extent& extent);

/// Steps that such adjoints need beyond the last state.
inline std::int64_t adjoints_after_states(const Extent& extent) {
  return std::min(extent.run, extent.last - extent.first);
}

}  // namespace lagtape::recurrence
