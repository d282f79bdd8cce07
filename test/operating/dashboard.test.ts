import { expect, inject, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { requestClientCredentials } from '../support/client-credentials.ts';
import { callRest } from '../support/operations/rest.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { connect, subscribe } from '../support/peers/subscriber.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { createSignInFixture, redirectUri } from '../support/people/sign-in-fixture.ts';
import { type Panel, panels } from '../support/prometheus/dashboard.ts';
import { prometheusMissing, startPrometheus } from '../support/prometheus/server.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const isMissing = prometheusMissing !== undefined;
const why = isMissing ? ` (left out: ${prometheusMissing})` : '';

// The embedded database has no pools to show.
test.runIf(inject('postgresql') && !isMissing)(
  `every query of the dashboard is understood by Prometheus, and finds a series${why}`,
  async () => {
    const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
    const prometheus = await startPrometheus([service.url]);
    closeAtEnd(() => prometheus.close());
    const endpoint = { url: service.url, token: await service.managementToken() };
    const receiver = await startReceiver();
    await callRest(endpoint, 'POST', '/webhooks', { name: 'a', url: receiver.url });
    const fixture = await createSignInFixture(service);
    const client = await fixture.createApplication({ allowHeadlessSignIn: true });
    subscribe(connect(endpoint));

    let count = 0;
    /** Something of everything that happens in a service. */
    const live = async () => {
      count += 1;
      await callRest(endpoint, 'POST', '/roles', { name: `role ${count}`, type: 'USER' });
      await callRest(endpoint, 'POST', '/roles', { name: 'the same', type: 'USER' });
      await requestClientCredentials(service, service.admin, {});
      await fixture.signIn();
      const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
      await step(send, 'sendCode', { email: 'Ada@example.com', purpose: 'SIGN_IN' });
    };
    const isShown = async ({ targets = [] }: Panel) => {
      const answers = await Promise.all(targets.map(({ expr }) => prometheus.query(expr)));
      return answers.every((series) => series.length > 0);
    };
    await eventually(async () => {
      await live();
      const shown = await Promise.all(panels.map(isShown));
      // Only with several processes, with replicas, with a sink, and of a service that has refused something.
      expect(panels.filter((_, i) => !shown[i]).map(({ title }) => title)).toEqual([
        'Refused exchanges by rule',
        'Lag',
        'Refused: too much to do',
        'Worker processes',
        'Lag of replicas',
        'Replicas',
        'Queries by the database that they read',
      ]);
    }, 500);
  },
);
