#include <cstddef>
#include <variant>

#include "lagtape/tools/c/c_api.h"
#include "lagtape/tools/c/call_checks.h"
#include "lagtape/tools/c/model_handle.h"

using lagtape::Dtype;
using lagtape::Learner;
using lagtape::LearnerOptions;
using namespace lagtape::c;

struct lagtape_learner {
  std::variant<Learner<float>, Learner<double>> learner;
};

namespace {

LearnerOptions learner_options(const lagtape_learner_options& given, const char* call) {
  LearnerOptions options;
  if (given.method != LAGTAPE_RTRL && given.method != LAGTAPE_E_PROP && given.method != LAGTAPE_TRUNCATED)
    throw lagtape::InputError({.op = call}, lagtape::Rule::out_of_range, "a method is 0, 1 or 2",
                              lagtape::text_of(static_cast<int>(given.method)));
  if (given.rule != LAGTAPE_SGD && given.rule != LAGTAPE_ADAM)
    throw lagtape::InputError({.op = call}, lagtape::Rule::out_of_range, "a rule is 0 or 1",
                              lagtape::text_of(static_cast<int>(given.rule)));
  if (given.method == LAGTAPE_E_PROP) options.method = lagtape::LearningMethod::e_prop;
  if (given.method == LAGTAPE_TRUNCATED) options.method = lagtape::LearningMethod::truncated;
  if (given.rule == LAGTAPE_ADAM) options.rule = lagtape::LearningRule::adam;
  if (given.lr != 0) options.lr = given.lr;
  if (given.every != 0) options.every = given.every;
  if (given.window != 0) options.window = given.window;
  return options;
}

template <class T>
lagtape_status step_of(lagtape_learner* learner, const T* input, const T* target, T* output, double* loss,
                       const char* call) noexcept {
  return guarded([&] {
    require(learner, call, "the learner");
    require(input, call, "input");
    Learner<T>* found = std::get_if<Learner<T>>(&learner->learner);
    if (found == nullptr)
      throw lagtape::InputError({.op = call}, lagtape::Rule::wrong_type,
                                "the learner's model computes in the other precision");
    const double of_step = found->step(input, target, output);
    if (loss != nullptr) *loss = of_step;
  });
}

}  // namespace

lagtape_learner* lagtape_learner_create(const lagtape_model* model, const lagtape_learner_options* options) {
  return made([&] {
    const auto call = "lagtape_learner_create";
    require(model, call, "the model");
    require(options, call, "options");
    const LearnerOptions given = learner_options(*options, call);
    return model->model.dtype() == Dtype::f32 ? new lagtape_learner{model->model.learner<float>(given)}
                                              : new lagtape_learner{model->model.learner<double>(given)};
  });
}
void lagtape_learner_free(lagtape_learner* learner) { delete learner; }

int64_t lagtape_learner_target_width(const lagtape_learner* learner) {
  return std::visit([](const auto& one) { return one.target_width(); }, learner->learner);
}

lagtape_status lagtape_learner_step(lagtape_learner* learner, const float* input, const float* target,
                                    float* output, double* loss) {
  return step_of(learner, input, target, output, loss, "lagtape_learner_step");
}
lagtape_status lagtape_learner_step_f64(lagtape_learner* learner, const double* input, const double* target,
                                        double* output, double* loss) {
  return step_of(learner, input, target, output, loss, "lagtape_learner_step_f64");
}

lagtape_status lagtape_learner_reset(lagtape_learner* learner) {
  return guarded([&] {
    require(learner, "lagtape_learner_reset", "the learner");
    std::visit([](auto& one) { one.reset(); }, learner->learner);
  });
}

size_t lagtape_learner_state_size(const lagtape_learner* learner) {
  return std::visit([](const auto& one) { return one.state_size(); }, learner->learner);
}

lagtape_status lagtape_learner_save(const lagtape_learner* learner, void* state, size_t size) {
  return guarded([&] {
    require(learner, "lagtape_learner_save", "the learner");
    require(state, "lagtape_learner_save", "the state");
    std::visit([&](const auto& one) { one.save({static_cast<std::byte*>(state), size}); }, learner->learner);
  });
}

lagtape_status lagtape_learner_restore(lagtape_learner* learner, const void* state, size_t size) {
  return guarded([&] {
    require(learner, "lagtape_learner_restore", "the learner");
    require(state, "lagtape_learner_restore", "the state");
    std::visit(
        [&](auto& one) {
          one.restore({static_cast<const std::byte*>(state), size});
        },
        learner->learner);
  });
}

lagtape_status lagtape_model_take(lagtape_model* model, const lagtape_learner* learner) {
  return guarded([&] {
    require(model, "lagtape_model_take", "the model");
    require(learner, "lagtape_model_take", "the learner");
    std::visit([&](const auto& one) { model->model.take(one); }, learner->learner);
  });
}
