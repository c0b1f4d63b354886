#include "lagtape/tools/sweep/run.h"

namespace lagtape::sweep {

namespace {

constexpr RunState kStates[] = {RunState::missing, RunState::unfinished, RunState::done,
                                RunState::stopped, RunState::diverged,   RunState::failed};

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::missing: return "missing";
    case RunState::unfinished: return "unfinished";
    case RunState::done: return "done";
    case RunState::stopped: return "stopped";
    case RunState::diverged: return "diverged";
    case RunState::failed: return "failed";
  }
  return "";
}

RunState state_called(const std::string& name) {
  for (const RunState state : kStates)
    if (name == name_of(state)) return state;
  return RunState::missing;
}

std::filesystem::path log_file(const Run& run) { return run.folder.string() + ".log"; }

void write_results_file(const std::filesystem::path& file, const std::string& lines, Links links) {
  remove_temporaries_of(file);
  write_file_atomically(file, lines, links);
}

}  // namespace lagtape::sweep
