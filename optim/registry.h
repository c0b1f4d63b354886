#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/optim/optimizer.h"
#include "lagtape/optim/schedule.h"

namespace lagtape {

/// An optimizer whose options were read: its learning rate, and how to make it for a model.
struct OptimizerPlan {
  double lr = 0;
  std::function<std::unique_ptr<Optimizer>(const Parameters&)> make;
};

/// One optimizer of the table. `read` reads its options (all but "type") and does not call `finish`.
struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  OptimizerPlan (*read)(JsonReader& reader);
};

/// One schedule of the table, in the same way.
struct ScheduleEntry {
  std::string_view name;
  std::string_view summary;
  Schedule (*read)(JsonReader& reader);
};

std::span<const OptimizerEntry> optimizers();
std::span<const ScheduleEntry> schedules();

/// Reads the experiment's `optimizer` or `schedule` object, "type" and the options of that type, and finishes
/// the reader. Errors are noted in the reader; with any, the result may be empty.
OptimizerPlan read_optimizer(JsonReader& reader);
Schedule read_schedule(JsonReader& reader);

}  // namespace lagtape
