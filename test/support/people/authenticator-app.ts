import { TOTP } from 'otpauth';
import type { Clock } from '../../../src/clock.ts';
import { type Send, step } from './experience.ts';

/** An authenticator app that has taken the secret of an enrolment. */
export interface AuthenticatorApp {
  /** The code that it shows; with an offset, the one so many time steps from now. */
  code(offset?: number): string;
  /** A code of six digits that is none near now. */
  wrongCode(): string;
}

/** An authenticator app that reads time from the service's clock. */
export function authenticatorApp(clock: Clock, secret: string): AuthenticatorApp {
  const totp = new TOTP({ secret });
  const code = (offset = 0) =>
    totp.generate({ timestamp: clock.now().getTime() + offset * 30_000 });
  return {
    code,
    wrongCode() {
      const near = [-2, -1, 0, 1, 2].map(code);
      return ['000000', '111111', '222222', '333333', '444444', '555555'].find(
        (one) => !near.includes(one),
      ) as string;
    },
  };
}

/** Adds an authenticator app during a sign-in. */
export async function enrollApp(send: Send, clock: Clock): Promise<AuthenticatorApp> {
  const { secret, ...refused } = await step(send, 'enrollTotp');
  if (!secret) throw new Error(`Nothing to scan: ${JSON.stringify(refused)}`);
  const app = authenticatorApp(clock, secret);
  const confirmed = await step(send, 'confirmTotp', { code: app.code() });
  if (confirmed.__typename !== 'ConfirmTotpPayload')
    throw new Error(`The app was refused: ${JSON.stringify(confirmed)}`);
  return app;
}
