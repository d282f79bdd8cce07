import { useFormContext, useWatch } from 'react-hook-form';
import * as z from 'zod/mini';
import type { SecurityProfile, UpdateApplicationInput } from '../../generated/graphql.ts';
import { Notice } from '../../kit/controls/notice.tsx';
import { ActionForm } from '../../kit/forms/action-form.tsx';
import { choicesOf, RadioCards } from '../../kit/forms/choices.tsx';
import { DurationField } from '../../kit/forms/duration-field.tsx';
import { CheckField, TextAreaField, TextField } from '../../kit/forms/fields.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { isObjectText, objectIn, objectText } from '../../kit/forms/object-text.ts';
import { useMessages } from '../../kit/language/language.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import { UpdateApplication } from '../documents.ts';
import { keepsSecret, type ShownApplication, signsIn } from '../types.ts';
import { securityMessages } from './messages.ts';

const profiles = ['NONE', 'FAPI_2_0'] as const satisfies readonly SecurityProfile[];
const sources = ['NONE', 'JWKS', 'JWKS_URI'] as const;

interface Values {
  readonly securityProfile: (typeof profiles)[number];
  readonly keySource: (typeof sources)[number];
  readonly jwks: string;
  readonly jwksUri: string;
  readonly allowSecrets: boolean;
  readonly requireDpop: boolean;
  readonly mayRebindTokens: boolean;
  readonly requirePushedAuthorizationRequests: boolean;
  readonly requirePkce: boolean;
  readonly refreshTokenReuseSeconds: number;
}

/** The keys of an application, and what its requests and its tokens must be like. */
export function SecurityTab({ application }: { application: ShownApplication }) {
  const t = useMessages(securityMessages);
  const texts = useMessages(formMessages);
  const canWrite = useCan('applications:write');
  return (
    <Section title={t.title} about={t.about}>
      <ActionForm
        document={UpdateApplication}
        record={application}
        isReadOnly={!canWrite}
        schema={z
          .object({
            securityProfile: z.enum(profiles),
            keySource: z.enum(sources),
            jwks: z.string(),
            jwksUri: z.string(),
            allowSecrets: z.boolean(),
            requireDpop: z.boolean(),
            mayRebindTokens: z.boolean(),
            requirePushedAuthorizationRequests: z.boolean(),
            requirePkce: z.boolean(),
            refreshTokenReuseSeconds: z
              .int(t.reuseBounds)
              .check(z.gte(0, t.reuseBounds), z.lte(300, t.reuseBounds)),
          })
          .check(
            z.refine(
              ({ securityProfile, keySource }) =>
                securityProfile === 'NONE' || keySource !== 'NONE',
              { path: ['keySource'], error: t.needsKeys },
            ),
            z.refine(({ keySource, jwks }) => keySource !== 'JWKS' || isObjectText(jwks), {
              path: ['jwks'],
              error: t.notASet,
            }),
            z.refine(
              ({ keySource, jwksUri }) => keySource !== 'JWKS_URI' || jwksUri.trim() !== '',
              {
                path: ['jwksUri'],
                error: texts.required,
              },
            ),
          )}
        values={valuesOf(application)}
        toInput={(values) => inputOf(application, values)}
        onDone={() => toast.done(texts.saved)}
        submit={texts.save}
      >
        {keepsSecret(application.type) && <Keys />}
        <Requirements application={application} />
      </ActionForm>
    </Section>
  );
}

function Keys() {
  const t = useMessages(securityMessages);
  const source = useWatch({ name: 'keySource' });
  const isFapi = useWatch({ name: 'securityProfile' }) === 'FAPI_2_0';
  return (
    <>
      <RadioCards
        name="securityProfile"
        label={t.profile}
        choices={choicesOf(profiles, t.profiles, t.profileTexts)}
      />
      {isFapi && <Notice>{t.profileSets}</Notice>}
      <RadioCards
        name="keySource"
        label={t.keys}
        hint={t.keysHint}
        choices={choicesOf(sources, t.sources, t.sourceTexts)}
      />
      {source === 'JWKS' && (
        <TextAreaField name="jwks" label={t.jwks} hint={t.jwksHint} isCode rows={10} />
      )}
      {source === 'JWKS_URI' && (
        <TextField
          name="jwksUri"
          type="url"
          label={t.jwksUri}
          hint={t.jwksUriHint}
          placeholder="https://app.example.com/jwks.json"
          isCode
        />
      )}
      {!isFapi && (
        <CheckField name="allowSecrets" label={t.allowSecrets} hint={t.allowSecretsHint} />
      )}
    </>
  );
}

