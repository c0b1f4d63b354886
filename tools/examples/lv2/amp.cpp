// An LV2 plug-in of a trained model: one channel of sound in, one out. The model is the file model.safetensors in the
// plug-in's bundle, in f32, with one input and one output. A host at another rate than the model's runs it at that rate.

#include <lagtape/cells/models/model.h>
#include <lagtape/core/error.h>
#include <lv2/core/lv2.h>

#include <cstdio>
#include <filesystem>

namespace {

struct Amp {
  lagtape::Stream<float> stream;
  const float* in = nullptr;
  float* out = nullptr;
};

LV2_Handle instantiate(const LV2_Descriptor*, double rate, const char* bundle,
                       const LV2_Feature* const*) try {
  const lagtape::Model model = lagtape::Model::load(std::filesystem::path(bundle) / "model.safetensors");
  if (model.input_width() != 1 || model.output_width() != 1)
    throw lagtape::InputError({}, lagtape::Rule::shape,
                              "the model does not take one number a step and give one");
  return new Amp{model.stream<float>({.rate = rate / MODEL_RATE})};
} catch (const lagtape::Error& error) {
  std::fprintf(stderr, "lagtape amp: %s\n", error.what());
  return nullptr;
}

void connect_port(LV2_Handle amp, std::uint32_t port, void* data) {
  if (port == 0) static_cast<Amp*>(amp)->in = static_cast<const float*>(data);
  if (port == 1) static_cast<Amp*>(amp)->out = static_cast<float*>(data);
}

void activate(LV2_Handle amp) { static_cast<Amp*>(amp)->stream.reset(); }

void run(LV2_Handle handle, std::uint32_t count) {
  Amp& amp = *static_cast<Amp*>(handle);
  amp.stream.block(amp.in, amp.out, count);
}

void cleanup(LV2_Handle amp) { delete static_cast<Amp*>(amp); }

constexpr LV2_Descriptor kAmp = {"urn:lagtape:amp", instantiate, connect_port, activate, run,
                                 nullptr,           cleanup,     nullptr};

}  // namespace

LV2_SYMBOL_EXPORT const LV2_Descriptor* lv2_descriptor(std::uint32_t index) {
  return index == 0 ? &kAmp : nullptr;
}
