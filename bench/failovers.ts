// Whether anything is lost or repeated while the primary is lost ten times under load: three PostgreSQL servers of
// Patroni with etcd, HAProxy in front of them, PgBouncer in transaction mode in front of that, and two nodes.
import { lossesOf, undergo } from '../test/support/nothing-lost.ts';
import { administer } from '../test/support/peers/postgresql/administer.ts';
import { ends, patroniMissing, startPatroni } from '../test/support/peers/postgresql/patroni.ts';
import { pgbouncerMissing, startPgbouncer } from '../test/support/peers/postgresql/pgbouncer.ts';

const mutations = Number(process.env['BENCH_MUTATIONS'] ?? 10_000);
const failovers = Number(process.env['BENCH_FAILOVERS'] ?? 10);

const missing = patroniMissing ?? pgbouncerMissing;
if (missing) {
  console.log(missing);
  process.exit(1);
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);
const ways = Object.entries(ends);
const patroni = await startPatroni(3);
try {
  await administer(patroni.url, 'CREATE ROLE signet LOGIN', 'CREATE DATABASE signet OWNER signet');
  const direct = patroni.url.replace('postgres@', 'signet@').replace(/postgres$/, 'signet');
  const pooler = await startPgbouncer(direct, 'transaction', 20);
  try {
    const run: { way: string; takesMs: number }[] = [];
    const findings = await undergo({
      environment: { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct },
      nodes: 2,
      mutations,
      kills: 0,
      hasSink: false,
      isKeyed: true,
      failOvers: Array.from({ length: failovers }, (_, number) => async () => {
        const [way, end] = ways[number % ways.length] ?? ['', 'kill'];
        await patroni.mend();
        const from = performance.now();
        await patroni.failOver(end);
        run.push({ way, takesMs: performance.now() - from });
      }),
    });
    const { acknowledged, log, webhook, subscriber, resumedAfterMs } = findings;
    console.table(
      run.map(({ way, takesMs }, number) => ({
        'the primary’s end': way,
        'seconds to the promotion': seconds(takesMs),
        'from there to the first success': seconds(resumedAfterMs[number] ?? Number.NaN),
      })),
    );
    const losses = {
      ...lossesOf(findings),
      'in the log and not acknowledged': new Set(findings.logged).difference(new Set(acknowledged))
        .size,
    };
    console.table({
      'mutations acknowledged': acknowledged.length,
      'answers 503': findings.unavailable,
      'mutations refused': findings.refused.length,
      'mutations whose connection broke': findings.broken,
      'events in the log': log.length,
      'messages to the webhook': webhook.length,
      'events seen by the subscriber': subscriber.length,
      'reconnects of the subscriber': findings.disconnections.length,
      'longest gap in seconds': seconds(findings.longestGapMs),
      'seconds of mutations': Math.round(findings.mutationSeconds),
      'seconds until all had come': Math.round(findings.settleSeconds),
      ...losses,
    });
    for (const refusal of findings.refused.slice(0, 10)) {
      console.log(refusal);
      const id = /"requestId":"([^"]+)"/.exec(refusal)?.[1] ?? refusal;
      for (const line of findings.errors) if (line.includes(id)) console.log(line);
    }
    const isGood =
      Object.values(losses).every((count) => count === 0) &&
      findings.refused.length === 0 &&
      resumedAfterMs.length === failovers;
    if (!isGood) process.exitCode = 1;
  } finally {
    await pooler.close();
  }
} finally {
  await patroni.close();
}
