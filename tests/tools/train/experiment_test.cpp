#include "lagtape/tools/train/experiment.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "lagtape/core/json/json_reader.h"

using namespace lagtape;

namespace {

constexpr const char* kSmall = R"({
  "name": "small",
  "data": { "task": "mackey_glass", "length": 50, "train": 6, "valid": 2, "test": 2 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 4, "tau": 3 } ] },
  "optimizer": { "type": "adam" } })";

constexpr const char* kFresh = R"({
  "name": "fresh",
  "data": { "task": "adding", "length": 20 },
  "model": { "layers": [ { "cell": "lstm", "units": 4 } ] } })";

constexpr const char* kClasses = R"({
  "name": "classes",
  "data": { "task": "random", "length": 9, "input": 2, "classes": 3, "every_step": false },
  "model": { "layers": [ { "cell": "lstm", "units": 4 } ] } })";

Experiment parse(const char* text, const std::vector<std::string>& set = {}) {
  return parse_experiment(text, "file.json", "/folder", set);
}

Json filled(const char* text, const std::vector<std::string>& set = {}) { return *parse(text, set).document; }

std::string message(const char* text, const std::vector<std::string>& set = {}) {
  try {
    parse(text, set);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every default is filled in") {
  const Json json = filled(kSmall);
  CHECK(json["seed"] == 0);
  CHECK(json["loss"] == "mse");
  CHECK(json["metrics"] == Json::array());
  CHECK(json["model"]["readout"]["units"] == 1);
  CHECK(json["model"]["readout"]["at"] == "every_step");
  CHECK(json["model"]["layers"][0]["alpha"] == 1);
  CHECK(json["optimizer"]["type"] == "adam");
  CHECK(json["optimizer"]["beta2"] == 0.999);
  CHECK(json["schedule"]["type"] == "constant");
  CHECK(json["train"]["precision"] == "f32");
  CHECK(json["train"]["memory"] == "auto");
  CHECK(json["train"]["keep"] == "best");
  CHECK(json["train"]["clip"] == 0);
  CHECK_FALSE(json["train"].contains("steps"));
}

TEST_CASE("a filled-in file reads back to itself") {
  const std::vector<std::vector<std::string>> changes = {
      {},
      {"train.memory={\"plan\": \"states\", \"budget\": \"64MiB\"}"},
      {"train.precision=f64", "train.clip=1.5", "seed=12", "train.keep=last"},
      {"train.average={\"patience\": 25, \"latest\": 400}"},
      {"train.average=null"},
      {"optimizer={\"type\": \"sgd\", \"momentum\": 0.9}", "schedule={\"type\": \"cosine\"}"}};
  for (const char* text : {kSmall, kFresh, kClasses}) {
    for (const auto& change : changes) {
      const std::string once = parse(text, change).json();
      CHECK(parse(once.c_str()).json() == once);
    }
  }
}

TEST_CASE("the options of train get where they belong") {
  const Experiment experiment =
      parse(kSmall,
            {"train.epochs=7", "train.batch=3", "train.truncate=16", "train.clip=2.5", "train.precision=f64",
             "train.keep=last", "train.memory={\"plan\": \"states\", \"budget\": \"1.5 MiB\"}", "seed=9"});
  CHECK(experiment.train.epochs == 7);
  CHECK(experiment.train.batch == 3);
  CHECK(experiment.train.truncate == 16);
  CHECK(experiment.train.clip == 2.5);
  CHECK(experiment.train.precision == Dtype::f64);
  CHECK_FALSE(experiment.train.keep_best);
  CHECK(experiment.train.memory.plan == MemoryPlan::states);
  CHECK(experiment.train.memory.budget == 1572864);
  CHECK(experiment.seed == 9);
  CHECK(parse(kSmall, {"train.memory=full"}).train.memory.plan == MemoryPlan::full);
}

TEST_CASE("there is an average of weights where the file has one") {
  CHECK_FALSE(parse(kSmall).train.average.has_value());
  CHECK_FALSE(filled(kSmall)["train"].contains("average"));
  const Experiment experiment = parse(kSmall, {R"(train.average={"patience": 25, "latest": 400})"});
  CHECK(experiment.train.average->patience == 25);
  CHECK(experiment.train.average->latest == 400);
  CHECK(filled(kSmall, {R"(train.average={"latest": 7})"})["train"]["average"].dump() ==
        R"({"patience":0,"latest":7})");
}

TEST_CASE("a fresh task counts steps, another epochs") {
  const Experiment fresh = parse(kFresh, {"train.steps=30", "train.evaluate_every=10"});
  CHECK(fresh.data.fresh);
  CHECK(fresh.train.steps == 30);
  CHECK(fresh.train.evaluate_every == 10);
  CHECK(parse(kFresh).train.evaluate_every == 100);
  CHECK(message(kFresh, {"train.epochs=3"}) ==
        "file.json: /train/epochs: a task with fresh data has no epochs; give train.steps.");
  CHECK(message(kSmall, {"train.steps=3"})
            .find("/train/steps: a task with a fixed training set counts train.epochs") != std::string::npos);
}

TEST_CASE("the loss goes with the targets") {
  CHECK(parse(kClasses).loss == Loss::cross_entropy);
  CHECK(parse(kClasses).metrics == std::vector<std::string>{"accuracy"});
  CHECK(message(kClasses, {"loss=mse"}) ==
        "file.json: /loss: mse needs real targets. The data have 3 classes a target.");
  CHECK(message(kSmall, {"loss=cross_entropy"}) ==
        "file.json: /loss: cross_entropy needs classes. The data have 1 real numbers a target.");
  CHECK(parse(kClasses, {"data.classes=2", "loss=binary_cross_entropy"}).loss == Loss::binary_cross_entropy);
  CHECK(filled(kClasses, {"data.classes=2", "loss=binary_cross_entropy"})["model"]["readout"]["units"] == 1);
  CHECK(message(kSmall, {"metrics=[\"accuracy\"]"}) ==
        "file.json: /metrics/0: the metric accuracy does not go with the loss mse.");
}

TEST_CASE("one message names each mistake, its place and the nearest name") {
  const struct {
    const char *set, *pointer, *words;
  } table[] = {
      {"trian.epochs=3", "/trian", "train"},
      {"train.epoch=3", "/train/epoch", "did you mean 'epochs'"},
      {"train.epochs=ten", "/train/epochs", "expected integer"},
      {"train.epochs=0", "/train/epochs", "0"},
      {"train.memory=ful", "/train/memory", "did you mean 'full'"},
      {"train.memory=3", "/train/memory", "3"},
      {"train.memory=600KiB", "/train/memory", "--set 'train.memory={\"budget\": \"600KiB\"}'"},
      {"train.memory=true", "/train/memory", "true"},
      {"train.memory={\"plan\": \"auto\", \"budget\": \"much\"}", "/train/memory/budget", "64MiB"},
      {"train.memory={\"plan\": \"auto\"}", "/train/memory/budget", "missing"},
      {"train.precision=f16", "/train/precision", "f32"},
      {"train.keep=bset", "/train/keep", "did you mean 'best'"},
      {"train.average=3", "/train/average", "object"},
      {"train.average={}", "/train/average", "patience, latest or both"},
      {"train.average={\"patience\": 0, \"latest\": 0}", "/train/average", "patience, latest or both"},
      {"train.average={\"patience\": -1}", "/train/average/patience", "-1"},
      {"train.average={\"latest\": 2.5}", "/train/average/latest", "expected integer"},
      {"train.average={\"late\": 2}", "/train/average/late", "did you mean 'latest'"},
      {"train.batch=0", "/train/batch", "0"},
      {"train.clip=-1", "/train/clip", "-1"},
      {"train.not_finite=skp", "/train/not_finite", "skip"},
      {"name=a/b", "/name", "a/b"},
      {"name=..", "/name", ".."},
      {"name=3", "/name", "3"},
      {"seed=-1", "/seed", "-1"},
      {"loss=mce", "/loss", "did you mean 'mse'"},
      {"metrics=[\"rmsee\"]", "/metrics/0", "did you mean 'rmse'"},
      {"metrics=[\"rmse\", \"rmse\"]", "/metrics/1", "twice"},
      {"metrics=rmse", "/metrics", "list"},
      {"metrics=[3]", "/metrics/0", "3"},
      {"data.task=mackey_gloss", "/data/task", "did you mean 'mackey_glass'"},
      {"data.trian=3", "/data/trian", "did you mean 'train'"},
      {"optimizer.type=adamm", "/optimizer/type", "did you mean 'adam"},
      {"optimizer.lr=-1", "/optimizer/lr", "-1"},
      {"schedule.type=constnat", "/schedule/type", "did you mean 'constant'"},
      {"model.layers.0.cell=tau_grru", "/model/layers/0/cell", "did you mean 'tau_gru'"},
      {"model.layers.0.tau=-1", "/model/layers/0/tau", "-1"},
      {"model.readout.units=2", "/model/readout/units", "2"},
      {"model.readout.at=last_step", "/model/readout/at", "every step"},
      {"model=[]", "/model", "object"},
      {"data=3", "/data", "object"},
  };
  for (const auto& row : table) {
    CAPTURE(row.set);
    const std::string text = message(kSmall, {row.set});
    CAPTURE(text);
    CHECK(text.starts_with("file.json: "));
    CHECK(text.find(std::string(row.pointer) + ":") != std::string::npos);
    CHECK(text.find(row.words) != std::string::npos);
  }
}

TEST_CASE("all mistakes of a file are named at once") {
  const std::string text = message(kSmall, {"loss=mce", "train.batch=0", "optimizer.lr=-1", "name=a/b"});
  for (const char* pointer : {"/loss", "/train/batch", "/optimizer/lr", "/name"}) {
    CHECK(text.find(pointer) != std::string::npos);
  }
  CHECK(message(R"({"data": {"task": "mackey_glass"}})").find("/model: is missing") != std::string::npos);
  CHECK(message("[]").find("expected an object") != std::string::npos);
}

TEST_CASE("$schema is allowed and kept") {
  CHECK(filled(kSmall, {"$schema=schema.json"})["$schema"] == "schema.json");
}

TEST_CASE("a path starts at the file's folder, one that is set at the current folder") {
  constexpr const char* text = R"({
    "name": "digits", "data": { "task": "mnist", "path": "../mnist" },
    "model": { "layers": [ { "cell": "lstm", "units": 4 } ] } })";
  CHECK(filled(text)["data"]["path"] == "/mnist");
  const auto here = std::filesystem::current_path();
  CHECK(filled(text, {"data.path=digits"})["data"]["path"] == (here / "digits").string());
  CHECK(filled(text, {"data.path=/abs"})["data"]["path"] == "/abs");
  constexpr const char* kReviews = R"({
    "name": "reviews", "data": { "task": "imdb", "path": "../imdb", "vectors": "glove.txt" },
    "model": { "layers": [ { "layer": "embedding", "units": 4 }, { "cell": "lstm", "units": 4 } ] },
    "loss": "binary_cross_entropy" })";
  CHECK(filled(kReviews)["data"]["vectors"] == "/folder/glove.txt");
  CHECK(filled(kReviews, {"data.path=a", "data.vectors=b"})["data"]["vectors"] == (here / "b").string());
  CHECK(filled(kReviews, {"data.vectors=b", "data.path=a"})["data"]["path"] == (here / "a").string());
  CHECK(message(kReviews, {"data.vectors="}).find("/data/vectors: expected a path") != std::string::npos);
}

