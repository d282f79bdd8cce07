// Runs files of tests ten times beside two busy loops, and ends with 0 if none fell: `npm run test:steady -- FILE…`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const times = 10;
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const files = process.argv.slice(2);
if (files.length === 0) throw new Error('Usage: npm run test:steady -- FILE…');

const busy = [1, 2].map(() => spawn(process.execPath, ['--eval', 'for (;;);']));
let fallen = 0;
try {
  for (let time = 1; time <= times; time += 1) {
    const child = spawn(process.execPath, [runner, 'run', ...files], { stdio: 'inherit' });
    const [code] = await once(child, 'close');
    if (code !== 0) fallen += 1;
  }
} finally {
  for (const loop of busy) loop.kill('SIGKILL');
}
console.log(`fell ${fallen} of ${times} times`);
process.exitCode = fallen > 0 ? 1 : 0;
