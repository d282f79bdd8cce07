import type { Database } from '../db/database.ts';

/** Who may register an application by a document at its URL. */
export const metadataDocumentPolicies = ['OFF', 'LISTED', 'ANY'] as const;

/** Who may register applications by themselves. */
export const dynamicPolicies = ['OFF', 'INITIAL_ACCESS_TOKEN', 'OPEN'] as const;

/** How applications become known that no administrator creates. */
export interface ClientRegistration {
  readonly metadataDocuments: (typeof metadataDocumentPolicies)[number];
  /** The hosts of documents that are read if it is `LISTED`; without ports. */
  readonly metadataHosts: readonly string[];
  readonly dynamic: (typeof dynamicPolicies)[number];
}

/** Settings of the service. */
export interface ServiceSettings {
  readonly clientRegistration: ClientRegistration;
  /** After how many days a new signing key is made; null: by hand alone. */
  readonly signingKeyRotationDays: number | null;
  /** Whether proofs of possession need a nonce of the service. */
  readonly dpopNonce: DpopNonce;
}

/** Whether proofs of possession need a nonce of the service; `auth/dpop/nonce.ts` reads it. */
export const dpopNonces = ['OFF', 'REQUIRED'] as const;
export type DpopNonce = (typeof dpopNonces)[number];

/** The default settings. */
const defaultServiceSettings: ServiceSettings = {
  signingKeyRotationDays: null,
  dpopNonce: 'OFF',
  clientRegistration: { metadataDocuments: 'OFF', metadataHosts: [], dynamic: 'OFF' },
};

/** Settings as they are stored: what was changed, by group. */
type StoredSettings = Partial<
  Omit<ServiceSettings, 'clientRegistration'> & {
    readonly clientRegistration: Partial<ClientRegistration>;
  }
>;

/** The id of the one row that holds the settings. */
export const settingsId = 'settings';

type SettingsClient = Pick<Database['prisma'], 'serviceSettings'>;

/** Reads the settings by primary key. Those that were never changed have their defaults. */
export const readServiceSettings = async (client: SettingsClient): Promise<ServiceSettings> =>
  withDefaults(await readStoredSettings(client));

/** Reads only the settings that were changed. */
export async function readStoredSettings({
  serviceSettings,
}: SettingsClient): Promise<StoredSettings> {
  const row = await serviceSettings.findUnique({ where: { id: settingsId } });
  // Only `updateServiceSettings` writes these values, and it has checked them.
  return (row?.settings ?? {}) as StoredSettings;
}

/** The version of the settings: 1 before the first change. */
export async function readSettingsVersion({ serviceSettings }: SettingsClient): Promise<number> {
  const row = await serviceSettings.findUnique({
    where: { id: settingsId },
    select: { version: true },
  });
  return row?.version ?? 1;
}

/** Settings, with defaults for everything absent. */
export const withDefaults = (stored: StoredSettings): ServiceSettings => ({
  ...defaultServiceSettings,
  ...stored,
  clientRegistration: {
    ...defaultServiceSettings.clientRegistration,
    ...stored.clientRegistration,
  },
});
