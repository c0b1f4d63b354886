#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace lagtape {

/// One scored number or class: a real target, or the class of a row of logits. Fields of the other kind are 0.
struct ScoredElement {
  double loss = 0;   ///< the training loss: of normalized numbers, or in nats
  double terms = 1;  ///< number of loss terms in it

  double error = 0, target = 0;        ///< in the user's units
  double from_mean = 0;                ///< the target minus the mean used to scale it
  double naive = 0, naive_square = 0;  ///< NaiveErrors of the target's series; 0 or NaN: none
  double pinball = 0, levels = 1;      ///< the sum over all levels, in the user's units, and their number
  double crps = 0;                     ///< continuous ranked probability score, in the user's units
  bool is_covered = false;             ///< between the lowest and the highest level
  std::int64_t column = 0;             ///< index of the target within a step

  std::int64_t actual = 0, predicted = 0;  ///< classes; 0 and 1 for one logit
  std::int64_t larger = 0;                 ///< number of logits above the class's
  double likelihood =
      0;  ///< negative log-likelihood of the class, or of the target in the user's units, in nats
  std::span<const double> odds =
      {};  ///< by class, the values that `odds_sum` divides into probabilities; or the logit
  double odds_sum = 1;

  bool is_logit() const { return odds.size() == 1; }
};

/// The sums of metrics over elements: three sums, three more by class or by column of the targets, and elements
/// in the order of their probability. A metric uses those that it needs; all are merged in one place.
struct Totals {
  using Sums = std::array<double, 3>;
  /// The probabilities of elements, and whether they belong to the class.
  using Ranks = std::vector<std::pair<double, bool>>;

  Sums sequence = {};  ///< sums of the current sequence, not yet in `sums`
  Sums sums = {};
  std::vector<Sums> rows = {};
  std::vector<Ranks> ranks = {};  ///< by class

  /// Adds to the sums of the sequence.
  void add(double first, double second = 0, double third = 0);
  /// The sums of a class or column.
  Sums& row(std::int64_t i);
  void end_sequence();
  void merge(const Totals& other);
};

/// One metric over a split. A sequence's elements are summed separately and added in split order, so the result
/// does not depend on batch size or threads.
class Accumulator {
 public:
  using Add = void (*)(Totals& totals, const ScoredElement& element);
  using Value = std::function<double(const Totals& totals)>;

  Accumulator(Add add, Value value) : add_(add), value_(std::move(value)) {}

  void add(const ScoredElement& element) { add_(totals_, element); }
  void end_sequence() { totals_.end_sequence(); }
  /// Adds the sequences of an accumulator of the same metric.
  void merge(const Accumulator& other) { totals_.merge(other.totals_); }
  /// NaN if the elements do not define one.
  double value() const { return value_(totals_); }

 private:
  Add add_;
  Value value_;
  Totals totals_;
};

}  // namespace lagtape
