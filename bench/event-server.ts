import { systemClock } from '../src/clock.ts';
import { quietTransaction } from '../src/db/transaction.ts';
import { readEnd } from '../src/events/log.ts';
import { encodePosition } from '../src/events/position.ts';
import { recordEvents } from '../src/events/record.ts';
import { actor, serveBench, sharedNow } from './event-source.ts';
import { startWholeService } from './whole-service.ts';

const app = await startWholeService();
const { database, metrics } = app.services;
/** Rows in one INSERT. */
const chunk = 500;

serveBench({
  end: async () => encodePosition(await readEnd(database.prisma)),
  async subscribers() {
    const [sample] = (await metrics.getSingleMetric('signet_subscribers')?.get())?.values ?? [];
    return sample?.value ?? 0;
  },
  async write(events) {
    await quietTransaction(database, async (tx) => {
      for (let i = 0; i < events.length; i += chunk) {
        const context = { actor, clock: systemClock, traceId: 'bench', ip: null, userAgent: null };
        await recordEvents(tx, context, events.slice(i, i + chunk));
      }
    });
    return sharedNow();
  },
});
process.send?.({ result: { url: app.url, credentials: app.adminCredentials } });
