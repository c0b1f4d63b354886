#include "lagtape/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lagtape {

Schedule constant_schedule() {
  return [](const Progress&) { return 1.0; };
}

Schedule step_schedule(std::vector<std::int64_t> epochs, std::vector<std::int64_t> steps, double factor) {
  return [epochs = std::move(epochs), steps = std::move(steps), factor](const Progress& at) {
    auto drops = std::count_if(epochs.begin(), epochs.end(), [&](std::int64_t e) { return at.epoch >= e; }) +
                 std::count_if(steps.begin(), steps.end(), [&](std::int64_t s) { return at.step >= s; });
    return std::pow(factor, static_cast<double>(drops));
  };
}

Schedule plateau_schedule(double factor, double floor) {
  return [factor, floor](const Progress& at) {
    return std::max(floor, std::pow(factor, static_cast<double>(at.plateaus)));
  };
}

Schedule cosine_schedule(double floor) {
  return [floor](const Progress& at) {
    double done = std::min(1.0, static_cast<double>(at.step) / static_cast<double>(at.steps));
    return floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  };
}

Schedule with_warmup(Schedule schedule, std::int64_t warmup) {
  if (warmup <= 0) return schedule;
  return [schedule = std::move(schedule), warmup](const Progress& at) {
    double grown = static_cast<double>(at.step + 1) / static_cast<double>(warmup);
    return schedule(at) * std::min(1.0, grown);
  };
}

bool depends_on_length(const Schedule& schedule, std::int64_t one, std::int64_t other) {
  const std::int64_t middle = (std::min(one, other) + 1) / 2;
  return schedule({.epoch = 0, .step = middle, .steps = one}) !=
         schedule({.epoch = 0, .step = middle, .steps = other});
}

}  // namespace lagtape
