#pragma once

#include <span>
#include <string_view>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/optim/optimizer.h"
#include "lagtape/optim/schedule.h"

namespace lagtape {

/// One optimizer of the table. `read` reads its options (all but "type") and does not call `finish`.
struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  OptimizerPlan (*read)(JsonReader& reader);
};

/// One schedule of the table, likewise.
struct ScheduleEntry {
  std::string_view name;
  std::string_view summary;
  SchedulePlan (*read)(JsonReader& reader);
};

std::span<const OptimizerEntry> optimizers();
std::span<const ScheduleEntry> schedules();

/// Reads the experiment's `optimizer` or `schedule` object, "type" and the options of that type, and finishes
/// the reader. Errors are noted in the reader; if there are any, the result may be empty.
OptimizerPlan read_optimizer(JsonReader& reader);
SchedulePlan read_schedule(JsonReader& reader);

}  // namespace lagtape
