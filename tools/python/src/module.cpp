// The extension module lagtape._lagtape. What users call is written in Python, in tools/python/lagtape, on top of it.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/version.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// Sets the exception of a class of lagtape._errors. Messages quote files, whose bytes may be no text.
void raise(const char* class_name, std::string_view message) {
  const nb::object errors = nb::module_::import_("lagtape._errors");
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  PyErr_SetObject(nb::object(errors.attr(class_name)).ptr(), text.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise("InputError", error.what());
  } catch (const DivergenceError& error) {
    raise("DivergenceError", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  }
}

}  // namespace

}  // namespace lagtape::python

NB_MODULE(_lagtape, module) {
  using namespace lagtape::python;
  nb::set_leak_warnings(false);  // Objects that live as long as the process are no leaks.
  nb::register_exception_translator(translate);
  module.def("unknown_name", lagtape::unknown_name);
  module.attr("version") = lagtape::kVersion;
  add_models(module);
  add_streams(module);
  add_experiments(module);
  add_forecasts(module);
  add_cells(module);
  add_training(module);
  add_recurrences(module);
}
