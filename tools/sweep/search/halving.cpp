#include "lagtape/tools/sweep/search/halving.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lagtape/core/error.h"

namespace lagtape::search {

using sweep::Score;

namespace {

std::string after(std::int64_t evaluations) {
  return text_of("after ", evaluations, evaluations == 1 ? " evaluation " : " evaluations ");
}

}  // namespace

const Score* Halving::score_after(const Trial& trial, std::int64_t evaluations) {
  std::vector<Score>& scores = scores_[trial.row];
  if (std::ssize(scores) < evaluations) scores = best_so_far(trial, plan_);
  return std::ssize(scores) < evaluations ? nullptr : &scores[static_cast<std::size_t>(evaluations) - 1];
}

std::string Halving::verdict(const Trial& trial, const std::vector<Trial>& all) {
  std::int64_t& judged = judged_[trial.row];
  const std::int64_t rung = judged == 0 ? plan_.halving.first : judged * plan_.halving.factor;
  const Score* own = score_after(trial, rung);
  if (own == nullptr) return "";
  judged = rung;
  std::int64_t others = 0, better = 0;
  for (const Trial& other : all) {
    const Score* score = other.row == trial.row ? nullptr : score_after(other, rung);
    if (score == nullptr) continue;
    ++others;
    if (is_better(plan_, *score, *own)) ++better;
  }
  const std::int64_t places = (others + 1) / plan_.halving.factor;
  if (places == 0 || better < places) return "";
  return text_of(after(rung), better, " of ", others, " other runs were better");
}

std::string first_rung_note(const SearchPlan& plan, const std::vector<Trial>& trials) {
  if (plan.method != Method::halving) return "";
  std::vector<Score> scores;
  for (const Trial& trial : trials)
    if (trial.evaluations >= plan.halving.first)
      scores.push_back(best_so_far(trial, plan)[static_cast<std::size_t>(plan.halving.first) - 1]);
  const auto same = [&](const double Score::*number) {
    return std::ranges::all_of(scores, [&](const Score& score) {
      const double own = score.*number, first = scores.front().*number;
      return own == first || (std::isnan(own) && std::isnan(first));
    });
  };
  if (std::ssize(scores) < plan.halving.factor || !same(&Score::value)) return "";
  const bool by_loss = plan.metric != "loss" && !same(&Score::loss);
  return text_of(after(plan.halving.first), "all ", scores.size(), " runs had the same ", plan.metric,
                 ": the first rung ", by_loss ? "compared their losses alone" : "decided nothing",
                 ". A larger \"first\" of \"halving\" would tell them apart better");
}

}  // namespace lagtape::search
