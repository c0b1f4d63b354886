#include "lagtape/ops/delay/dual_program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
std::vector<bool> needed_values(const RightSide& side, const std::vector<int>& roots, bool partials) {
  std::vector<bool> needed(side.program.values.size());
  std::vector<int> stack = roots;
  while (!stack.empty()) {
    const int id = stack.back();
    stack.pop_back();
    if (id < 0 || needed[id]) continue;
    needed[id] = true;
    const Instruction& v = side.program.values[id];
    for (const int operand : {v.a, v.b}) stack.push_back(operand);
    for (const PastRead& read : side.reads)
      if (read.value == id) stack.push_back(read.lag);
    if (partials)
      for (const int partial : {side.partials[id].a, side.partials[id].b}) stack.push_back(partial);
  }
  return needed;
}

DualProgram::DualProgram(const RightSide& side, const std::vector<int>& roots,
                         const std::vector<std::vector<double>>& weights,
                         const std::vector<std::pair<int, std::int64_t>>& directions)
    : program_(side.program),
      partials_(side.partials),
      weights_(weights),
      by_(directions),
      directions_(directions.size()) {
  const std::vector<bool> changed = needed_values(side, roots, false),
                          computed = directions_ == 0 ? changed : needed_values(side, roots, true),
                          constant = constant_values(program_);
  std::size_t numbers = 0;
  for (const Instruction& v : program_.values) {
    offset_.push_back(numbers);
    width_.push_back(static_cast<std::size_t>(v.shape.width()));
    numbers += width_.back();
  }
  v_.resize(numbers);
  d_.resize(numbers * directions_);
  for (int id = 0; id < static_cast<int>(program_.values.size()); ++id) {
    const Instruction& v = program_.values[id];
    if (computed[id] && !constant[id]) values_order_.push_back(id);
    if (changed[id] && !constant[id]) tangents_order_.push_back(id);
    if (!computed[id] || !constant[id]) continue;
    if (v.op == StepOp::weight) {
      std::ranges::copy(weights_[v.index], values(id).begin());
      for (std::size_t p = 0; p < directions_; ++p)
        if (directions[p].first == v.index)
          tangents(id)[static_cast<std::size_t>(directions[p].second) * directions_ + p] = 1;
    } else if (v.op == StepOp::constant) {
      values(id)[0] = v.value;
    } else {
      evaluate(id);
    }
  }
  for (int id = 0; id < static_cast<int>(program_.values.size()); ++id)
    if (changed[id] && constant[id] && !is_leaf(program_.values[id].op)) differentiate(id);
}

std::vector<int> DualProgram::leaves() const {
  std::vector<int> ids;
  std::ranges::copy_if(values_order_, std::back_inserter(ids),
                       [&](int id) { return is_leaf(program_.values[id].op); });
  return ids;
}

void DualProgram::run(const Leaf& leaf) {
  for (const int id : values_order_)
    if (is_leaf(program_.values[id].op))
      leaf(id, false);
    else
      evaluate(id);
  if (directions_ == 0) return;
  for (const int id : tangents_order_)
    if (is_leaf(program_.values[id].op))
      leaf(id, true);
    else
      differentiate(id);
}

void DualProgram::evaluate(int id) {
  const Instruction& v = program_.values[id];
  const std::span<double> out = values(id), a = values(v.a);
  switch (v.op) {
    case StepOp::element: {
      const auto f = function_of(v.element).value;
      if (v.element == ElementOp::copy) return void(std::ranges::copy(a, out.begin()));
      const std::span<double> b = values(v.b < 0 ? v.a : v.b);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
      return;
    }
    case StepOp::product: {
      const std::vector<double>& w = weights_[v.index];
      const auto in = static_cast<std::size_t>(program_.values[v.a].shape.size),
                 rows = static_cast<std::size_t>(v.shape.size);
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = 0;
        for (std::size_t j = 0; j < in; ++j) out[i] += w[i % rows * in + j] * a[i / rows * in + j];
      }
      return;
    }
    case StepOp::sum: {
      const std::size_t n = a.size() / out.size();
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = 0;
        for (std::size_t j = 0; j < n; ++j) out[i] += a[i * n + j];
      }
      return;
    }
    case StepOp::broadcast:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i / (out.size() / a.size())];
      return;
    case StepOp::reshape: return void(std::ranges::copy(a, out.begin()));
    case StepOp::slice: return void(std::copy_n(a.begin() + v.index, out.size(), out.begin()));
    case StepOp::view:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = a[static_cast<std::size_t>(place_in_view(v, static_cast<std::int64_t>(i)))];
      return;
    case StepOp::concatenate:
      std::ranges::copy(a, out.begin());
      std::ranges::copy(values(v.b), out.begin() + static_cast<std::ptrdiff_t>(a.size()));
      return;
    default: throw Error("[ode] an operation without a value");
  }
}

