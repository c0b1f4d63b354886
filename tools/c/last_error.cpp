#include "lagtape/tools/c/last_error.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace lagtape::c {

namespace {

/// A fixed buffer per thread, so that a failure allocates nothing.
class LastError {
 public:
  const char* text() const { return text_; }
  void set(std::string_view message) noexcept {
    const std::size_t size = std::min(message.size(), sizeof(text_) - 1);
    std::memcpy(text_, message.data(), size);
    text_[size] = '\0';
  }

 private:
  char text_[4096] = "";
};

thread_local LastError last_error;
/// The problems of the last failure. A copy of an error shares them, so copying allocates nothing.
thread_local std::optional<InputError> last_input_error;

}  // namespace

lagtape_status fail(lagtape_status status, std::string_view message) noexcept {
  last_error.set(message);
  last_input_error.reset();
  return status;
}

lagtape_status fail(const InputError& error) noexcept {
  last_error.set(error.what());
  last_input_error = error;
  return LAGTAPE_INPUT_ERROR;
}

}  // namespace lagtape::c

using lagtape::c::last_error;
using lagtape::c::last_input_error;

const char* lagtape_last_error(void) { return last_error.text(); }

size_t lagtape_last_problem_count(void) { return last_input_error ? last_input_error->problems().size() : 0; }

lagtape_status lagtape_last_problem(size_t index, lagtape_problem* problem) {
  if (problem == nullptr || index >= lagtape_last_problem_count()) return LAGTAPE_INPUT_ERROR;
  const lagtape::Problem& p = last_input_error->problems()[index];
  *problem = {p.place.file.c_str(), p.place.line,       p.place.column,         p.place.pointer.c_str(),
              p.place.item.c_str(), p.place.op.c_str(), name_of(p.rule).data(), p.statement.c_str(),
              p.found.c_str(),      p.expected.c_str(), p.hint.c_str(),         p.nearest.c_str()};
  return LAGTAPE_OK;
}
