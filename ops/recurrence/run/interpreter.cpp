#include "lagtape/ops/recurrence/run/interpreter.h"

#include <algorithm>
#include <cmath>

#include "lagtape/ops/recurrence/jit/stage_compiler.h"
#include "lagtape/ops/recurrence/step/draws.h"

namespace lagtape::recurrence {

template <class T>
Interpreter<T>::Interpreter(const StepProgram& program, const LayerSchedule& schedule,
                            const LayerWeights<T>& weights, const Kernels<T>& kernels)
    : program_(program),
      schedule_(schedule),
      weights_(weights),
      kernels_(kernels),
      arrays_(schedule.arrays.size()) {
  std::size_t operands = 1, groups = 1, prefetched = 0;
  for (const auto& phase : all_lists<const Phase>(schedule))
    for (const Stage& stage : *phase.list)
      if (const auto* product = std::get_if<ProductStage>(&stage)) {
        operands = std::max(operands, product->operands.size());
        prefetched = std::max(prefetched, product->prefetched.size());
        groups =
            std::max(groups, static_cast<std::size_t>(schedule.stacks[product->stack].columns / kLane<T>));
      }
  pointers_.resize(schedule.largest_stage);
  strides_.resize(schedule.largest_stage);
  operands_.resize(operands);
  outputs_.resize(groups);
  output_strides_.resize(groups);
  prefetched_.reserve(prefetched);
}

template <class T>
void Interpreter<T>::run(const Phase& phase, std::int64_t step, std::int64_t count) {
  for (const Stage& stage : phase) {
    if (const auto* product = std::get_if<ProductStage>(&stage)) {
      run_products(*product, step, count);
    } else {
      run_elements(std::get<ElementStage>(stage), step, count);
    }
  }
}

template <class T>
void Interpreter<T>::observe(const ProductStage& stage, std::int64_t step, std::int64_t count) {
  float& range = (*ranges_)[static_cast<std::size_t>(stage.stack)];
  for (std::size_t i = 0; i < stage.operands.size(); ++i) {
    const T* row = at(stage.operands[i], step);
    const std::int64_t width = stage.operand_widths[i] * stage.groups;
    for (std::int64_t r = 0; r < rows_ * count; ++r, row += stage.operands[i].width)
      for (std::int64_t u = 0; u < width; ++u) {
        const auto magnitude = static_cast<float>(std::abs(row[u]));
        if (!(magnitude <= range)) range = magnitude;
      }
  }
}

template <class T>
void Interpreter<T>::run_products(const ProductStage& stage, std::int64_t step, std::int64_t count) {
  if (ranges_ != nullptr) observe(stage, step, count);
  if (stage.groups > 1) return run_group_products(stage, step, count);
  for (std::size_t i = 0; i < stage.operands.size(); ++i)
    operands_[i] = {at(stage.operands[i], step), stage.operands[i].width, stage.operand_widths[i],
                    stage.operands[i].rounded};
  std::size_t group = 0;
  for (const Operand& out : stage.outputs) {
    T* base = at(out, step);
    for (std::int64_t j = 0; j < out.width; j += kLane<T>, ++group) {
      outputs_[group] = base + j;
      output_strides_[group] = out.width;
    }
  }
  prefetched_.clear();
  for (const Operand& operand : stage.prefetched)
    if (step + operand.step >= arrays_[operand.index].first)
      prefetched_.push_back({at(operand, step), space_of<T>(rows_ * count * operand.width, operand.rounded) *
                                                    static_cast<std::int64_t>(sizeof(T))});
  kernels_.product({rows_ * count, operands_.data(), static_cast<std::int64_t>(stage.operands.size()),
                    weights_.stack(stage.stack), schedule_.stacks[stage.stack].columns, outputs_.data(),
                    output_strides_.data(), false, prefetched_.data(),
                    static_cast<std::int64_t>(prefetched_.size())});
}

/// Groups are adjacent in a row without padding, so each product goes through padded scratch memory.
template <class T>
void Interpreter<T>::run_group_products(const ProductStage& stage, std::int64_t step, std::int64_t count) {
  const std::int64_t rows = rows_ * count, columns = schedule_.stacks[stage.stack].columns;
  for (std::int64_t j = 0; j < columns / kLane<T>; ++j) {
    outputs_[j] = group_scratch_ + j * kLane<T>;
    output_strides_[j] = columns;
  }
  for (std::int64_t g = 0; g < stage.groups; ++g) {
    for (std::size_t i = 0; i < stage.operands.size(); ++i)
      operands_[i] = {at(stage.operands[i], step, g * stage.operand_widths[i]), stage.operands[i].width,
                      stage.operand_widths[i], stage.operands[i].rounded};
    kernels_.product({rows, operands_.data(), static_cast<std::int64_t>(stage.operands.size()),
                      weights_.stack(stage.stack), columns, outputs_.data(), output_strides_.data()});
    const T* from = group_scratch_;
    for (std::size_t o = 0; o < stage.outputs.size(); ++o) {
      const std::int64_t width = stage.output_widths[o];
      T* to = at(stage.outputs[o], step) + g * width;
      for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(from + r * columns, width, to + r * stage.outputs[o].width);
      from += padded<T>(width);
    }
  }
}

/// The address of an array, a weight, or a state on the grid.
template <class T>
T* Interpreter<T>::pointer_of(const Operand& operand, std::int64_t step) const {
  switch (operand.kind) {
    case Operand::Kind::array: return at(operand, step);
    case Operand::Kind::grid: return reinterpret_cast<T*>(grid(operand.index, step + operand.step));
    default: return const_cast<T*>(weights_.vector(operand.index));
  }
}

template <class T>
void Interpreter<T>::run_elements(const ElementStage& stage, std::int64_t step, std::int64_t count) {
  if (stage.compiled != nullptr && stage.compiled->takes(count)) return run_compiled(stage, step, count);
  for (std::size_t i = 0; i < stage.operands.size(); ++i) {
    const Operand& operand = stage.operands[i];
    pointers_[i] = operand.kind == Operand::Kind::tile
                       ? tile_ + operand.index * stage.tile_rows * stage.register_width
                       : pointer_of(operand, step);
    strides_[i] = operand.kind == Operand::Kind::array
                      ? space_of<T>(stage.tile_rows * operand.width, operand.rounded)
                  : operand.kind == Operand::Kind::grid ? stage.tile_rows * operand.width * kDoubleWidth<T>
                                                        : 0;
  }
  const std::int64_t total = rows_ * count;
  const auto operand = [&](int operand) -> const T* { return operand < 0 ? nullptr : pointers_[operand]; };
  for (std::int64_t first = 0; first < total; first += stage.tile_rows) {
    const std::int64_t rows = std::min(stage.tile_rows, total - first);
    for (const ElementInstruction& t : stage.instructions) {
      if (t.kind == Op::Kind::element) {
        kernels_.element[static_cast<int>(t.element)](pointers_[t.out], operand(t.a), operand(t.b),
                                                      operand(t.c), static_cast<T>(t.k), rows * t.width);
      } else {
        run_special(t, first, rows, step);
      }
    }
    for (std::size_t i = 0; i < stage.operands.size(); ++i) pointers_[i] += strides_[i];
  }
}

template <class T>
void Interpreter<T>::run_compiled(const ElementStage& stage, std::int64_t step, std::int64_t count) {
  T** next = pointers_.data();
  for (int i : stage.compiled->operands()) {
    const Operand& operand = stage.operands[i];
    *next++ = pointer_of(operand, step);
  }
  stage.compiled->run(pointers_.data(),
                      rows_ * count * stage.register_width * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void Interpreter<T>::run_special(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows,
                                 std::int64_t step) {
  T* out = pointers_[t.out];
  switch (t.kind) {
    case Op::Kind::sum: kernels_.sum_groups(out, pointers_[t.a], rows, t.shape.groups, t.shape.size); break;
    case Op::Kind::broadcast:
      kernels_.broadcast_groups(out, pointers_[t.a], rows, t.shape.groups, t.shape.size);
      break;
    case Op::Kind::concatenate:
    case Op::Kind::slice:
    case Op::Kind::pad: run_parts(t, rows); break;
    case Op::Kind::view:
    case Op::Kind::collect: run_view(t, rows); break;
    case Op::Kind::step_index:
      for (std::int64_t r = 0; r < rows; ++r)
        std::fill_n(out + r * t.width, t.width,
                    static_cast<T>((step + (first_row + r) / rows_ - skipped((first_row + r) % rows_)) /
                                   std::max<std::int64_t>(t.lag, 1)));
      break;
    case Op::Kind::narrow_product:
      return kernels_.scale_column(out, pointers_[t.a] + t.index, padded<T>(t.shape.width()), pointers_[t.b],
                                   t.c < 0 ? nullptr : pointers_[t.c], rows, t.width);
    case Op::Kind::draw: run_draw(t, first_row, rows, step); break;
    case Op::Kind::grid_update:
    case Op::Kind::grid_undo:
      return kernels_.add_on_grid(out, reinterpret_cast<double*>(pointers_[t.c]),
                                  reinterpret_cast<double*>(pointers_[t.b]), pointers_[t.a], t.k,
                                  rows * t.width);
    case Op::Kind::save:
      return kernels_.save(reinterpret_cast<SavedElement<T>*>(out), pointers_[t.a], rows * t.width);
    case Op::Kind::restore:
      return kernels_.restore(out, reinterpret_cast<const SavedElement<T>*>(pointers_[t.a]), rows * t.width);
    case Op::Kind::real_lag_adjoint: real_lag_adjoint(out, t.index, first_row, rows, step + 1); break;
    default: run_real_lag(t, first_row, rows, step);
  }
}

/// Copies parts of rows; the padding of the result is 0.
template <class T>
void Interpreter<T>::run_parts(const ElementInstruction& t, std::int64_t rows) {
  const std::int64_t wide = t.shape.width();
  for (std::int64_t r = 0; r < rows; ++r) {
    T* const out = pointers_[t.out] + r * t.width;
    std::fill_n(out, t.width, T(0));
    if (t.kind == Op::Kind::slice) {
      std::copy_n(pointers_[t.a] + r * padded<T>(wide) + t.index, t.part, out);
      continue;
    }
    const std::int64_t first = t.kind == Op::Kind::pad ? t.index : 0;
    std::copy_n(pointers_[t.a] + r * padded<T>(t.part), t.part, out + first);
    if (t.kind == Op::Kind::concatenate)
      std::copy_n(pointers_[t.b] + r * padded<T>(wide - t.part), wide - t.part, out + t.part);
  }
}

/// Calls f with the position of each element of a view of the instruction's axes, in order, one line of the
/// last axis at a time: f(number of the line's first element, its position).
template <class F>
void for_lines(const ElementInstruction& t, F f) {
  const auto extent = t.shape.four_axes();
  std::int64_t element = 0;
  for (std::int64_t i = 0; i < extent[0]; ++i)
    for (std::int64_t j = 0; j < extent[1]; ++j)
      for (std::int64_t k = 0; k < extent[2]; ++k, element += extent[3])
        f(element, t.index + i * t.strides[0] + j * t.strides[1] + k * t.strides[2]);
}

/// Reads a's elements through the view, or adds a's elements to those that the view reads; the padding of the
/// result is 0.
template <class T>
void Interpreter<T>::run_view(const ElementInstruction& t, std::int64_t rows) {
  const bool reads = t.kind == Op::Kind::view;
  const std::int64_t of_a = padded<T>(reads ? t.part : t.shape.width()), stride = t.strides.back(),
                     n = t.shape.size;
  for (std::int64_t r = 0; r < rows; ++r) {
    T* const out = pointers_[t.out] + r * t.width;
    const T* const a = pointers_[t.a] + r * of_a;
    std::fill_n(out, t.width, T(0));
    for_lines(t, [&](std::int64_t element, std::int64_t place) {
      if (reads)
        for (std::int64_t e = 0; e < n; ++e) out[element + e] = a[place + e * stride];
      else
        for (std::int64_t e = 0; e < n; ++e) out[place + e * stride] += a[element + e];
    });
  }
}

template <class T>
void Interpreter<T>::run_draw(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows,
                              std::int64_t step) {
  const DrawDefinition& draw = program_.draws[t.index];
  for (std::int64_t r = 0; r < rows; ++r) {
    T* out = pointers_[t.out] + r * t.width;
    if (!draws_.training) {
      std::fill_n(out, t.width, static_cast<T>(draw.evaluation));
      continue;
    }
    const std::int64_t row = (first_row + r) % rows_;
    if (draw.every_step) {
      draw_row(out, t.index, t.shape, row, step + (first_row + r) / rows_ - skipped(row));
    } else {
      std::copy_n(once_of(t.index) + row * t.width, t.width, out);
    }
  }
}

template <class T>
void Interpreter<T>::draw_row(T* out, int draw, const RowShape& shape, std::int64_t row,
                              std::int64_t step) const {
  const std::uint64_t key = draw_key(draws_.seed, draws_.epoch, draws_.sequences[row], draws_.layer, draw);
  for (std::int64_t u = 0; u < shape.width(); ++u)
    out[u] = static_cast<T>(draw_at(program_.draws[draw], key, step, u));
  std::fill(out + shape.width(), out + padded<T>(shape.width()), T(0));
}

/// The rows of a per-sequence draw. The draws' blocks of rows are in the order of the program's values.
template <class T>
T* Interpreter<T>::once_of(int draw) const {
  T* at = once_;
  for (const Instruction& v : program_.values) {
    if (v.op != StepOp::draw || program_.draws[v.index].every_step) continue;
    if (v.index == draw) return at;
    at += rows_ * padded<T>(v.shape.width());
  }
  return nullptr;
}

template <class T>
std::int64_t Interpreter<T>::once_elements() const {
  std::int64_t elements = 0;
  for (const Instruction& v : program_.values)
    if (v.op == StepOp::draw && !program_.draws[v.index].every_step)
      elements += rows_ * padded<T>(v.shape.width());
  return elements;
}

template <class T>
void Interpreter<T>::draw_once() {
  if (!draws_.training) return;
  for (const Instruction& v : program_.values) {
    if (v.op != StepOp::draw || program_.draws[v.index].every_step) continue;
    T* to = once_of(v.index);
    for (std::int64_t r = 0; r < rows_; ++r, to += padded<T>(v.shape.width()))
      draw_row(to, v.index, v.shape, r, 0);
  }
}

namespace {

/// A delay clamped to 1 .. bound, as whole steps plus a fraction. The bound itself is represented as one step
/// less and fraction 1, so that its slope is that of the delays below it.
struct SplitDelay {
  std::int64_t whole;
  double fraction;
  bool clamped;
};

SplitDelay split(double tau, std::int64_t bound) {
  const bool clamped = !(tau >= 1 && tau <= static_cast<double>(bound));
  tau = std::isfinite(tau) ? std::clamp(tau, 1.0, static_cast<double>(bound)) : 1.0;
  const auto whole = std::min(static_cast<std::int64_t>(tau), std::max<std::int64_t>(bound - 1, 1));
  return {whole, tau - static_cast<double>(whole), clamped};
}

}  // namespace

template <class T>
void Interpreter<T>::run_real_lag(const ElementInstruction& t, std::int64_t first_row, std::int64_t rows,
                                  std::int64_t step) {
  const ArrayView<T>& state = arrays_[schedule_.state_arrays[t.index]];
  const T* tau = pointers_[t.a];
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = (first_row + r) % rows_, n = step + (first_row + r) / rows_;
    const std::int64_t hidden = begins_ == nullptr ? RowBegin().hidden : begins_[row].hidden;
    T* out = pointers_[t.out] + r * t.width;
    const auto past = [&](std::int64_t m, std::int64_t u) {
      return m <= hidden ? T(0) : state.at(m)[row * t.width + u];
    };
    for (std::int64_t u = 0; u < t.shape.width(); ++u) {
      const SplitDelay d = split(tau[t.per_unit ? u : 0], t.lag);
      const T near = past(n - d.whole, u);
      const T far = d.whole < t.lag ? past(n - d.whole - 1, u) : near;
      const T f = static_cast<T>(d.fraction);
      out[u] = t.kind == Op::Kind::real_lag ? (T(1) - f) * near + f * far : d.clamped ? T(0) : far - near;
    }
    std::fill(out + t.shape.width(), out + t.width, T(0));
  }
}

template <class T>
void Interpreter<T>::real_lag_adjoint(T* out, int l, std::int64_t first_row, std::int64_t rows,
                                      std::int64_t n) const {
  const LayerOps::LaggedRead& read = schedule_.lagged[l];
  const ArrayView<T>& adjoint = arrays_[read.adjoint_array];
  const std::int64_t units = program_.states[read.state].shape.width(), width = padded<T>(units);
  const T* tau = weights_.vector(read.tau);
  const bool per_unit = !program_.weights[read.tau].shape.empty();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t u = 0; u < units; ++u) {
      const SplitDelay d = split(tau[per_unit ? u : 0], read.lag);
      const std::int64_t at = (first_row + r) * width + u;
      const T f = static_cast<T>(d.fraction);
      const T near = (T(1) - f) * adjoint.at(n + d.whole)[at];
      out[r * width + u] = d.whole < read.lag ? near + f * adjoint.at(n + d.whole + 1)[at] : near;
    }
    std::fill(out + r * width + units, out + (r + 1) * width, T(0));
  }
}

template class Interpreter<float>;
template class Interpreter<double>;

}  // namespace lagtape::recurrence
