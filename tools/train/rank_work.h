#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/ranks.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

/// Coordination of the ranks of a training run. The first one reads and writes the run folder; without ranks,
/// this process is the first.
class RankWork {
 public:
  explicit RankWork(Ranks* ranks) : ranks_(ranks) {}

  bool is_first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  /// Calls f on the first rank. If it throws, the other ranks throw InputError or Error too.
  template <class F>
  void on_first(F f) const;
  /// The first rank's value, for all.
  bool agreed(bool value) const;
  /// Throws InputError on every rank unless all have the same facts as the first; facts are hashes by name.
  void check_alike(const std::vector<std::pair<std::string, std::uint64_t>>& facts) const;
  /// Brings the other ranks' trainers to the state of the first one's.
  void share_state(Trainer& trainer) const;

 private:
  enum Outcome : std::uint8_t { done, wrong_input, failed };
  void tell(std::uint8_t& value) const;

  Ranks* ranks_;
};

template <class F>
void RankWork::on_first(F f) const {
  if (ranks_ == nullptr) return f();
  std::uint8_t outcome = done, rule = 0;
  std::exception_ptr failure;
  try {
    if (is_first()) f();
  } catch (const InputError& error) {
    outcome = wrong_input;
    rule = static_cast<std::uint8_t>(error.problems().front().rule);
    failure = std::current_exception();
  } catch (...) {
    outcome = failed;
    failure = std::current_exception();
  }
  tell(outcome);
  tell(rule);
  if (failure) std::rethrow_exception(failure);
  if (outcome == wrong_input)
    throw InputError({}, static_cast<Rule>(rule), "the first rank says what is wrong.");
  if (outcome == failed) throw Error("the first rank says what went wrong.");
}

}  // namespace lagtape
