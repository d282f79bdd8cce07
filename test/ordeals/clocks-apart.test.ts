import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, inject, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { basic, fetchManagementToken } from '../support/client-credentials.ts';
import { ask, graphql, payload } from '../support/operations/graphql.ts';
import { type MailServer, startMailServer } from '../support/peers/mail-server.ts';
import { asPage, step as takeStep } from '../support/people/experience.ts';
import { useMailServer } from '../support/people/messages.ts';
import { openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password as firstPassword,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { startProcess } from '../support/process.ts';
import { startService, type TestService } from '../support/service.ts';
import { exchange, formOf, postToken } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';

const histories = Number(process.env['HISTORIES'] ?? 15);
const apartMs = 5_000;
const jumpMs = 3_600_000;
const secret = 'a secret of nodes whose clocks are apart';

/** What makes a process, its libraries included, take its machine for one whose clock is off, by an hour more after a signal. */
const offBy = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(`
    let apart = ${ms};
    process.on('SIGUSR2', () => { apart += ${jumpMs}; });
    const now = () => RealDate.now() + apart;
    const RealDate = Date;
    globalThis.Date = new Proxy(RealDate, {
      construct: (of, given, target) => Reflect.construct(of, given.length ? given : [now()], target),
      get: (of, name) => (name === 'now' ? now : Reflect.get(of, name)),
    });`)}`;

const SignOut = graphql(`
  mutation SignOutByNode($id: ID!) {
    signOutUser(input: { id: $id }) { __typename ... on SignOutUserPayload { user { id } } ... on Error { message } }
  }
`);
const NewPassword = graphql(`
  mutation NewPasswordByNode($id: ID!, $password: String!) {
    updateUserPassword(input: { id: $id, password: $password }) {
      __typename ... on UpdateUserPasswordPayload { user { id } } ... on Error { message }
    }
  }
