#include "lagtape/tools/train/synonyms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/catalogue.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/json_set.h"

namespace lagtape {
namespace {

constexpr const char* kExperiment =
    R"({"name": "e", "data": {"task": "mackey_glass"}, "optimizer": {"type": "adam"},
  "model": {"layers": [{"cell": "rnn", "units": 2}, {"cell": "lstm", "units": 2}]}})";

/// The message about an experiment with one setting more.
std::string message(const std::string& setting) {
  Json document = Json::parse(kExperiment);
  assign(document, setting);
  try {
    parse_experiment(document.dump(), "e", ".");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("an experiment without words of others is right") { CHECK(message("seed=1") == ""); }

TEST_CASE("keys of other libraries are answered with our key and its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"learning_rate", "/optimizer/lr"},
      {"train.learning_rate", "/optimizer/lr"},
      {"optimizer.learning_rate", "/optimizer/lr"},
      {"optimizer.beta_1", "/optimizer/beta1"},
      {"optimizer.beta_2", "/optimizer/beta2"},
      {"optim", "/optimizer"},
      {"lr_scheduler", "/schedule"},
      {"train.warmup_steps", "/schedule/warmup"},
      {"train.n_epochs", "/train/epochs"},
      {"train.num_epochs", "/train/epochs"},
      {"max_epochs", "/train/epochs"},
      {"train.batch_size", "/train/batch"},
      {"batch_size", "/train/batch"},
      {"train.early_stopping", "/train/patience"},
      {"early_stopping_patience", "/train/patience"},
      {"train.max_grad_norm", "/train/clip"},
      {"gradient_clip_val", "/train/clip"},
      {"train.gradient_accumulation_steps", "/train/accumulate"},
      {"dtype", "/train/precision"},
      {"random_state", "/seed"},
      {"model.layers.0.hidden_size", "/model/layers/0/units"},
      {"model.layers.1.hidden_size", "/model/layers/1/units"},
      {"model.layers.1.hidden", "/model/layers/1/units"},
      {"model.layers.1.num_units", "/model/layers/1/units"},
      {"model.hidden_dim", "/model/layers/0/units"},
      {"model.output_size", "/model/readout/units"},
      {"model.layers.1.return_sequences", "/model/readout/at"},
      {"data.input_chunk_length", "/data/window"},
      {"data.forecast_horizon", "/data/horizon"},
      {"data.freq", "/data/frequency"},
      {"data.futr_exog_list", "/data/future"},
      {"past_covariates", "/data/past"},
      {"model.layers.1.dropout_rate", "/model/layers/1/dropout"},
      {"data.validation_split", "/data/valid"},
      {"quantiles", "/loss/levels"},
  };
  for (const auto& [setting, place] : cases) {
    const std::string text = message(text_of(setting, "=1"));
    CHECK_MESSAGE(text.find(text_of("; did you mean ", place, "?")) != text.npos, setting, ": ", text);
  }
}

TEST_CASE("what has no key here is answered in words") {
  const std::pair<const char*, const char*> cases[] = {
      {"model.layers.1.num_layers=2", "several entries of /model/layers"},
      {"model.layers.1.bidirectional=true", R"({"layer": "bidirectional", "cell": )"},
      {"device=cuda", "on the CPU"},
      {"train.device=cuda", "on the CPU"},
      {"model.layers.1.input_size=3", "data decide"},
      {"model.layers.1.use_bias=false", "biases of their equations"},
      {"model.layers.0.nonlinearity=relu", "in /cells"},
      {"train.verbose=1", "leave it out"},
      {"loss=SmoothL1Loss", R"(This loss is "huber")"},
      {"loss=l1", R"(are "mae")"},
      {"loss=GaussianNLLLoss", R"(This loss is "gaussian")"},
      {"loss=NegativeBinomialLikelihood", R"(This loss is "negative_binomial")"},
      {"loss=poisson", R"("negative_binomial")"},
      {"loss=nll", R"("nll" is among /metrics)"},
      {"loss=CrossEntropyLoss", R"(This loss is "cross_entropy")"},
      {"loss.type=smooth_l1", R"(This loss is "huber")"},
      {R"(metrics=["root_mean_squared_error"])", R"(This metric is "rmse")"},
      {"schedule.type=ReduceLROnPlateau", R"(This schedule is "plateau")"},
      {"model.layers.1.cell=LSTM", R"("lstm")"},
  };
  for (const auto& [setting, words] : cases) {
    const std::string text = message(setting);
    CHECK_MESSAGE(text.find(words) != text.npos, setting, ": ", text);
  }
}

TEST_CASE("every answer that is a place is one of a key that there is, and no word is one of ours") {
  std::set<std::string> ours;
  for (const std::string& path : setting_paths()) ours.insert(path.substr(path.rfind('.') + 1));
  ours.insert({"optimizer", "schedule", "data"});
  for (const Synonym& synonym : synonyms()) {
    CHECK_MESSAGE(!ours.contains(std::string(synonym.word)), synonym.word);
    CHECK_MESSAGE((!synonym.place.empty() || !synonym.hint.empty()), synonym.word);
    if (!synonym.place.empty())
      CHECK_MESSAGE(ours.contains(std::string(synonym.place.substr(synonym.place.rfind('/') + 1))),
                    synonym.place);
  }
}

}  // namespace
}  // namespace lagtape
