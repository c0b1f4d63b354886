#include "lagtape/tools/train/score/accumulator.h"

namespace lagtape {

namespace {

void add_sums(Totals::Sums& sums, const Totals::Sums& more) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

template <class Each>
Each& grown(std::vector<Each>& rows, std::int64_t i) {
  if (std::ssize(rows) <= i) rows.resize(static_cast<std::size_t>(i) + 1);
  return rows[static_cast<std::size_t>(i)];
}

}  // namespace

void Totals::add(double first, double second, double third) { add_sums(sequence, {first, second, third}); }

Totals::Sums& Totals::row(std::int64_t i) { return grown(rows, i); }

void Totals::end_sequence() { add_sums(sums, std::exchange(sequence, {})); }

void Totals::merge(const Totals& other) {
  const auto& [unfinished, more, more_rows, more_ranks] = other;
  add_sums(sequence, unfinished);
  add_sums(sums, more);
  for (std::int64_t i = 0; i < std::ssize(more_rows); ++i)
    add_sums(row(i), more_rows[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < std::ssize(more_ranks); ++i) {
    const Ranks& of_class = more_ranks[static_cast<std::size_t>(i)];
    Ranks& own = grown(ranks, i);
    own.insert(own.end(), of_class.begin(), of_class.end());
  }
}

}  // namespace lagtape