`);

// The embedded database has the clock of its one process.
describe.runIf(inject('postgresql'))('two nodes whose clocks are apart', async () => {
  if (!inject('postgresql')) return;
  const service = await startService({ SIGNET_SECRET: secret, ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const { baseUrl } = service.app.services;
  const startNode = async (aheadMs: number) => {
    const { child, ready, ended, stdout } = startProcess({
      NODE_OPTIONS: offBy(aheadMs),
      DATABASE_URL: service.testDatabase.url as string,
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      BASE_URL: baseUrl,
      TRUST_PROXY: '1',
      SIGNET_SECRET: secret,
    });
    closeAtEnd(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return { url: await ready, stdout, jump: () => child.kill('SIGUSR2') };
  };
  const [ahead, behind] = await Promise.all([startNode(apartMs), startNode(-apartMs)]);
  const nodes = { ahead, behind } as const;
  const fixture = await createSignInFixture(service);
  const { client, resource, directory } = fixture;
  const backend = await directory.createClient({ allowTokenExchange: true });
  const token = await service.managementToken('users:write');
  type NodeName = keyof typeof nodes;

  let people = 0;
  let mails: MailServer;
  /** Receives the mails of all nodes, for one test. */
  const receiveMails = async () => {
    mails = await startMailServer();
    await useMailServer({ url: service.url, token: await service.managementToken() }, mails);
  };
  const codesTo = (email: string) =>
    mails.received
      .filter(({ to }) => to.includes(email))
      .flatMap(({ mail }) => /\b\d{6}\b/.exec(mail.text ?? '') ?? []);

  /** A person, and what has to be true of them. */
  async function arrive() {
    people += 1;
    const email = `person${people}@apart.example.com`;
    // One address for all would come to the limit of its sign-ins.
    const from = { 'x-forwarded-for': `10.0.${people >> 8}.${people & 255}` };
    const user = await fixture.createUser({ primaryEmail: email });
    await directory.allowUser(user, resource, ['read']);
    let password = firstPassword;
    let count = 0;
    let resets = 0;
    const issued: { readonly token: string; isAlive: boolean }[] = [];
    const end = () => {
      for (const one of issued) one.isAlive = false;
    };
    const nextPassword = () => {
      count += 1;
      return `another correct horse ${count}`;
    };
    /** Opens the sign-in page at a node. */
    const begin = async (at: NodeName) => {
      const { url, verifier } = await authorize(service, client, {
        resource: resource.indicator,
        scope: 'openid read',
      });
      const browser = openBrowser(baseUrl, nodes[at].url, from);
      return { browser, page: await browser.open(url), verifier };
    };
    const redeem = async (by: Pick<TestService, 'url'>, visit: Visit, verifier: string) => {
      const code = visit.url.searchParams.get('code');
      if (code === null) throw new Error(`The sign-in ended at ${visit.url}: ${visit.body}`);
      const { status, body } = await postToken(
        by,
        formOf({
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          resource: resource.indicator,
        }),
        { authorization: basic(client.id, client.secret), ...from },
      );
      expect(body).toHaveProperty('access_token');
      expect(status).toBe(200);
      issued.push({ token: body['access_token'] as string, isAlive: true });
    };
    return {
      async signIn(at: NodeName, redeemedAt: NodeName) {
        const { browser, page, verifier } = await begin(at);
        const visit = await browser.submit(page, { identifier: user.username ?? '', password });
        await redeem(nodes[redeemedAt], visit, verifier);
      },
      async resetPassword(at: NodeName, redeemedAt: NodeName) {
        const { browser, verifier } = await begin(at);
        const send = asPage(service, browser);
        const sent = await takeStep(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
        expect(sent).toMatchObject({ __typename: 'SendCodePayload' });
        resets += 1;
        const code = await eventually(() => {
          expect(codesTo(email)).toHaveLength(resets);
          return codesTo(email).at(-1);
        });
        await takeStep(send, 'verifyCode', { verificationId: sent['verification'].id, code });
        password = nextPassword();
        await takeStep(send, 'resetPassword', { password });
        end();
        const { redirectTo } = await takeStep(send, 'submitInteraction');
        await redeem(nodes[redeemedAt], await browser.open(redirectTo), verifier);
      },
      async signOut(at: NodeName) {
        const { signOutUser } = await ask({ url: nodes[at].url, token }, SignOut, { id: user.id });
        payload(signOutUser, 'SignOutUserPayload');
        end();
      },
      async newPassword(at: NodeName) {
        password = nextPassword();
        const { updateUserPassword } = await ask({ url: nodes[at].url, token }, NewPassword, {
          id: user.id,
          password,
        });
        payload(updateUserPassword, 'UpdateUserPasswordPayload');
        end();
      },
      async check(at: NodeName) {
        for (const { token: subject, isAlive } of issued.slice(-3)) {
          const { status } = await exchange(nodes[at], backend, {
            subject_token: subject,
            resource: resource.indicator,
          });
          expect({ at, isAlive, status }).toEqual({ at, isAlive, status: isAlive ? 200 : 400 });
        }
      },
    };
  }

  const offsetOf = async ({ url }: { readonly url: string }) => {
    const response = await fetch(`${url}/metrics`);
    const [, value] = /^signet_clock_offset_seconds (\S+)$/m.exec(await response.text()) ?? [];
    return Math.round(Number(value));
  };

  test('say by their metric how far they are off, and in the log beyond five seconds', async () => {
    expect(await offsetOf(ahead)).toBe(5);
    expect(await offsetOf(behind)).toBe(-5);
    const far = await startNode(-7_000);
    const warned = /"level":40,.*"seconds":-7.*this machine’s clock/;
    await eventually(() => expect(far.stdout()).toMatch(warned));
  });

  test('go on by the database’s clock when a machine’s is set an hour ahead', async () => {
    const jumping = await startNode(0);
    jumping.jump();
    let offset = 0;
    while (offset === 0) {
      offset = await offsetOf(jumping);
      const issued = decodeJwt(await fetchManagementToken(jumping, service.admin, 'users:read'));
      expect(Math.abs((issued.iat ?? 0) - Date.now() / 1000)).toBeLessThan(5);
    }
    expect(offset).toBe(jumpMs / 1000);
  });

  test('a sign-out at the node behind ends what the node ahead issued just before', async () => {
    const person = await arrive();
    await person.signIn('ahead', 'ahead');
    await person.signOut('behind');
    await person.check('ahead');
    await person.check('behind');
  });

  test('a new password at the node ahead lets people sign in at the node behind', async () => {
    const person = await arrive();
    await person.newPassword('ahead');
    await person.signIn('behind', 'behind');
    await person.check('ahead');
    await person.newPassword('ahead');
    await person.signIn('ahead', 'behind');
    await person.check('behind');
  });

  test('a code after a reset at the node ahead gives tokens that live at the node behind', async () => {
    await receiveMails();
    const person = await arrive();
    await person.signIn('behind', 'ahead');
    await person.resetPassword('ahead', 'behind');
    await person.check('behind');
    await person.check('ahead');
  });

  test('no history has a token that outlives its end, or that is dead from the start', async () => {
    await receiveMails();
    const node = fc.constantFrom<NodeName>('ahead', 'behind');
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ does: fc.constant('signIn' as const), at: node, by: node }),
      },
      fc.record({
        does: fc.constantFrom('signOut' as const, 'newPassword' as const, 'resetPassword' as const),
        at: node,
        by: node,
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const person = await arrive();
        for (const { does, at, by } of steps) {
          await person[does](at, by);
          await person.check(by);
        }
      }),
      { numRuns: histories, endOnFailure: true },
    );
  });
});
