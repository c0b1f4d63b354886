// The extension module lagtape._lagtape. The functions for users are written in Python, in
// tools/python/lagtape, on top of it.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/unusable_path.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/version.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// A Python string. Messages quote files, whose bytes may not be valid text.
nb::object text_from(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

nb::object text_or_none(std::string_view text) { return text.empty() ? nb::none() : text_from(text); }
nb::object number_or_none(std::int64_t number) { return number == 0 ? nb::none() : nb::cast(number); }

/// Raises an exception of a class in lagtape._errors.
template <class... Arguments>
void raise(const char* class_name, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("lagtape._errors").attr(class_name);
  PyErr_SetObject(type.ptr(), type(arguments...).ptr());
}

void raise(const InputError& error) {
  const nb::object type = nb::module_::import_("lagtape._errors").attr("Problem");
  nb::list problems;
  for (const Problem& problem : error.problems()) {
    const Place& place = problem.place;
    problems.append(type(text_from(message_of(problem)), text_from(name_of(problem.rule)),
                         text_or_none(place.file), number_or_none(place.line), number_or_none(place.column),
                         text_or_none(place.pointer), text_or_none(place.item), text_or_none(problem.found),
                         text_or_none(problem.expected), text_or_none(problem.hint),
                         text_or_none(problem.nearest)));
  }
  raise("InputError", text_from(error.what()), problems);
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise(error);
  } catch (const DivergenceError& error) {
    raise("DivergenceError", text_from(error.what()));
  } catch (const Error& error) {
    raise("Error", text_from(error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    raise(unusable_path(error));
  } catch (const std::bad_cast&) {
    raise(InputError({.op = "lagtape"}, Rule::wrong_type, "an argument is of another type than expected."));
  }
}

}  // namespace

}  // namespace lagtape::python

NB_MODULE(_lagtape, module) {
  using namespace lagtape::python;
  nb::set_leak_warnings(false);  // Objects that live as long as the process are not leaks.
  nb::register_exception_translator(translate);
  module.def("refuse_name",
             [](const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
               throw lagtape::InputError(lagtape::unknown_name(kind, name, known));
             });
  module.attr("version") = lagtape::kVersion;
  add_models(module);
  add_built_models(module);
  add_streams(module);
  add_learners(module);
  add_given_data(module);
  add_experiments(module);
  add_evaluation(module);
  add_forecasts(module);
  add_cells(module);
  add_charts(module);
  add_training(module);
  add_recurrences(module);
}
