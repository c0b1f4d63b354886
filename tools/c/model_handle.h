#pragma once

#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/unusable_path.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/tools/c/c_api.h"
#include "lagtape/tools/c/last_error.h"

/// A loaded model, with the strings that the C interface returns.
struct lagtape_model {
  explicit lagtape_model(lagtape::Model loaded)
      : model(std::move(loaded)), layers(model.layer_names()), experiment(model.experiment()) {
    for (const lagtape::Parameter& parameter : model.parameters()) parameters.push_back(&parameter);
  }
  lagtape::Model model;
  std::vector<std::string> layers;
  std::string experiment;
  std::vector<const lagtape::Parameter*> parameters;
};

namespace lagtape::c {

/// Runs `f` and converts its exceptions to a status and a message.
template <class F>
lagtape_status guarded(F f) noexcept {
  try {
    const PlainArithmetic plain;
    f();
    return LAGTAPE_OK;
  } catch (const InputError& error) {
    return fail(error);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(unusable_path(error));
  } catch (const std::bad_alloc&) {
    return fail(LAGTAPE_ERROR, "[lagtape] there is not enough memory");
  } catch (const std::exception& error) {
    return fail(LAGTAPE_ERROR, error.what());
  } catch (...) {
    return fail(LAGTAPE_ERROR, "[lagtape] an unknown failure");
  }
}

/// Returns the new object that `make` makes, or null on failure.
template <class F>
auto made(F make) noexcept -> decltype(make()) {
  decltype(make()) result = nullptr;
  guarded([&] { result = make(); });
  return result;
}

}  // namespace lagtape::c
