#include "lagtape/tools/train/train_options.h"

#include <array>
#include <charconv>
#include <cmath>

#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {

namespace {

constexpr double kMost = 1e9;  // most epochs or steps: times the sequences of a set they can be counted
constexpr double kLargestBatch = 1 << 20;

constexpr Choices kPlans = {{"auto", MemoryPlan::automatic},
                            {"full", MemoryPlan::full},
                            {"states", MemoryPlan::states},
                            {"reversible", MemoryPlan::reversible},
                            {"checkpoint", MemoryPlan::checkpoint}};

// ---- Memory: a plan, or {"plan": "auto", "budget": "64MiB"} ----

/// A number of bytes, which is written as a text.
void read_budget(JsonReader& reader, const Option& option, MemoryOptions& memory) {
  const std::string key(option.key);
  reader.required(key, memory.size, option.about.data());
  if (const auto bytes = parse_bytes(memory.size)) {
    memory.budget = *bytes;
  } else if (reader.has(key) && reader.raw(key).is_string()) {
    reader.error(key, text_of("expected a size such as \"64MiB\", got \"", memory.size, "\""));
  }
}

Json budget_json(const Option&, const MemoryOptions& memory) {
  return memory.size.empty() ? Json(text_of(memory.budget)) : Json(memory.size);
}
Json budget_schema(const Option&) { return {{"type", "string"}}; }

constexpr OptionKindOf<MemoryOptions> kBudget =
    option_kind<MemoryOptions, read_budget, budget_json, budget_schema>();

constexpr Option kMemoryRows[] = {
    option<&MemoryOptions::plan>("plan", kPlans, "memory plan"),
    whole<MemoryOptions>("budget", kBudget,
                         "limit on the memory of the model's operations, such as \"64MiB\"")
        .needed(),
};

/// The given value as text if it is a number of bytes, otherwise empty.
std::string text_of_size(const Json& given) {
  const std::string text = given.is_string() ? given.get<std::string>() : given.dump();
  return parse_bytes(text) ? text : "";
}

void read_memory(JsonReader& reader, const Option& option, MemoryOptions& memory) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_object()) {
    JsonReader own(given, reader.pointer_to(key), reader.errors());
    read_options(own, kMemoryRows, memory);
    own.finish();
  } else if (const std::string size = text_of_size(given); !size.empty()) {
    reader.error(key, text_of("expected a plan, got a size. A budget is {\"budget\": \"", size,
                              "\"}, on the command line --set 'train.memory={\"budget\": \"", size, "\"}'"));
  } else if (given.is_string()) {
    const std::string name = given.get<std::string>();
    if (const auto plan = kPlans.value_of(name)) {
      memory.plan = static_cast<MemoryPlan>(*plan);
    } else {
      reader.error(key, unknown_name("plan", name, kPlans.names()));
    }
  } else if (!given.is_null()) {
    reader.error(key, text_of("expected the name of a plan or an object, got ", given.dump()));
  }
}

Json memory_json(const Option&, const MemoryOptions& memory) {
  return memory.budget > 0 ? json_of(kMemoryRows, memory) : Json(name_of(memory.plan));
}
Json memory_schema(const Option&) {
  return or_null(either_schema({Json{{"enum", kPlans.names()}}, schema_of_rows(kMemoryRows)}));
}

constexpr OptionKindOf<MemoryOptions> kMemory =
    option_kind<MemoryOptions, read_memory, memory_json, memory_schema>();

// ---- Averages ----

constexpr Option kAverageRows[] = {
    option<&AverageOptions::patience>("patience", between(0, kMost),
                                      "evaluations in a row without a new best on valid"),
    option<&AverageOptions::latest>("latest", between(0, kMost), "evaluations in all"),
};

void check_average(const AverageOptions& average, JsonReader& reader) {
  if (average.patience == 0 && average.latest == 0)
    reader.error("", "give patience, latest or both, above 0.");
}

constexpr OptionTable kAverage = checked<check_average>(kAverageRows);

// ---- Precision ----

constexpr Choices kPrecisions = {"f32", "f64", "bf16"};

void read_precision(JsonReader& reader, const Option& option, Precision& precision) {
  std::string name(name_of(precision));
  reader.choice(std::string(option.key), name, kPrecisions.names(), "");
  precision = precision_named(name);
}
Json precision_json(const Option&, const Precision& precision) { return name_of(precision); }
Json precision_schema(const Option&) { return {{"enum", kPrecisions.names()}}; }

constexpr OptionKindOf<Precision> kPrecision =
    option_kind<Precision, read_precision, precision_json, precision_schema>();

// ---- All ----

constexpr std::string_view kNoSteps =
    "a task with a fixed training set counts train.epochs and is evaluated after each.";

