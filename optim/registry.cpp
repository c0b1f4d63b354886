#include "lagtape/optim/registry.h"

#include <array>
#include <string>

#include "lagtape/optim/adam.h"
#include "lagtape/optim/rmsprop.h"
#include "lagtape/optim/sgd.h"

namespace lagtape {

namespace {

// ---- Optimizers ----

/// Reads the groups: [{"match": "layers.*.c", "lr_factor": 0.1}, ...]
std::vector<ParameterGroup> read_groups(JsonReader& reader) {
  std::vector<ParameterGroup> groups;
  Json filled = Json::array();
  const Json& given = reader.raw("groups",
                                 "learning rates of single parameters: a list of {\"match\": names, "
                                 "'*' for any characters, \"lr_factor\": factor on the learning rate}; "
                                 "the first match counts",
                                 R"(list of {"match": string, "lr_factor": number >= 0} | null)");
  if (!given.is_null() && !given.is_array()) {
    reader.error("groups", text_of("must be a list of objects. Got ", given.type_name(), "."));
  } else {
    for (std::size_t i = 0; i < given.size(); ++i) {
      ParameterGroup group;
      JsonReader entry(given[i], text_of(reader.pointer_to("groups"), "/", i), reader.errors());
      entry.required("match", group.match, "parameter names, '*' for any characters");
      entry.required("lr_factor", group.lr_factor, at_least(0), "factor on the learning rate");
      entry.finish();
      filled.push_back(entry.filled());
      groups.push_back(std::move(group));
    }
  }
  reader.fill("groups", std::move(filled));
  return groups;
}

OptimizerPlan read_sgd(JsonReader& reader) {
  OptimizerPlan plan{.lr = 0.01, .make = {}};
  SgdOptions options;
  reader.optional("lr", plan.lr, above(0), "learning rate");
  reader.optional("momentum", options.momentum, between(0, 1), "share of the velocity that an update keeps");
  reader.optional("weight_decay", options.weight_decay, at_least(0), "L2 penalty, added to the gradient");
  plan.make = [options, groups = read_groups(reader)](const Parameters& parameters) {
    return std::make_unique<Sgd>(parameters, options, groups);
  };
  return plan;
}

OptimizerPlan read_adam_options(JsonReader& reader, AdamOptions options, const std::string& about_decay) {
  OptimizerPlan plan{.lr = 0.001, .make = {}};
  reader.optional("lr", plan.lr, above(0), "learning rate");
  reader.optional("beta1", options.beta1, between(0, 0.999999), "decay of the mean of gradients");
  reader.optional("beta2", options.beta2, between(0, 0.999999), "decay of the mean of squares");
  reader.optional("eps", options.eps, above(0), "added to the root of the mean of squares");
  reader.optional("weight_decay", options.weight_decay, at_least(0), about_decay);
  plan.make = [options, groups = read_groups(reader)](const Parameters& parameters) {
    return std::make_unique<Adam>(parameters, options, groups);
  };
  return plan;
}

OptimizerPlan read_adam(JsonReader& reader) {
  return read_adam_options(reader, {}, "L2 penalty, added to the gradient");
}

OptimizerPlan read_adamw(JsonReader& reader) {
  return read_adam_options(reader, {.weight_decay = 0.01, .decoupled = true},
                           "each update shrinks a weight by this share times the learning rate");
}

OptimizerPlan read_rmsprop(JsonReader& reader) {
  OptimizerPlan plan{.lr = 0.01, .make = {}};
  RmspropOptions options;
  reader.optional("lr", plan.lr, above(0), "learning rate");
  reader.optional("alpha", options.alpha, between(0, 0.999999), "decay of the mean of squares");
  reader.optional("eps", options.eps, above(0), "added to the root of the mean of squares");
  reader.optional("weight_decay", options.weight_decay, at_least(0), "L2 penalty, added to the gradient");
  plan.make = [options, groups = read_groups(reader)](const Parameters& parameters) {
    return std::make_unique<Rmsprop>(parameters, options, groups);
  };
  return plan;
}

constexpr std::array kOptimizers = {
    OptimizerEntry{"adam", "adaptive steps from running means of gradients and their squares",
                   "Kingma and Ba 2015, arXiv:1412.6980", read_adam},
    OptimizerEntry{"adamw", "Adam with decoupled weight decay",
                   "Loshchilov and Hutter 2019, arXiv:1711.05101", read_adamw},
    OptimizerEntry{"rmsprop", "gradients divided by the root of their running mean square",
                   "Tieleman and Hinton 2012", read_rmsprop},
    OptimizerEntry{"sgd", "stochastic gradient descent, optionally with momentum",
                   "Polyak 1964, Sutskever et al. 2013", read_sgd},
};

// ---- Schedules ----

Schedule warmed_up(JsonReader& reader, Schedule schedule) {
  std::int64_t warmup = 0;
  reader.optional("warmup", warmup, at_least(0),
                  "number of updates over which the learning rate grows linearly");
  return with_warmup(std::move(schedule), warmup);
}

/// Reads a list of integers from 1 on, in ascending order.
std::vector<std::int64_t> read_marks(JsonReader& reader, const std::string& key, const std::string& about) {
  std::vector<std::int64_t> marks;
  const Json& given = reader.raw(key, about, "list of integer >= 1 | null");
  bool valid = given.is_null() || given.is_array();
  for (std::size_t i = 0; valid && i < given.size(); ++i) {
    valid = given[i].is_number_integer() && given[i].get<std::int64_t>() > (marks.empty() ? 0 : marks.back());
    if (valid) marks.push_back(given[i].get<std::int64_t>());
  }
  if (!valid)
    reader.error(key, text_of("must be a list of ascending integers from 1. Got ", given.dump(), "."));
  reader.fill(key, marks);
  return marks;
}

Schedule read_constant(JsonReader& reader) { return warmed_up(reader, constant_schedule()); }

Schedule read_step(JsonReader& reader) {
  double factor = 0.1;
  auto epochs =
      read_marks(reader, "epochs", "epochs after which the learning rate drops; [22]: from epoch 23 on");
  auto steps = read_marks(reader, "steps", "updates after which the learning rate drops");
  reader.optional("factor", factor, above(0), "factor on the learning rate at each drop");
  if (epochs.empty() && steps.empty()) reader.error("", "needs 'epochs' or 'steps' at which the rate drops.");
  return warmed_up(reader, step_schedule(std::move(epochs), std::move(steps), factor));
}

Schedule read_cosine(JsonReader& reader) {
  double floor = 0;
  reader.optional("floor", floor, between(0, 1), "factor on the learning rate at the end of the run");
  return warmed_up(reader, cosine_schedule(floor));
}

Schedule read_plateau(JsonReader& reader) {
  double factor = 0.5, floor = 0.001;
  std::int64_t patience = 10;
  reader.optional("patience", patience, at_least(1),
                  "number of evaluations in a row without a new best after which the learning rate drops");
  reader.optional("factor", factor, {.min = 0, .max = 1, .above_min = true},
                  "factor on the learning rate at each drop");
  reader.optional("floor", floor, between(0, 1), "smallest factor on the learning rate");
  return warmed_up(reader, plateau_schedule(factor, floor));
}

constexpr std::array kSchedules = {
    ScheduleEntry{"constant", "a constant learning rate", read_constant},
    ScheduleEntry{"step", "the learning rate drops by a factor after given epochs or updates", read_step},
    ScheduleEntry{
        "plateau",
        "the learning rate drops by a factor when evaluations on valid (without one, the training loss) "
        "have stopped getting better",
        read_plateau},
    ScheduleEntry{"cosine", "the learning rate falls along half a cosine over the whole run", read_cosine},
};

/// The entry that "type" names; without a `type` to fall back on, the key is required.
template <class Entries>
const auto* chosen(JsonReader& reader, const Entries& entries, const std::string& about,
                   std::string type = "") {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  if (type.empty()) {
    reader.required_choice("type", type, names, about);
  } else {
    reader.choice("type", type, names, about);
  }
  for (const auto& entry : entries) {
    if (entry.name == type) return &entry;
  }
  return static_cast<decltype(&entries[0])>(nullptr);
}

}  // namespace

std::span<const OptimizerEntry> optimizers() { return kOptimizers; }
std::span<const ScheduleEntry> schedules() { return kSchedules; }

OptimizerPlan read_optimizer(JsonReader& reader) {
  const OptimizerEntry* entry = chosen(reader, kOptimizers, "the optimizer");
  if (entry == nullptr) return {};
  OptimizerPlan plan = entry->read(reader);
  reader.finish();
  return plan;
}

Schedule read_schedule(JsonReader& reader) {
  const ScheduleEntry* entry =
      chosen(reader, kSchedules, "how the learning rate changes during the run", "constant");
  if (entry == nullptr) return {};
  Schedule schedule = entry->read(reader);
  reader.finish();
  return schedule;
}

}  // namespace lagtape
