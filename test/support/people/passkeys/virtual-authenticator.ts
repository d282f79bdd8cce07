import type { CDPSession, Page } from 'playwright-core';

/** A credential as Chromium's virtual authenticator holds it. */
interface VirtualCredential {
  readonly credentialId: string;
  readonly rpId: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

/** Chromium's own authenticator, in software, attached to a page. */
export interface VirtualAuthenticator {
  credentials(): Promise<VirtualCredential[]>;
  /** Whether the person shows to be the right one from now on. */
  verify(isVerified: boolean): Promise<void>;
  /** Whether somebody touches it from now on, as soon as it asks. */
  touch(isPresent: boolean): Promise<void>;
}

/** Attaches an authenticator with resident keys and user verification, as a phone or a laptop has. */
export async function attachAuthenticator(
  page: Page,
  options: { readonly transport?: 'internal' | 'usb'; readonly isTouched?: boolean } = {},
): Promise<VirtualAuthenticator> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: options.transport ?? 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: options.isTouched ?? true,
      defaultBackupEligibility: true,
      defaultBackupState: true,
    },
  });
  return {
    async credentials() {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials as VirtualCredential[];
    },
    async verify(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    async touch(enabled) {
      await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
  };
}
