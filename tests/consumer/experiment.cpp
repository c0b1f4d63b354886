// Trains an experiment from C++ as the tool does, and writes the model as one file.

#include <lagtape/lagtape.h>

#include <iostream>
#include <vector>

namespace {

constexpr const char* kExperiment = R"({
  "name": "consumer",
  "data":      { "task": "mackey_glass", "length": 200, "train": 16, "valid": 8, "test": 0 },
  "model":     { "layers":  [ { "cell": "tau_gru", "units": 8, "tau": 5 } ],
                 "readout": { "units": 1, "at": "every_step" } },
  "loss":      "mse",
  "optimizer": { "type": "adam", "lr": 0.01 },
  "train":     { "epochs": 4, "batch": 8 } })";

}  // namespace

int main(int, char** argv) try {
  const lagtape::Experiment experiment = lagtape::parse_experiment(kExperiment, "the experiment", ".");
  lagtape::ThreadPool pool(2);
  const lagtape::Task task = experiment.load_task(pool);
  lagtape::Model model = lagtape::build_model(experiment, task.shape);

  std::vector<double> losses;
  lagtape::Trainer trainer(experiment, task, model, pool);
  trainer.run({.evaluated = [&](const lagtape::EvaluationReport& report) {
    losses.push_back(lagtape::value_of(report.valid, "loss"));
  }});
  trainer.load_kept();
  model.save(argv[1]);

  std::cout << "loss " << losses.front() << ", then " << losses.back() << '\n';
  return losses.back() < 0.5 * losses.front() ? 0 : 1;
} catch (const lagtape::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
