// Runs recordings again in WebAssembly: node again.mjs MODULE FILE...
// It stands in for the page of `client/web`: the file is what was dropped on it, and the module's
// status is the result.
import { readFileSync } from 'node:fs';

const [path, ...files] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(path));
let failed = files.length === 0;
for (const file of files) {
  const recording = readFileSync(file);
  let memory;
  let status = 'it said nothing';
  const page = {
    phaselock_download_bytes: () => recording.length,
    phaselock_download_state: () => 1,
    phaselock_download_take: to => new Uint8Array(memory.buffer, to).set(recording),
    phaselock_publish_status: (text, count) => {
      status = new TextDecoder().decode(new Uint8Array(memory.buffer, text, count));
    },
  };
  // The module also links functions that it does not call.
  const env = new Proxy(page, { get: (known, name) => known[name] ?? (() => 0) });
  const instance = new WebAssembly.Instance(module, { env });
  memory = instance.exports.memory;
  try {
    instance.exports.main(0, 0);
  } catch (error) {
    status = `${file}: ${error}`;
  }
  console.log(status);
  failed ||= !status.includes(': identical, ');
}
process.exit(failed ? 1 : 0);
