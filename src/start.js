import { programOf } from './built.js';
import { runtimeFault } from './runtime.js';

const fault = runtimeFault();
if (fault) {
  process.stderr.write(`Signet cannot start: ${fault}\n`);
  process.exit(1);
}
await import(programOf('main'));