TEST_CASE("of what is set, paths alone begin at the current folder") {
  const auto here = std::filesystem::current_path();
  constexpr const char* kSeries = R"({
    "name": "load", "data": { "task": "series", "path": ["a.csv", "b.csv"], "input": ["load", "wind"], "target": ["load"], "window": 8 },
    "model": { "layers": [ { "cell": "lstm", "units": 4 } ] } })";
  for (const char* assignment : {"data.path.1=c.csv", "/data/path/1=c.csv"}) {
    const Json paths = filled(kSeries, {assignment})["data"]["path"];
    CHECK(paths == Json::array({"/folder/a.csv", (here / "c.csv").string()}));
  }
  CHECK(filled(kSeries, {"data.input.0=sun"})["data"]["input"] == Json::array({"sun", "wind"}));
  CHECK(message(kSeries, {"data.input=sun"}).find(here.string()) == std::string::npos);
  const Json data = {
      {"task", "series"}, {"path", {"d.csv"}}, {"input", {"load"}}, {"target", {"load"}}, {"window", 8}};
  CHECK(filled(kSeries, {"data=" + data.dump()})["data"]["path"] == Json::array({(here / "d.csv").string()}));
  CHECK(filled(kSmall, {"train.init=run"})["train"]["init"] == (here / "run").string());
}

TEST_CASE("sizes are read with their units") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("64MiB") == 64 << 20);
  CHECK(parse_bytes("1.5 kB") == 1500);
  CHECK(parse_bytes("2GB") == 2000000000);
  for (const char* text : {"", "much", "-1MiB", "0", "64 MIB", "1e300GB", "nanB"})
    CHECK_FALSE(parse_bytes(text).has_value());
}
