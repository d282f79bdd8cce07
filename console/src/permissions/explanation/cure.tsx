import type {
  ExchangeRule,
  ExplainTokenExchangeQueryVariables,
  SubjectTokenType,
  UpdateApplicationInput,
} from '../../generated/graphql.ts';
import { useAction } from '../../kit/api/use-action.ts';
import { Button, ButtonLink } from '../../kit/controls/button.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { useCan } from '../../kit/session/session.ts';
import { toast } from '../../kit/toasts.ts';
import { AllowInExchange } from './documents.ts';
import { explanationMessages } from './messages.ts';

type Text = keyof (typeof explanationMessages)['en']['cures'];

/** A change of the application that mends a rule. */
interface Change {
  readonly text: Text;
  readonly changes: Omit<UpdateApplicationInput, 'id'>;
}

const allowedTypes: Readonly<Partial<Record<SubjectTokenType, Change>>> = {
  SUBJECT_TOKEN: { text: 'allowImpersonation', changes: { allowImpersonation: true } },
  PERSONAL_ACCESS_TOKEN: { text: 'allowPersonal', changes: { allowPersonalAccessTokens: true } },
};

const changeFor = (rule: ExchangeRule, tokenType: SubjectTokenType): Change | undefined =>
  rule === 'EXCHANGE_ALLOWED'
    ? { text: 'allowExchange', changes: { allowTokenExchange: true } }
    : rule === 'SUBJECT_TOKEN_TYPE_ALLOWED'
      ? allowedTypes[tokenType]
      : undefined;

/** What to do about a rule that fails: a button that changes the application, or a link to where it is changed. */
export function Cure({
  rule,
  asked: { applicationId, userId, organizationId, subjectTokenType },
}: {
  rule: ExchangeRule;
  asked: ExplainTokenExchangeQueryVariables;
}) {
  const { cures: t } = useMessages(explanationMessages);
  const canWrite = useCan('applications:write');
  const change = changeFor(rule, subjectTokenType);
  if (change) return canWrite && <Allow applicationId={String(applicationId)} change={change} />;
  switch (rule) {
    case 'USER_ACTIVE':
      return (
        <ButtonLink size="small" to="/users/$id" params={{ id: String(userId) }}>
          {t.openUser}
        </ButtonLink>
      );
    case 'RESOURCE':
      return (
        <ButtonLink size="small" to="/apis" search={{ create: 'true' }}>
          {t.createApi}
        </ButtonLink>
      );
    case 'ORGANIZATION':
      return (
        organizationId && (
          <ButtonLink size="small" to="/organizations/$id" params={{ id: String(organizationId) }}>
            {t.openOrganization}
          </ButtonLink>
        )
      );
    case 'APPLICATION_SECRET':
    case 'SUBJECT_AUDIENCE':
    case 'SUBJECT_CONSENT':
    case 'SUBJECT_KEY_PROVEN':
    case 'RESOURCE_ALLOWED':
    case 'RESOURCE_REACHED':
      return (
        <ButtonLink size="small" to="/applications/$id" params={{ id: String(applicationId) }}>
          {t.openApplication}
        </ButtonLink>
      );
    default:
      return null;
  }
}

function Allow({
  applicationId,
  change: { text, changes },
}: {
  applicationId: string;
  change: Change;
}) {
  const t = useMessages(explanationMessages);
  const { run, isRunning } = useAction(AllowInExchange);
  const input = { id: applicationId, ...changes };
  const allow = async () => {
    const outcome = await run(input);
    if (outcome.kind === 'done') toast.done(t.allowed);
    if (outcome.kind === 'refused') toast.failed(outcome.refusal.issues[0]?.message ?? '');
  };
  return (
    <>
      <Button size="small" isBusy={isRunning} onClick={allow}>
        {t.cures[text]}
      </Button>
      <CopyAs document={AllowInExchange} input={input} isInRow />
    </>
  );
}
