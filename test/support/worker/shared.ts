import http from 'node:http';
import https from 'node:https';
import { vi } from 'vitest';

// The last is what `fetch` sends by; the first request makes it.
const globals = ['fetch', 'WebSocket', Symbol.for('undici.globalDispatcher.1')] as const;

/** Notes what the files of a worker share beside their modules. Returns what puts it back as it was. */
export function noteShared(): () => void {
  const environment = { ...process.env };
  const values = new Map(globals.map((name) => [name, Reflect.get(globalThis, name)]));
  const agents = [http.globalAgent, https.globalAgent] as const;
  return () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    for (const name of Object.keys(process.env))
      if (!(name in environment)) delete process.env[name];
    for (const [name, value] of Object.entries(environment))
      if (process.env[name] !== value) process.env[name] = value;
    for (const [name, value] of values)
      if (value !== undefined && Reflect.get(globalThis, name) !== value)
        Reflect.set(globalThis, name, value);
    [http.globalAgent, https.globalAgent] = agents;
  };
}
