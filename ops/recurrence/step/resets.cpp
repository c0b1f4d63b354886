#include "lagtape/ops/recurrence/step/resets.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_copy.h"

namespace lagtape {
namespace {

void refuse_grid(const StepProgram& program) {
  for (const StateDefinition& state : program.states)
    if (state.arithmetic == Arithmetic::grid)
      throw InputError({.op = "reset"}, Rule::not_supported,
                       text_of("state ", state.name, " is on the grid and cannot begin again"), {},
                       "Give the layer \"arithmetic\": \"float\".");
}

class StepWithResetColumn final : public StepCopy {
 public:
  StepWithResetColumn(const StepProgram& program, std::int64_t column) : StepCopy(program) {
    refuse_grid(program);
    const StepVar value = tape().sum(tape().slice(tape().input(), column, column + 1));
    reset_ = sign(relu(value));
    if (program.largest_lag() == 0) return;
    count_ = tape().state("resets", RowShape::scalar());
    tape().set_next(count_, count_ + reset_);
  }

 private:
  StepVar past(int state, std::int64_t lag) override {
    // The resets from that step to this one.
    const StepVar resets = lag == 0 ? reset_ : count_ - tape().lag(count_, lag) + reset_;
    return where_positive(StepCopy::past(state, lag), 0.5 - resets);
  }
  StepVar real_past(const Instruction&) override {
    throw InputError({.op = "reset"}, Rule::not_supported, "a step with trained lags has no resets");
  }
  StepVar step_index(const Instruction& index) override {
    return index.lag > 1 ? floor(tape().step_index() / static_cast<double>(index.lag)) : tape().step_index();
  }

  StepVar reset_, count_;
};

}  // namespace

Lanes::Lanes(std::span<const RowPiece> pieces) {
  std::map<std::int64_t, std::vector<RowPiece>> of_row;
  for (const RowPiece& piece : pieces) of_row[piece.row].push_back(piece);
  for (auto& [row, own] : of_row) {
    std::ranges::sort(own, {}, &RowPiece::first);
    std::int64_t length = std::ssize(own) - 1;
    for (const RowPiece& piece : own) length += piece.steps;
    rows.push_back({row, 0, length, own.front().begins, true});
  }
  std::ranges::stable_sort(rows, std::greater(), &RowPiece::steps);
  steps.assign(rows.size() * static_cast<std::size_t>(rows.front().steps), -1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t at = r;
    for (const RowPiece& piece : of_row[rows[r].row]) {
      if (piece.first > 0) at += rows.size();
      for (std::int64_t n = 0; n < piece.steps; ++n, at += rows.size())
        steps[at] = static_cast<std::int32_t>(piece.first + n);
    }
  }
}

Resets::Resets(std::span<const std::uint8_t> mask, const Shape& batch, std::span<const std::int64_t> lengths)
    : lengths_(lengths.begin(), lengths.end()) {
  const std::int64_t rows = batch[0], steps = batch[1];
  if (std::ssize(mask) != rows * steps)
    throw unexpected({.op = "reset"}, Rule::shape, text_of(rows * steps, " numbers, one a step"),
                     text_of(mask.size()));
  if (std::ranges::none_of(mask, [](std::uint8_t begins) { return begins != 0; })) return;
  lengths_.resize(static_cast<std::size_t>(rows), steps);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint8_t* begins = mask.data() + row * steps;
    const std::int64_t length = lengths_[static_cast<std::size_t>(row)];
    for (std::int64_t first = 0; first < length;) {
      const std::int64_t next = std::find_if(begins + first + 1, begins + length, std::identity()) - begins;
      pieces_.push_back({row, first, next - first, first == 0 && begins[0] == 0, next == length});
      first = next;
    }
  }
  // Rows of like lengths are computed together.
  std::ranges::stable_sort(pieces_, std::greater(), &RowPiece::steps);
}

double Resets::share(const RowPiece& piece, ReadAt at) const {
  if (at == ReadAt::mean)
    return static_cast<double>(piece.steps) /
           static_cast<double>(lengths_[static_cast<std::size_t>(piece.row)]);
  return piece.ends ? 1 : 0;
}

Tensor Resets::of_rows(const Tensor& outputs, ReadAt at) const {
  if (reads_every_step(at)) return outputs;
  const std::int64_t width = outputs.size(1);
  Tensor rows({std::ssize(lengths_), width}, outputs.dtype());
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    for (std::int64_t j = 0, to = pieces_[p].row * width, from = static_cast<std::int64_t>(p) * width;
         j < width; ++j)
      rows.set(to + j, rows.at(to + j) + share(pieces_[p], at) * outputs.at(from + j));
  return rows;
}

Tensor Resets::of_pieces(const Tensor& gradient, ReadAt at) const {
  if (reads_every_step(at) || gradient.empty()) return gradient;
  const std::int64_t width = gradient.size(1);
  Tensor pieces({std::ssize(pieces_), width}, gradient.dtype());
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    for (std::int64_t j = 0, from = pieces_[p].row * width, to = static_cast<std::int64_t>(p) * width;
         j < width; ++j)
      pieces.set(to + j, share(pieces_[p], at) * gradient.at(from + j));
  return pieces;
}

StepProgram with_reset_column(const StepProgram& program, std::int64_t column) {
  return StepWithResetColumn(program, column).record();
}

}  // namespace lagtape
