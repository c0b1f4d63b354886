#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lagtape::recurrence {

/// A layer's passes over a run of steps: forward; replay, which recomputes saved values from the states; undo,
/// which goes from the states after the steps back to those before; backward.
enum class PassKind : std::uint8_t { forward, replay, undo, backward };

/// The moments of a pass over a run of steps. Ops before or after the steps run once for all steps of the run.
/// Ops of a block run once for all steps of that block: before its steps in the forward pass and after them in
/// the backward pass.
enum class Moment : std::uint8_t { before, block, step, after };

/// A list for each moment of a pass.
template <class List>
struct Timed {
  List before, block, step, after;

  List& at(Moment moment) {
    switch (moment) {
      case Moment::before: return before;
      case Moment::block: return block;
      case Moment::step: return step;
      default: return after;
    }
  }
};

/// The lists of a pass in execution order: for the forward pass, and for the passes that go back in time.
template <class AnyTimed>
auto in_forward_order(AnyTimed& timed) {
  return std::array{&timed.before, &timed.block, &timed.step, &timed.after};
}
template <class AnyTimed>
auto in_backward_order(AnyTimed& timed) {
  return std::array{&timed.before, &timed.step, &timed.block, &timed.after};
}

/// A list for each moment of each pass. Replay has only the moment `before`, and undo has no blocks.
template <class List>
struct Passes {
  Timed<List> forward, replay, undo, backward;
};

/// One list of Passes, and when it runs.
template <class List>
struct PassList {
  PassKind pass;
  bool by_step;  ///< one step at a time
  List* list;
};

/// All lists of all passes, each pass in execution order. List is const if the passes are const.
template <class List, class AnyPasses>
std::array<PassList<List>, 16> all_lists(AnyPasses& passes) {
  std::array<PassList<List>, 16> all;
  std::size_t next = 0;
  const auto add = [&](PassKind kind, auto& timed, const auto& lists) {
    for (List* list : lists) all[next++] = {kind, list == &timed.step, list};
  };
  add(PassKind::forward, passes.forward, in_forward_order(passes.forward));
  add(PassKind::replay, passes.replay, in_forward_order(passes.replay));
  add(PassKind::undo, passes.undo, in_backward_order(passes.undo));
  add(PassKind::backward, passes.backward, in_backward_order(passes.backward));
  return all;
}

}  // namespace lagtape::recurrence
