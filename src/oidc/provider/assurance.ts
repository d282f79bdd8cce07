import type Provider from 'oidc-provider';
import { type Interaction, interactionPolicy } from 'oidc-provider';
import type { Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';

const [aal1, aal2] = ['urn:signet:aal1', 'urn:signet:aal2'];

/** The authentication context classes of sign-ins, the weakest first. */
export const acrValuesSupported = [aal1, aal2] as const;

/** The authentication context class of a sign-in (OpenID Connect Core §2): with a second factor, or without. */
export const acrOf = (methods: readonly string[]): string =>
  methods.includes('mfa') ? aal2 : aal1;

/**
 * Whether an application asks for a second factor: its `acr_values` (OpenID Connect Core §3.1.2.1) name the class of a
 * sign-in with one, and not that of one without.
 */
export function asksSecondFactor(acrValues: unknown): boolean {
  const wanted = typeof acrValues === 'string' ? acrValues.split(' ') : [];
  return wanted.includes(aal2) && !wanted.includes(aal1);
}

const stepUpReason = 'second_factor';

/**
 * Asks for an interaction when the session lacks the second factor that the application asks for. `acr_values` is a
 * voluntary request: where no factor is offered, the session is accepted as it is.
 */
export const stepUpCheck = ({ database }: Pick<Services, 'database'>): interactionPolicy.Check =>
  new interactionPolicy.Check(
    stepUpReason,
    'a second factor is required',
    'login_required',
    async ({ oidc: { params, session } }) => {
      const isShort = asksSecondFactor(params?.['acr_values']) && session?.acr !== aal2;
      if (!isShort || session?.accountId === undefined) return false;
      return (await readSettingsInForce(database.prisma, session.accountId)).factors.length > 0;
    },
  );

/** Who is signed in in a browser, since when, and how (RFC 8176). */
export interface SignedIn {
  readonly userId: string;
  readonly authenticatedAt: Date;
  readonly methods: readonly string[];
}

/**
 * The person whose session lacks nothing but a second factor (step-up, RFC 9470).
 *
 * @returns Undefined for any other interaction, and when the session is over.
 */
export async function findStepUp(
  provider: Provider,
  { prompt, session }: Interaction,
): Promise<SignedIn | undefined> {
  const isStepUp = prompt.reasons.every((reason) => reason === stepUpReason);
  if (prompt.name !== 'login' || !isStepUp || !session) return undefined;
  const found = await provider.Session.findByUid(session.uid);
  if (!found?.loginTs || found.accountId !== session.accountId) return undefined;
  return {
    userId: session.accountId,
    authenticatedAt: new Date(found.loginTs * 1000),
    methods: found.amr ?? [],
  };
}
