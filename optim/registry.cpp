#include "lagtape/optim/registry.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lagtape/core/json/options.h"
#include "lagtape/optim/adam.h"
#include "lagtape/optim/ridge.h"
#include "lagtape/optim/rmsprop.h"
#include "lagtape/optim/sgd.h"

namespace lagtape {

namespace {

// ---- Optimizers ----

constexpr Option kGroupRows[] = {
    required<&ParameterGroup::match>("match", "parameter names, '*' for any characters"),
    required<&ParameterGroup::lr_factor>("lr_factor", at_least(0), "factor on the learning rate"),
};

constexpr OptionTable kGroup = kGroupRows;

/// The options that every optimizer has, before and behind its own.
struct SharedOptions {
  double lr;
  std::vector<ParameterGroup> groups = {};
};

constexpr Option kLr[] = {option<&SharedOptions::lr>("lr", above(0), "learning rate")};
constexpr Option kGroups[] = {
    option<&SharedOptions::groups>(
        "groups", kGroup,
        "learning rates of single parameters: a list of {\"match\": names, '*' for "
        "any characters, \"lr_factor\": factor on the learning rate}; the first "
        "match counts"),
};

constexpr std::string_view kPenalty = "L2 penalty, added to the gradient";
constexpr Range kDecay = between(0, 0.999999);

constexpr Option kSgd[] = {
    option<&SgdOptions::momentum>("momentum", between(0, 1), "share of the velocity that an update keeps"),
    option<&SgdOptions::weight_decay>("weight_decay", at_least(0), kPenalty),
};
constexpr Option kAdam[] = {
    option<&AdamOptions::beta1>("beta1", kDecay, "decay of the mean of gradients"),
    option<&AdamOptions::beta2>("beta2", kDecay, "decay of the mean of squares"),
    option<&AdamOptions::eps>("eps", above(0), "added to the root of the mean of squares"),
    option<&AdamOptions::weight_decay>("weight_decay", at_least(0), kPenalty)
        .unless<&AdamOptions::decoupled>(),
    option<&AdamOptions::weight_decay>("weight_decay", at_least(0),
                                       "each update shrinks a weight by this share times the learning rate")
        .when<&AdamOptions::decoupled>(),
};
constexpr Option kRmsprop[] = {
    option<&RmspropOptions::alpha>("alpha", kDecay, "decay of the mean of squares"),
    option<&RmspropOptions::eps>("eps", above(0), "added to the root of the mean of squares"),
    option<&RmspropOptions::weight_decay>("weight_decay", at_least(0), kPenalty),
};

constexpr Option kRidge[] = {
    option<&RidgeOptions::alpha>("alpha", at_least(0), "penalty of the sum of the squared weights"),
};

template <class Made, class Own>
OptimizerPlan read_plan(JsonReader& reader, const OptionTable& table, double lr, Own own) {
  SharedOptions shared{.lr = lr};
  read_options(reader, kLr, shared);
  read_options(reader, table, own);
  read_options(reader, kGroups, shared);
  return {.lr = shared.lr, .make = [own, groups = shared.groups](const Parameters& parameters) {
            return std::make_unique<Made>(parameters, own, groups);
          }};
}

constexpr OptimizerEntry kOptimizers[] = {
    {"adam", "adaptive steps from running means of gradients and their squares",
     "Kingma and Ba 2015, arXiv:1412.6980",
     [](JsonReader& reader) { return read_plan<Adam>(reader, kAdam, 0.001, AdamOptions()); }},
    {"adamw", "Adam with decoupled weight decay", "Loshchilov and Hutter 2019, arXiv:1711.05101",
     [](JsonReader& reader) {
       return read_plan<Adam>(reader, kAdam, 0.001, AdamOptions{.weight_decay = 0.01, .decoupled = true});
     }},
    {"ridge", "the best linear read-out, solved exactly in one pass; all else keeps its first values",
     "Hoerl and Kennard 1970; for reservoirs: Lukosevicius 2012",
     [](JsonReader& reader) {
       RidgeOptions own;
       read_options(reader, kRidge, own);
       return OptimizerPlan{.lr = 1, .make = [own](const Parameters& parameters) {
                              return std::make_unique<Ridge>(parameters, own);
                            }};
     }},
    {"rmsprop", "gradients divided by the root of their running mean square", "Tieleman and Hinton 2012",
     [](JsonReader& reader) { return read_plan<Rmsprop>(reader, kRmsprop, 0.01, RmspropOptions()); }},
    {"sgd", "stochastic gradient descent, optionally with momentum", "Polyak 1964, Sutskever et al. 2013",
     [](JsonReader& reader) { return read_plan<Sgd>(reader, kSgd, 0.01, SgdOptions()); }},
};

// ---- Schedules ----

struct ScheduleOptions {
  std::vector<std::int64_t> epochs = {}, steps = {};
  double factor = 1, floor = 0;
  std::int64_t patience = 0, warmup = 0;
};

constexpr Option kWarmup = option<&ScheduleOptions::warmup>(
    "warmup", at_least(0), "number of updates over which the learning rate grows linearly");

constexpr Option kConstant[] = {kWarmup};
constexpr Option kStep[] = {
    option<&ScheduleOptions::epochs>("epochs", at_least(1),
                                     "epochs after which the learning rate drops; [22]: from epoch 23 on"),
    option<&ScheduleOptions::steps>("steps", at_least(1), "updates after which the learning rate drops"),
    option<&ScheduleOptions::factor>("factor", above(0), "factor on the learning rate at each drop"),
    kWarmup,
};
constexpr Option kCosine[] = {
    option<&ScheduleOptions::floor>("floor", between(0, 1),
                                    "factor on the learning rate at the end of the run"),
    kWarmup,
};
constexpr Option kPlateau[] = {
    option<&ScheduleOptions::patience>(
        "patience", at_least(1),
        "number of evaluations in a row without a new best after which the learning rate drops"),
    option<&ScheduleOptions::factor>("factor", {.min = 0, .max = 1, .above_min = true},
                                     "factor on the learning rate at each drop"),
    option<&ScheduleOptions::floor>("floor", between(0, 1), "smallest factor on the learning rate"),
    kWarmup,
};

void check_step(const ScheduleOptions& options, JsonReader& reader) {
  for (const auto& [key, marks] : {std::pair{"epochs", &options.epochs}, {"steps", &options.steps}})
    if (std::ranges::adjacent_find(*marks, std::ranges::greater_equal()) != marks->end())
      reader.error(key,
                   text_of("must be a list of ascending integers from 1. Got ", Json(*marks).dump(), "."));
  const bool is_given = reader.has("epochs") || reader.has("steps");
  if (options.epochs.empty() && options.steps.empty() && (!is_given || reader.errors().empty()))
    reader.error("", "needs 'epochs' or 'steps' at which the rate drops.");
}

/// The schedule of the options, read over their defaults, with its warm-up.
SchedulePlan read(JsonReader& reader, const OptionTable& table, ScheduleOptions options,
                  Schedule (*make)(const ScheduleOptions& options)) {
  read_options(reader, table, options);
  return {.factor = with_warmup(make(options), options.warmup), .patience = options.patience};
}

SchedulePlan read_constant(JsonReader& reader) {
  return read(reader, kConstant, {}, [](const ScheduleOptions&) { return constant_schedule(); });
}
SchedulePlan read_step(JsonReader& reader) {
  return read(reader, checked<check_step>(kStep), {.factor = 0.1}, [](const ScheduleOptions& options) {
    return step_schedule(options.epochs, options.steps, options.factor);
  });
}
SchedulePlan read_cosine(JsonReader& reader) {
  return read(reader, kCosine, {},
              [](const ScheduleOptions& options) { return cosine_schedule(options.floor); });
}
SchedulePlan read_plateau(JsonReader& reader) {
  return read(reader, kPlateau, {.factor = 0.5, .floor = 0.001, .patience = 10},
              [](const ScheduleOptions& options) { return plateau_schedule(options.factor, options.floor); });
}

constexpr ScheduleEntry kSchedules[] = {
    {"constant", "a constant learning rate", read_constant},
    {"step", "the learning rate drops by a factor after given epochs or updates", read_step},
    {"plateau",
     "the learning rate drops by a factor when evaluations on valid (without one, the training loss) have "
     "stopped getting better",
     read_plateau},
    {"cosine", "the learning rate falls along half a cosine over the whole run", read_cosine},
};

}  // namespace

std::span<const OptimizerEntry> optimizers() { return kOptimizers; }
std::span<const ScheduleEntry> schedules() { return kSchedules; }

OptimizerPlan read_optimizer(JsonReader& reader) {
  if (reader.raw("type") == "levenberg_marquardt") {
    reader.error("type",
                 "levenberg_marquardt is the optimizer of `lagtape fit`, which takes this file as it is; "
                 "training needs another one, such as adam.");
    return {};
  }
  const OptimizerEntry* entry = read_chosen(reader, "type", kOptimizers, "the optimizer");
  if (entry == nullptr) return {};
  OptimizerPlan plan = entry->read(reader);
  reader.finish();
  return plan;
}

SchedulePlan read_schedule(JsonReader& reader) {
  const ScheduleEntry* entry =
      read_chosen(reader, "type", kSchedules, "how the learning rate changes during the run", "constant");
  if (entry == nullptr) return {};
  SchedulePlan schedule = entry->read(reader);
  reader.finish();
  return schedule;
}

}  // namespace lagtape