function Requirements({ application: { type } }: { application: ShownApplication }) {
  const t = useMessages(securityMessages);
  const { getValues } = useFormContext<Values>();
  const isFapi =
    useWatch<Values>({ name: 'securityProfile', defaultValue: getValues('securityProfile') }) ===
    'FAPI_2_0';
  return (
    <>
      {!isFapi && <CheckField name="requireDpop" label={t.requireDpop} hint={t.requireDpopHint} />}
      {keepsSecret(type) && (
        <CheckField name="mayRebindTokens" label={t.mayRebind} hint={t.mayRebindHint} />
      )}
      {signsIn(type) && !isFapi && (
        <CheckField
          name="requirePushedAuthorizationRequests"
          label={t.requirePar}
          hint={t.requireParHint}
        />
      )}
      {type === 'TRADITIONAL' && !isFapi && (
        <CheckField name="requirePkce" label={t.requirePkce} hint={t.requirePkceHint} />
      )}
      {signsIn(type) && !isFapi && (
        <DurationField name="refreshTokenReuseSeconds" label={t.reuse} hint={t.reuseHint} />
      )}
    </>
  );
}

const valuesOf = (application: ShownApplication): Values => {
  const { keys, securityProfile } = application;
  return {
    securityProfile,
    keySource: keys?.jwks ? 'JWKS' : keys?.jwksUri ? 'JWKS_URI' : 'NONE',
    jwks: keys?.jwks ? objectText(keys.jwks) : '',
    jwksUri: keys?.jwksUri ?? '',
    allowSecrets: application.allowSecrets,
    requireDpop: application.requireDpop,
    mayRebindTokens: application.mayRebindTokens,
    requirePushedAuthorizationRequests: application.requirePushedAuthorizationRequests,
    requirePkce: application.requirePkce,
    refreshTokenReuseSeconds: application.refreshTokenReuseSeconds,
  };
};

/** What is sent: the profile sets what is absent, and refuses what breaks it. */
function inputOf(application: ShownApplication, values: Values): UpdateApplicationInput {
  const { id, type } = application;
  const isFapi = values.securityProfile === 'FAPI_2_0';
  const { requireDpop, requirePushedAuthorizationRequests, refreshTokenReuseSeconds } = values;
  return {
    id,
    ...(keepsSecret(type)
      ? {
          securityProfile: values.securityProfile,
          mayRebindTokens: values.mayRebindTokens,
          ...keysIn(application, values),
        }
      : {}),
    ...(isFapi
      ? {}
      : {
          requireDpop,
          ...(keepsSecret(type) ? { allowSecrets: values.allowSecrets } : {}),
          ...(signsIn(type)
            ? { requirePushedAuthorizationRequests, refreshTokenReuseSeconds }
            : {}),
          ...(type === 'TRADITIONAL' ? { requirePkce: values.requirePkce } : {}),
        }),
  };
}

/** The keys, if they are others than before: whoever sets them may do no more by them than the application could. */
function keysIn(application: ShownApplication, values: Values) {
  const before = valuesOf(application);
  const isSame = (['keySource', 'jwks', 'jwksUri'] as const).every(
    (field) => values[field] === before[field],
  );
  if (isSame) return {};
  return {
    jwks: values.keySource === 'JWKS' ? (objectIn(values.jwks) ?? null) : null,
    jwksUri: values.keySource === 'JWKS_URI' ? values.jwksUri.trim() : null,
  };
}
