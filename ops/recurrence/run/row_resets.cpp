#include "lagtape/ops/recurrence/run/row_resets.h"

#include <algorithm>
#include <cstring>

namespace lagtape::recurrence {

template <class T>
RowResets<T>::RowResets(const StepProgram& program, const LayerSchedule& schedule,
                        Interpreter<T>& interpreter)
    : program_(program), schedule_(schedule), interpreter_(interpreter) {
  for (const Instruction& v : program.values) {
    if (v.op == StepOp::state || v.op == StepOp::lag) reads_.push_back({v.index, v.lag});
    if (v.op == StepOp::state || v.op == StepOp::lag) reach_ = std::max(reach_, v.lag);
    tells_ = tells_ || v.op == StepOp::real_lag || v.op == StepOp::step_index || v.op == StepOp::draw;
  }
  for (std::size_t s = 0; s < program.states.size(); ++s)
    if (schedule.grid_arrays[s] >= 0) on_grid_.push_back(static_cast<int>(s));
}

// ---- where rows reset ----

namespace {

/// The first step in [n, end) at which a row's number is nonzero; eight at a time, since few are.
std::int64_t next_given(const std::uint8_t* row, std::int64_t n, std::int64_t end) {
  for (std::uint64_t eight = 0; n + 8 <= end; n += 8) {
    std::memcpy(&eight, row + n, sizeof eight);
    if (eight != 0) break;
  }
  while (n < end && row[n] == 0) ++n;
  return n;
}

}  // namespace

template <class T>
void RowResets<T>::begin(const std::uint8_t* given, std::int64_t stride, std::int64_t column,
                         std::int64_t rows, const std::int64_t* lengths, const Extent& extent) {
  given_ = given;
  stride_ = stride;
  column_ = column;
  rows_ = rows;
  lengths_ = lengths;
  first_ = found_ = extent.first;
  last_ = extent.last;
  resets_.clear();
  hidden_.clear();
  values_end_ = 0;
  grid_.clear();
  interpreter_.set_begins(nullptr);
}

template <class T>
void RowResets<T>::note(std::int64_t step, std::int64_t row, bool given) {
  resets_.push_back({step, row, given, grid_.size()});
  for (const int s : on_grid_) grid_.resize(grid_.size() + static_cast<std::size_t>(width(s)));
}

template <class T>
void RowResets<T>::find(std::int64_t n0, std::int64_t n1) {
  if ((given_ == nullptr && column_ < 0) || n1 <= found_) return;
  found_ = n1;
  const std::size_t before = resets_.size();
  const auto end = [&](std::int64_t r) {
    return lengths_ == nullptr ? n1 : std::min(n1, first_ + lengths_[r]);
  };
  for (std::int64_t r = 0; r < rows_ && given_ != nullptr; ++r) {
    const std::uint8_t* row = given_ + r * stride_ - first_;
    for (std::int64_t n = next_given(row, n0, end(r)); n < end(r); n = next_given(row, n + 1, end(r)))
      note(n, r, true);
  }
  if (column_ >= 0) {
    const T* at = interpreter_.array(schedule_.input_array).at(n0) + column_;
    const std::int64_t width = padded<T>(program_.input.width());
    for (std::int64_t n = n0; n < n1; ++n)
      for (std::int64_t r = 0; r < rows_; ++r, at += width)
        if (*at > 0 && n < end(r)) note(n, r, false);
  }
  std::stable_sort(resets_.begin() + static_cast<std::ptrdiff_t>(before), resets_.end(),
                   [](const Reset& a, const Reset& b) { return a.step < b.step; });
}

template <class T>
std::int64_t RowResets<T>::last_of(std::int64_t row) const {
  for (auto reset = resets_.rbegin(); reset != resets_.rend(); ++reset)
    if (reset->row == row) return reset->step;
  return kNever;
}

template <class T>
std::int64_t RowResets<T>::end_of_range(std::int64_t n, std::int64_t n1) const {
  const auto next = std::ranges::upper_bound(resets_, n, {}, &Reset::step);
  return next == resets_.end() ? n1 : std::min(n1, next->step);
}

template <class T>
std::int64_t RowResets<T>::begin_of_range(std::int64_t n, std::int64_t n0) const {
  const auto after = std::ranges::lower_bound(resets_, n, {}, &Reset::step);
  return after == resets_.begin() ? n0 : std::max(n0, (after - 1)->step);
}

template <class T>
template <class F>
void RowResets<T>::at_step(std::int64_t n, F f) {
  for (auto reset = std::ranges::lower_bound(resets_, n, {}, &Reset::step);
       reset != resets_.end() && reset->step == n; ++reset)
    f(*reset);
}

// ---- states ----

template <class T>
void RowResets<T>::hide(std::int64_t n0, std::int64_t n1) {
  if (empty()) return;
  for (auto reset = std::ranges::lower_bound(resets_, n0 - reach_, {}, &Reset::step);
       reset != resets_.end() && reset->step <= n0; ++reset)
    for (const Read& read : reads_) {
      const std::int64_t first = n0 - read.lag, last = std::min(n1 - 1 - read.lag, reset->step);
      if (first > last) continue;
      hidden_.push_back(
          {row_of(read.state, first, reset->row),
           interpreter_.array(schedule_.state_arrays[static_cast<std::size_t>(read.state)]).stride,
           padded<T>(width(read.state)), last - first + 1});
      hide(hidden_.back());
    }
}

template <class T>
void RowResets<T>::hide(const Hidden& row) {
  const std::size_t begin = values_end_;
  values_end_ += static_cast<std::size_t>(row.width * row.steps);
  if (values_.size() < values_end_) values_.resize(values_end_);
  T* to = values_.data() + begin;
  T* at = row.at;
  for (std::int64_t n = 0; n < row.steps; ++n, at += row.stride) {
    to = std::copy_n(at, row.width, to);
    std::fill_n(at, row.width, T(0));
  }
}

/// The last hidden states are restored first, since a state may be hidden more than once.
template <class T>
void RowResets<T>::show() {
  for (; !hidden_.empty(); hidden_.pop_back()) {
    const Hidden& row = hidden_.back();
    values_end_ -= static_cast<std::size_t>(row.width * row.steps);
    const T* from = values_.data() + values_end_;
    T* at = row.at;
    for (std::int64_t n = 0; n < row.steps; ++n, at += row.stride, from += row.width)
      std::copy_n(from, row.width, at);
  }
}

template <class T>
void RowResets<T>::tell_interpreter(std::int64_t n) {
  begins_.assign(static_cast<std::size_t>(rows_), {});
  for (auto reset = resets_.begin(); reset != resets_.end() && reset->step <= n; ++reset) {
    RowBegin& row = begins_[static_cast<std::size_t>(reset->row)];
    row.hidden = reset->step;
    if (reset->given) row.skipped = reset->step - first_;
  }
  interpreter_.set_begins(begins_.data());
}

template <class T>
void RowResets<T>::clear_grid(std::int64_t n) {
  if (on_grid_.empty()) return;
  at_step(n, [&](const Reset& reset) {
    double* to = grid_.data() + reset.kept;
    for (const int s : on_grid_) {
      double* row = interpreter_.grid(s, n) + reset.row * padded<T>(width(s));
      to = std::copy_n(row, width(s), to);
      std::fill_n(row, width(s), 0.0);
    }
  });
}

template <class T>
void RowResets<T>::restore_grid(std::int64_t n) {
  if (on_grid_.empty()) return;
  at_step(n, [&](const Reset& reset) {
    const double* from = grid_.data() + reset.kept;
    for (const int s : on_grid_) {
      std::copy_n(from, width(s), interpreter_.grid(s, n) + reset.row * padded<T>(width(s)));
      std::transform(from, from + width(s), row_of(s, n, reset.row),
                     [](double v) { return static_cast<T>(v); });
      from += width(s);
    }
  });
}

// ---- adjoints ----

template <class T>
void RowResets<T>::clear_adjoints(std::int64_t n) {
  at_step(n, [&](const Reset& reset) {
    const auto clear = [&](T* block, int state) {
      const std::int64_t stride = padded<T>(width(state));
      std::fill_n(block + reset.row * stride, stride, T(0));
    };
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s)
      for (const int array : {schedule_.direct[s].element, schedule_.direct[s].product})
        if (array >= 0) clear(interpreter_.array(array).base, s);
    for (const LayerOps::LaggedRead& read : schedule_.lagged)
      for (std::int64_t k = n; k <= std::min(n + read.lag, last_ - 1); ++k)
        clear(interpreter_.array(read.adjoint_array).at(k), read.state);
  });
}

template class RowResets<float>;
template class RowResets<double>;

}  // namespace lagtape::recurrence
