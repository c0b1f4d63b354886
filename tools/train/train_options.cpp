#include "lagtape/tools/train/train_options.h"

#include <array>
#include <charconv>
#include <cmath>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

namespace {

constexpr double kMost = 1e9;  // most epochs or steps: times the sequences of a set they can be counted
constexpr double kLargestBatch = 1 << 20;

constexpr std::array kPlans = {MemoryPlan::automatic, MemoryPlan::full, MemoryPlan::states,
                               MemoryPlan::reversible, MemoryPlan::checkpoint};

std::vector<std::string> plan_names() {
  std::vector<std::string> names;
  for (const MemoryPlan plan : kPlans) names.emplace_back(name_of(plan));
  return names;
}

/// The type of `memory`, as the list of options gives it.
std::string memory_type() {
  std::string type;
  for (const std::string& name : plan_names()) type += text_of('"', name, "\" | ");
  return text_of(type, "{\"plan\"?: ", type.substr(0, type.size() - 3), ", \"budget\": string} | null");
}

std::optional<MemoryPlan> plan_named(const std::string& name) {
  for (const MemoryPlan plan : kPlans) {
    if (name_of(plan) == name) return plan;
  }
  return std::nullopt;
}

/// The given value as text if it is a number of bytes, otherwise empty.
std::string text_of_size(const Json& given) {
  const std::string text = given.is_string() ? given.get<std::string>() : given.dump();
  return parse_bytes(text) ? text : "";
}

/// Reads "auto" or {"plan": "auto", "budget": "64MiB"}.
void read_memory(JsonReader& reader, TrainOptions& options) {
  const Json& given = reader.raw(
      "memory", R"(memory plan of training, alone or with a limit: {"plan": "auto", "budget": "64MiB"})",
      memory_type(), R"("auto")");
  std::string plan = "auto";
  if (given.is_object()) {
    std::string budget;
    JsonReader memory(given, reader.pointer_to("memory"), reader.errors());
    memory.choice("plan", plan, plan_names(), "memory plan");
    memory.required("budget", budget, "limit on the memory of the model's operations, such as \"64MiB\"");
    if (const auto bytes = parse_bytes(budget)) {
      options.budget = *bytes;
    } else if (memory.has("budget") && given["budget"].is_string()) {
      memory.error("budget", text_of("expected a size such as \"64MiB\", got \"", budget, "\""));
    }
    memory.finish();
    reader.fill("memory", memory.filled());
  } else if (const std::string size = text_of_size(given); !size.empty()) {
    reader.error("memory",
                 text_of("expected a plan, got a size. A budget is {\"budget\": \"", size,
                         "\"}, on the command line --set 'train.memory={\"budget\": \"", size, "\"}'"));
  } else if (given.is_null() || given.is_string()) {
    plan = given.is_string() ? given.get<std::string>() : plan;
    if (!plan_named(plan)) reader.error("memory", unknown_name("plan", plan, plan_names()));
    reader.fill("memory", plan);
  } else {
    reader.error("memory", text_of("expected the name of a plan or an object, got ", given.dump()));
  }
  options.plan = plan_named(plan).value_or(MemoryPlan::automatic);
}

/// Reads {"patience": 25, "latest": 400}; without it there is no average.
void read_average(JsonReader& reader, TrainOptions& options) {
  const Json& given = reader.raw(
      "average",
      "averaged SGD: from some evaluation on, the mean of the weights after every update is evaluated and "
      R"(kept. {"patience": 25, "latest": 400} begins the mean after 25 evaluations in a row without a )"
      "new best on valid, or after evaluation 400 if that comes first; 0 turns either condition off",
      text_of(R"({"patience"?: integer >= 0 and <= )", static_cast<std::int64_t>(kMost),
              R"(, "latest"?: integer >= 0 and <= )", static_cast<std::int64_t>(kMost), "} | null"));
  if (given.is_null()) return;
  AverageOptions& average = options.average.emplace();
  JsonReader own(given, reader.pointer_to("average"), reader.errors());
  own.optional("patience", average.patience, between(0, kMost),
               "evaluations in a row without a new best on valid");
  own.optional("latest", average.latest, between(0, kMost), "evaluations in all");
  own.finish();
  if (own.is_object() && average.patience == 0 && average.latest == 0)
    own.error("", "give patience, latest or both, above 0.");
  reader.fill("average", own.filled());
}

void read_sampling(JsonReader& reader, TrainOptions& options) {
  std::string sampling = "uniform";
  reader.choice("sampling", sampling, {"uniform", "balanced"},
                "sequences of an epoch: each once, or drawn so that all classes are equally likely");
  options.balanced = sampling == "balanced";
  reader.optional("length_buckets", options.length_buckets,
                  "put sequences of similar lengths into a batch, which saves padding");
}

void read_length(JsonReader& reader, TrainOptions& options, bool fresh) {
  if (fresh) {
    reader.optional("steps", options.steps, between(1, kMost), "number of updates in the run");
    reader.optional("evaluate_every", options.evaluate_every, between(1, kMost),
                    "number of updates between evaluations; the first evaluation follows update 1");
    if (reader.has("epochs")) {
      reader.raw("epochs", "");
      reader.error("epochs", "a task with fresh data has no epochs; give train.steps.");
    }
  } else {
    reader.optional("epochs", options.epochs, between(1, kMost), "number of passes over the training set");
    for (const char* key : {"steps", "evaluate_every"}) {
      if (!reader.has(key)) continue;
      reader.raw(key, "");
      reader.error(key, "a task with a fixed training set counts train.epochs and is evaluated after each.");
    }
  }
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

TrainOptions read_train_options(JsonReader& reader, bool fresh) {
  TrainOptions options;
  read_length(reader, options, fresh);
  reader.optional("batch", options.batch, between(1, kLargestBatch), "number of sequences per update");
  reader.optional("accumulate", options.accumulate, between(1, kLargestBatch),
                  "number of batches whose gradients make one update");
  read_sampling(reader, options);
  read_memory(reader, options);
  reader.optional(
      "truncate", options.truncate, at_least(0),
      "truncated BPTT: number of steps after which there is an update, with the states carried over; for "
      "sequences that are read once, at their end, number of last steps with gradients; 0: whole sequences");
  reader.optional("clip", options.clip, at_least(0), "largest global norm of the gradients; 0: no clipping");
  std::string not_finite = "stop";
  reader.choice("not_finite", not_finite, {"stop", "skip"},
                "treatment of a batch whose loss or gradient is not finite or too large to square: the "
                "run ends, or goes on without that update");
  options.skip_not_finite = not_finite == "skip";
  std::string precision(name_of(options.precision));
  reader.choice("precision", precision, {"f32", "f64", "bf16"},
                "precision of parameters and arithmetic; bf16: f32, with the operands of the layers' matrix "
                "products rounded to bf16");
  options.precision = precision_named(precision);
  std::string keep = "best";
  reader.choice("keep", keep, {"best", "last"},
                "which state is kept: the best on valid by the first metric, or the last");
  options.keep_best = keep == "best";
  reader.optional(
      "evaluate_test", options.evaluate_test,
      "whether each evaluation also scores test, for a curve; what is kept does not depend on it");
  reader.optional("weight_norms", options.weight_norms,
                  "whether each evaluation also notes the 2-norm of every parameter, for curves");
  reader.optional(
      "patience", options.patience, between(0, kMost),
      "number of evaluations in a row without a new best on valid after which the run ends; 0: never");
  read_average(reader, options);
  reader.optional("warmup", options.warmup, between(0, kMost),
                  "number of first steps of each sequence that count in neither loss nor metrics");
  reader.optional(
      "init", options.init,
      "a run folder or weights file, relative to the experiment file: parameters of the same name and "
      "shape begin with its values; \"\": all are drawn");
  reader.optional(
      "overfit", options.overfit, between(0, kMost),
      "train and score on so many batches alone, which a model without errors learns by heart; 0: all data");
  if (fresh && options.overfit > 0)
    reader.error("overfit", "a task with fresh data has no batches to repeat; give 0.");
  if (options.accumulate > 1 && options.truncate > 0)
    reader.error("accumulate", "truncated BPTT makes an update for each stretch of steps; give 1.");
  reader.finish();
  return options;
}

}  // namespace lagtape
