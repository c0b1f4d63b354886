#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape {

std::string_view name_of(MemoryPlan plan) {
  switch (plan) {
    case MemoryPlan::automatic: return "auto";
    case MemoryPlan::full: return "full";
    case MemoryPlan::states: return "states";
    case MemoryPlan::reversible: return "reversible";
    case MemoryPlan::checkpoint: return "checkpoint";
  }
  return "";
}

}  // namespace lagtape
