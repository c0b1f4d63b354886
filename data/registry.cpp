#include "lagtape/data/registry.h"

#include <array>
#include <vector>

#include "lagtape/data/adding.h"
#include "lagtape/data/copy.h"
#include "lagtape/data/dde_response.h"
#include "lagtape/data/enso.h"
#include "lagtape/data/fitzhugh_nagumo.h"
#include "lagtape/data/frequency.h"
#include "lagtape/data/lorenz96.h"
#include "lagtape/data/mackey_glass.h"
#include "lagtape/data/mnist.h"
#include "lagtape/data/random_task.h"

namespace lagtape {

namespace {

constexpr std::array kTasks = {
    TaskEntry{"adding", "add the two marked values of a long sequence of random numbers",
              "Hochreiter and Schmidhuber 1997; protocol of Long Expressive Memory (LEM)", read_adding},
    TaskEntry{
        "copy", "repeat ten letters a long time after they were read",
        "Hochreiter and Schmidhuber 1997; Arjovsky, Shah and Bengio 2016; figure 7 of the tau-GRU paper",
        read_copy},
    TaskEntry{"dde_response", "follow the response of a delay equation to a given forcing",
              "tau-GRU paper, appendix A", read_dde_response},
    TaskEntry{"enso", "predict the next value of a delayed oscillator of the El Nino phenomenon",
              "tau-GRU paper", read_enso},
    TaskEntry{"fitzhugh_nagumo", "predict the next voltage of the FitzHugh-Nagumo neuron",
              "FitzHugh 1961, Nagumo et al. 1962; protocol of Long Expressive Memory (LEM)",
              read_fitzhugh_nagumo},
    TaskEntry{"frequency", "tell which of 100 frequencies a second of a cosine has", "tau-GRU paper",
              read_frequency},
    TaskEntry{"lorenz96", "predict the Lorenz 96 system 25 steps ahead",
              "Lorenz 1996; protocol of the coRNN paper, used for UnICORNN", read_lorenz96},
    TaskEntry{"mackey_glass", "predict the next value of the chaotic Mackey-Glass delay equation",
              "Mackey and Glass 1977; protocol of the tau-GRU paper, appendix H", read_mackey_glass},
    TaskEntry{"mnist", "recognise digits read pixel by pixel, in rows or permuted",
              "LeCun et al. 1998; protocol of Long Expressive Memory (LEM)", read_mnist},
    TaskEntry{"random", "random numbers of a given shape, for timing", "", read_random_task},
};

}  // namespace

std::span<const TaskEntry> tasks() { return kTasks; }

TaskPlan read_task(JsonReader& reader, const TaskHints& hints) {
  std::vector<std::string> names;
  for (const TaskEntry& entry : kTasks) names.emplace_back(entry.name);
  std::string name;
  reader.required_choice("task", name, names, "what to learn");
  for (const TaskEntry& entry : kTasks) {
    if (entry.name != name) continue;
    TaskPlan plan = entry.read(reader, hints);
    reader.finish();
    return plan;
  }
  return {};
}

}  // namespace lagtape
