#include "lagtape/data/registry.h"

#include <array>
#include <vector>

#include "lagtape/data/adding.h"
#include "lagtape/data/mackey_glass.h"
#include "lagtape/data/mnist.h"
#include "lagtape/data/random_task.h"

namespace lagtape {

namespace {

constexpr std::array kTasks = {
    TaskEntry{"adding", "add the two marked values of a long sequence of random numbers",
              "Hochreiter and Schmidhuber 1997; protocol of Long Expressive Memory (LEM)", read_adding},
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
