import { registerHooks } from 'node:module';
import { announceExchanges } from './server.ts';

// The same service, in which nobody hears of a refusal.
if (process.env['BENCH_UNTOLD']) {
  const told = 'export function reportRefusal(';
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith('/src/protection/refusals/start.ts')) return loaded;
      const source = String(loaded.source);
      if (!source.includes(told)) throw new Error(`${url} has no reportRefusal.`);
      const without = `${source.replace(told, 'function untold(')}\nexport const reportRefusal = () => void untold;`;
      return { ...loaded, source: without };
    },
  });
}
const { systemClock } = await import('../src/clock.ts');
const { seedDirectory } = await import('../test/support/operations/directory.ts');
const { signManagementToken, startWholeService } = await import('./whole-service.ts');

const app = await startWholeService();
const directory = seedDirectory(app.services.database, systemClock);
const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
announceExchanges(app.url, backend, [
  {
    // Of an application, and not of a person: refused after the one look-up.
    subject_token: await signManagementToken(app, backend.id),
    resource: 'https://orders.example.com',
  },
]);
