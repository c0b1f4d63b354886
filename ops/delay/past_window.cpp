#include "lagtape/ops/delay/past_window.h"

#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {

std::size_t PastWindow::add(const std::string& name, std::int64_t width) {
  const StepVar state = tape_.state(name, RowShape::vector(width * steps_));
  rows_.push_back({width, state, state});
  return rows_.size() - 1;
}

void PastWindow::begin(StepVar base) {
  ages_ = ages_state_ = tape_.state("ages", RowShape::vector(steps_));
  base_ = base;
}

StepVar PastWindow::flat(StepVar a) {
  if (tape_.is_number(a)) return a + 0 * tape_.step_index();  // what is joined is not a number
  return a.shape().rank > 1 ? tape_.reshape(a, RowShape::vector(a.shape().width())) : a;
}

StepVar PastWindow::joined(StepVar first, StepVar rest) {
  return first.id() < 0 ? flat(rest) : tape_.concatenate(first, flat(rest));
}

StepVar PastWindow::shifted(StepVar first, StepVar rows, std::int64_t width) {
  const std::int64_t kept = steps_ * width - first.shape().width();
  return joined(flat(first), tape_.slice(rows, 0, kept));
}

void PastWindow::push(const std::vector<Entry>& entries, StepVar base) {
  const StepVar passed = base - base_;
  StepVar begins;
  std::vector<StepVar> first(rows_.size());
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    begins = joined(begins, base - entry->begin);
    for (std::size_t r = 0; r < rows_.size(); ++r) first[r] = joined(first[r], entry->rows[r]);
  }
  ages_ = shifted(begins, ages_ + passed, 1);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    rows_[r].now = shifted(first[r], rows_[r].now, rows_[r].width);
  base_ = base;
}

void PastWindow::finish() {
  tape_.set_next(ages_state_, ages_);
  for (const Rows& rows : rows_) tape_.set_next(rows.state, rows.now);
}

PastWindow::Found PastWindow::find(StepVar age, double tolerance) {
  const StepVar is_older = above(ages_, age + tolerance);
  const StepVar ends = shifted(tape_.constant(0), ages_, 1);
  const StepVar mask = is_older - shifted(above(tape_.constant(0), age + tolerance), is_older, 1);
  const StepVar begin = sum(mask * ages_);
  return {mask, begin, begin - sum(mask * ends)};
}

StepVar PastWindow::masked(const Found& found, StepVar rows, std::int64_t width) {
  if (width == 1) return sum(found.mask * rows);
  return sum(tape_.view(rows, {width, steps_}, 0, {1, width}) * found.mask);
}

StepVar PastWindow::row(const Found& found, std::size_t row) {
  return masked(found, rows_[row].now, rows_[row].width);
}

StepVar PastWindow::next_row(const Found& found, std::size_t row, StepVar newest) {
  return masked(found, shifted(newest, rows_[row].now, rows_[row].width), rows_[row].width);
}

}  // namespace lagtape
