#include "lagtape/ops/recurrence/vector_program.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lagtape/ops/kernels/element.inc.h"
#include "lagtape/ops/recurrence/recorded_vector.h"

namespace lagtape::recurrence {
namespace {

// ---- the kernels' formulas, by operation ----

template <class T>
using Formula = RecordedVector<T> (*)(RecordedVector<T> a, RecordedVector<T> b, RecordedVector<T> c,
                                      RecordedVector<T> k);

/// Large elements of a sine are left to the C library.
constexpr bool has_formula(ElementOp op) { return op != ElementOp::sin && op != ElementOp::cos; }

template <class T, int op = 0>
constexpr void fill_formulas(std::array<Formula<T>, static_cast<std::size_t>(ElementOp::count)>& formulas) {
  if constexpr (op < static_cast<int>(ElementOp::count)) {
    constexpr auto element = static_cast<ElementOp>(op);
    if constexpr (has_formula(element)) formulas[op] = &evaluate<RecordingSimd<T>, element>;
    fill_formulas<T, op + 1>(formulas);
  }
}

template <class T>
constexpr auto all_formulas() {
  std::array<Formula<T>, static_cast<std::size_t>(ElementOp::count)> formulas{};
  fill_formulas<T>(formulas);
  return formulas;
}

template <class T>
constexpr auto kFormulas = all_formulas<T>();

/// As the machine makes it of an instruction's constant, in a worker: subnormal results are flushed.
template <class T>
T constant_of(double k) {
  const auto narrow = static_cast<T>(k);
  if (std::is_same_v<T, float> && std::fpclassify(narrow) == FP_SUBNORMAL) return std::copysign(T(0), narrow);
  return narrow;
}

// ---- stages ----

bool holds_one_step(const Array& array) {
  return array.kind == Array::Kind::step || array.kind == Array::Kind::direct;
}

bool is_grid(const TileInstruction& t) {
  return t.kind == Op::Kind::grid_update || t.kind == Op::Kind::grid_undo;
}

bool is_thin_product(const TileInstruction& t) { return t.kind == Op::Kind::thin_product; }

/// Whether the program knows all that the stage does. Single numbers come from rows of one width.
bool is_plain(const TileStage& stage, std::int64_t number_width) {
  const std::int64_t width = stage.register_width;
  const auto has_width = [&](int slot) {
    if (slot < 0) return true;
    const Slot& s = stage.slots[static_cast<std::size_t>(slot)];
    return s.kind == Slot::Kind::tile || s.width == width;
  };
  for (const TileInstruction& t : stage.code) {
    if (t.width != width || !has_width(t.out) || !has_width(t.b) || !has_width(t.c)) return false;
    if (is_thin_product(t)) {
      if (stage.slots[static_cast<std::size_t>(t.a)].width != number_width) return false;
    } else if (!has_width(t.a) || !(is_grid(t) || (t.kind == Op::Kind::element && has_formula(t.element)))) {
      return false;
    }
  }
  return true;
}

std::int64_t number_width_of(const TileStage& stage) {
  const auto thin = std::ranges::find_if(stage.code, is_thin_product);
  return thin == stage.code.end() ? 0 : stage.slots[static_cast<std::size_t>(thin->a)].width;
}

/// Slots of one place: the same slot, but for arrays of one step, which all steps share.
std::vector<int> places_of(const TileStage& stage, const std::vector<Array>& arrays) {
  std::vector<int> places;
  for (std::size_t i = 0; i < stage.slots.size(); ++i) {
    Slot slot = stage.slots[i];
    std::size_t first = 0;
    for (; first < i; ++first) {
      Slot other = stage.slots[first];
      if (slot.kind == Slot::Kind::array && other.kind == slot.kind && other.index == slot.index &&
          holds_one_step(arrays[static_cast<std::size_t>(slot.index)]))
        other.step = slot.step;
      if (other == slot) break;
    }
    places.push_back(static_cast<int>(first));
  }
  return places;
}

/// Whether the stage writes an array that it uses at two steps.
bool mixes_steps(const TileStage& stage, const std::vector<int>& places) {
  for (const TileInstruction& t : stage.code) {
    const auto out = static_cast<std::size_t>(t.out);
    if (stage.slots[out].kind != Slot::Kind::array) continue;
    for (std::size_t i = 0; i < stage.slots.size(); ++i)
      if (stage.slots[i].kind == Slot::Kind::array && stage.slots[i].index == stage.slots[out].index &&
          places[i] != places[out])
        return true;
  }
  return false;
}

}  // namespace

template <class T>
std::optional<VectorProgram> record(const TileStage& stage, const std::vector<Array>& arrays) {
  const std::int64_t number_width = number_width_of(stage);
  if (!is_plain(stage, number_width)) return std::nullopt;
  const std::vector<int> places = places_of(stage, arrays);
  VectorProgram program;
  program.width = stage.register_width;
  program.number_width = number_width;
  program.single_step = mixes_steps(stage, places);

  Recorder recorder(program);
  std::vector<int> holds(stage.slots.size(), -1);  // by place: the value that is there now
  const auto operand = [&](int slot) -> RecordedVector<T> {
    if (slot < 0) return T(0);
    const int place = places[static_cast<std::size_t>(slot)];
    int& value = holds[static_cast<std::size_t>(place)];
    if (value < 0) {
      const Slot::Kind kind = stage.slots[static_cast<std::size_t>(place)].kind;
      if (kind == Slot::Kind::tile) throw Error("[record] a register is read before it is written");
      VectorInstruction load{VectorOp::load};
      load.slot = place;
      load.fetches_before =
          stage.fetches_before && is_kept(stage.slots[static_cast<std::size_t>(place)], arrays);
      value = kind == Slot::Kind::weight ? recorder.weight(place) : recorder.compute(load);
    }
    return {recorder, value};
  };
  for (const TileInstruction& t : stage.code) {
    int value = -1;
    if (is_grid(t)) {
      program.single_step = true;
      value = recorder.grid_step(t.b, t.c, operand(t.a).in(recorder), t.k < 0);
    } else if (is_thin_product(t)) {
      VectorInstruction load{VectorOp::load_number};
      load.slot = places[static_cast<std::size_t>(t.a)];
      load.number = t.index;
      const RecordedVector<T> x(recorder, recorder.compute(load)), column = operand(t.b);
      value = (t.c < 0 ? x * column : RecordingSimd<T>::fma(x, column, operand(t.c))).in(recorder);
    } else {
      const RecordedVector<T> a = operand(t.a), b = operand(t.b), c = operand(t.c);
      value = kFormulas<T>[static_cast<std::size_t>(t.element)](a, b, c, constant_of<T>(t.k)).in(recorder);
    }
    const int place = places[static_cast<std::size_t>(t.out)];
    holds[static_cast<std::size_t>(place)] = value;
    if (stage.slots[static_cast<std::size_t>(place)].kind == Slot::Kind::array) recorder.store(place, value);
  }
  return program;
}

template std::optional<VectorProgram> record<float>(const TileStage&, const std::vector<Array>&);
template std::optional<VectorProgram> record<double>(const TileStage&, const std::vector<Array>&);

}  // namespace lagtape::recurrence