constexpr Option kTrainRows[] = {
    option<&TrainOptions::steps>("steps", between(1, kMost), "number of updates in the run")
        .when<&TrainOptions::fresh>(kNoSteps)
        .with_effect(Effect::course),
    option<&TrainOptions::evaluate_every>(
        "evaluate_every", between(1, kMost),
        "number of updates between evaluations; the first evaluation follows update 1")
        .when<&TrainOptions::fresh>(kNoSteps),
    option<&TrainOptions::epochs>("epochs", between(1, kMost), "number of passes over the training set")
        .unless<&TrainOptions::fresh>("a task with fresh data has no epochs; give train.steps.")
        .with_effect(Effect::course),
    option<&TrainOptions::batch>("batch", between(1, kLargestBatch), "number of sequences per update"),
    option<&TrainOptions::accumulate>("accumulate", between(1, kLargestBatch),
                                      "number of batches whose gradients make one update"),
    option<&TrainOptions::balanced>(
        "sampling", Choices{{"uniform", false}, {"balanced", true}},
        "sequences of an epoch: each once, or drawn so that all classes are equally likely"),
    option<&TrainOptions::length_buckets>(
        "length_buckets", "put sequences of similar lengths into a batch, which saves padding"),
    option<&TrainOptions::memory>(
        "memory", kMemory,
        R"(memory plan of training, alone or with a limit: {"plan": "auto", "budget": "64MiB"})")
        .with_effect(Effect::course),
    option<&TrainOptions::truncate>(
        "truncate", at_least(0),
        "truncated BPTT: number of steps after which there is an update, with the states carried over; for "
        "sequences that are read once, at their end, number of last steps with gradients; 0: whole "
        "sequences"),
    option<&TrainOptions::clip>("clip", at_least(0), "largest global norm of the gradients; 0: no clipping"),
    option<&TrainOptions::skip_not_finite>("not_finite", Choices{{"stop", false}, {"skip", true}},
                                           "treatment of a batch whose loss or gradient is not finite or too "
                                           "large to square: the run ends, or continues without that update"),
    option<&TrainOptions::precision>(
        "precision", kPrecision,
        "precision of parameters and arithmetic; bf16: f32, with the operands of the layers' matrix products "
        "rounded to bf16"),
    option<&TrainOptions::keep_best>(
        "keep", Choices{{"best", true}, {"last", false}},
        "which state is kept: the best on valid by the first metric, or the last"),
    option<&TrainOptions::evaluate_test>(
        "evaluate_test",
        "whether each evaluation also scores test, for a curve; the kept state does not depend on it")
        .with_effect(Effect::reports),
    option<&TrainOptions::weight_norms>(
        "weight_norms", "whether each evaluation also notes the 2-norm of every parameter, for curves")
        .with_effect(Effect::reports),
    option<&TrainOptions::patience>(
        "patience", between(0, kMost),
        "number of evaluations in a row without a new best on valid after which the run ends; 0: never"),
    option<&TrainOptions::average>(
        "average", kAverage,
        "averaged SGD: from some evaluation on, the mean of the weights after every update is evaluated and "
        R"(kept. {"patience": 25, "latest": 400} begins the mean after 25 evaluations in a row without a )"
        "new best on valid, or after evaluation 400 if that comes first; 0 turns either condition off")
        .open(),
    option<&TrainOptions::warmup>(
        "warmup", between(0, kMost),
        "number of first steps of each sequence that count in neither loss nor metrics"),
    option<&TrainOptions::init>(
        "init",
        "a run folder or weights file, relative to the experiment file: parameters of the same name and "
        "shape begin with its values; \"\": all are drawn"),
    option<&TrainOptions::overfit>(
        "overfit", between(0, kMost),
        "train and score on so many batches alone, which a model without errors can overfit; 0: all data"),
};

void check_train(const TrainOptions& options, JsonReader& reader) {
  if (options.fresh && options.overfit > 0)
    reader.error("overfit", "a task with fresh data has no batches to repeat; give 0.");
  if (options.accumulate > 1 && options.truncate > 0)
    reader.error("accumulate", "truncated BPTT makes an update for each stretch of steps; give 1.");
}

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number <= 0) return std::nullopt;
  std::string_view unit(end, text.data() + text.size() - end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {
      {{"", 1},
       {"B", 1},
       {"kB", 1e3},
       {"MB", 1e6},
       {"GB", 1e9},
       {"KiB", 1024.0},
       {"MiB", 1024.0 * 1024},
       {"GiB", 1024.0 * 1024 * 1024},
       {"TiB", 1024.0 * 1024 * 1024 * 1024}}};
  for (const auto& [name, factor] : kUnits) {
    const double bytes = number * factor;
    if (name == unit && bytes >= 1 && bytes < 9e18) return static_cast<std::int64_t>(bytes);
  }
  return std::nullopt;
}

constinit const OptionTable kTrainOptions = checked<check_train>(kTrainRows);

TrainOptions read_train_options(JsonReader& reader, bool fresh) {
  TrainOptions options{.fresh = fresh};
  read_options(reader, kTrainOptions, options);
  reader.finish();
  return options;
}

}  // namespace lagtape