/// Adds the tangents of an operand, multiplied element by element by the values of `partial`.
void DualProgram::add_scaled(int id, int operand, int partial) {
  if (operand < 0 || partial < 0) return;
  const std::span<double> out = tangents(id), from = tangents(operand), factor = values(partial);
  for (std::size_t i = 0; i < width_[id]; ++i) {
    const double c = factor[factor.size() == 1 ? 0 : i];
    const double* d = &from[(width_[operand] == 1 ? 0 : i) * directions_];
    for (std::size_t p = 0; p < directions_; ++p)
      if (d[p] != 0) out[i * directions_ + p] += c * d[p];
  }
}

void DualProgram::differentiate(int id) {
  const Instruction& v = program_.values[id];
  const std::span<double> out = tangents(id);
  if (v.op == StepOp::element) {
    std::ranges::fill(out, 0);
    add_scaled(id, v.a, partials_[id].a);
    return add_scaled(id, v.b, partials_[id].b);
  }
  // The others are linear: each tangent is the same function of the operands' tangents.
  const auto element = [&](int operand, std::size_t i, std::size_t p) {
    return tangents(operand)[i * directions_ + p];
  };
  const std::size_t n = width_[id], from = width_[v.a];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t p = 0; p < directions_; ++p) {
      double& d = out[i * directions_ + p];
      d = 0;
      if (v.op == StepOp::product) {
        const std::vector<double>& w = weights_[v.index];
        const auto in = static_cast<std::size_t>(program_.values[v.a].shape.size),
                   rows = static_cast<std::size_t>(v.shape.size);
        for (std::size_t j = 0; j < in; ++j) d += w[i % rows * in + j] * element(v.a, i / rows * in + j, p);
      }
      if (v.op == StepOp::sum)
        for (std::size_t j = 0; j < from / n; ++j) d += element(v.a, i * (from / n) + j, p);
      if (v.op == StepOp::broadcast) d = element(v.a, i / (n / from), p);
      if (v.op == StepOp::reshape) d = element(v.a, i, p);
      if (v.op == StepOp::slice) d = element(v.a, i + static_cast<std::size_t>(v.index), p);
      if (v.op == StepOp::view)
        d = element(v.a, static_cast<std::size_t>(place_in_view(v, static_cast<std::int64_t>(i))), p);
      if (v.op == StepOp::concatenate) d = i < from ? element(v.a, i, p) : element(v.b, i - from, p);
    }
  if (v.op == StepOp::product) differentiate_by_matrix(id);
}

/// Adds the derivatives of a product with respect to the elements of its matrix.
void DualProgram::differentiate_by_matrix(int id) {
  const Instruction& v = program_.values[id];
  const auto in = static_cast<std::size_t>(program_.values[v.a].shape.size),
             rows = static_cast<std::size_t>(v.shape.size);
  const std::span<double> out = tangents(id), a = values(v.a);
  for (std::size_t p = 0; p < directions_; ++p) {
    if (by_[p].first != v.index) continue;
    const auto element = static_cast<std::size_t>(by_[p].second);
    for (std::size_t i = element / in; i < width_[id]; i += rows)
      out[i * directions_ + p] += a[i / rows * in + element % in];
  }
}

int DualProgram::first_that_is_not_finite() {
  for (const int id : values_order_)
    if (!std::ranges::all_of(values(id), [](double x) { return std::isfinite(x); })) return id;
  return -1;
}

}  // namespace lagtape
