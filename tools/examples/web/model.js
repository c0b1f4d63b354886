// A model of WebAssembly for a page or for node: `const model = await load(bytes)`, then model.step([numbers]) gives the outputs.
async function load(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const e = instance.exports;
  const view = (address, count) => new Float32Array(e.memory.buffer, address, count);
  const input = view(e.model_in(), e.model_inputs()), output = view(e.model_out(), e.model_outputs());
  e.model_begin();
  return {
    inputs: input.length,
    outputs: output.length,
    reset: () => e.model_begin(),
    step: (numbers) => {
      input.set(numbers);
      e.model_run();
      return Array.from(output);
    },
  };
}
if (typeof module !== "undefined") module.exports = { load };
