import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import type { ConfigurationKind } from '../generated/graphql.ts';
import type { Refusal } from '../kit/api/refusal.ts';
import { useAction } from '../kit/api/use-action.ts';
import { Button } from '../kit/controls/button.tsx';
import { classes } from '../kit/controls/classes.ts';
import { CopyAs } from '../kit/controls/copy-as.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { Time } from '../kit/controls/time.tsx';
import { CheckGroups } from '../kit/forms/choices.tsx';
import { TextAreaField } from '../kit/forms/fields.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { useStore } from '../kit/store.ts';
import { toast } from '../kit/toasts.ts';
import styles from './configuration.module.css';
import { ApplyConfiguration, type Plan, PlanConfiguration } from './documents.ts';
import { Faults } from './faults.tsx';
import { kept } from './kept.ts';
import { configurationMessages } from './messages.ts';
import { PlanSection } from './plan.tsx';

/** The kinds in the order of a document. */
const kinds = [
  'RESOURCE',
  'SCOPE',
  'ROLE',
  'ORGANIZATION_SCOPE',
  'ORGANIZATION_ROLE',
  'APPLICATION',
  'TRUSTED_ISSUER',
  'CROSS_APP_CONNECTION',
  'WEBHOOK',
  'IDENTITY_PROVIDER',
  'MESSAGE_SENDER',
  'SIGN_IN_EXPERIENCE',
] as const satisfies readonly ConfigurationKind[];

interface Values {
  readonly document: string;
  readonly prune: ConfigurationKind[];
}

type Result =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'planned'; readonly plan: Plan; readonly hasMoved: boolean }
  | { readonly kind: 'applied'; readonly plan: Plan };

/** Takes a document, shows its plan, and applies it. */
export function Import() {
  const t = useMessages(configurationMessages);
  const { plannedAt } = useStore(kept);
  const form = useForm<Values>({
    defaultValues: { document: kept.get().document, prune: [...kept.get().prune] },
  });
  const planning = useAction(PlanConfiguration);
  const applying = useAction(ApplyConfiguration);
  const [result, setResult] = useState<Result>();
  const shown = useRef<HTMLDivElement>(null);
  const { watch } = form;
  useEffect(() => {
    const { unsubscribe } = watch(({ document = '', prune = [] }) => {
      kept.set({ document, prune: prune.filter((kind) => kind !== undefined) });
      // A plan is of the document that it was made for.
      setResult(undefined);
    });
    return unsubscribe;
  }, [watch]);
  useEffect(() => {
    if (result) shown.current?.focus();
  }, [result]);

  const plan = async ({ document, prune }: Values, hasMoved = false) => {
    const outcome = await planning.run({ document, prune });
    if (outcome.kind === 'failed') return;
    kept.set({ document, prune, plannedAt: new Date().toISOString() });
    setResult(
      outcome.kind === 'done' ? { kind: 'planned', plan: outcome.payload.plan, hasMoved } : outcome,
    );
  };
  const apply = async (planned: Plan) => {
    const values = form.getValues();
    const outcome = await applying.run({ ...values, expectedDigest: planned.digest });
    if (outcome.kind === 'failed') return;
    if (outcome.kind === 'done') {
      toast.done(t.applied);
      setResult({ kind: 'applied', plan: outcome.payload.plan });
    } else if (outcome.refusal.code === 'VERSION_CONFLICT') await plan(values, true);
    else setResult(outcome);
  };
  const take = (document: string) =>
    form.setValue('document', document, { shouldDirty: true, shouldValidate: true });
  return (
    <>
      <Section title={t.importTitle} about={t.importAbout}>
        <FormProvider {...form}>
          <form
            noValidate
            className={styles.form}
            onSubmit={(event) => void form.handleSubmit((values) => plan(values))(event)}
          >
            <DocumentField onText={take} />
            <CheckGroups
              name="prune"
              label={t.prune}
              hint={t.pruneHint}
              isOptional
              groups={[
                {
                  label: t.allKinds,
                  choices: kinds.map((value) => ({ value, label: t.kinds[value] })),
                },
              ]}
            />
            <div className={styles.bar}>
              <CopyAs document={PlanConfiguration} input={form.getValues} />
              <Button
                type="submit"
                kind={result?.kind === 'planned' ? 'plain' : 'primary'}
                isBusy={planning.isRunning}
              >
                {plannedAt ? t.planAgain : t.plan}
              </Button>
            </div>
            {plannedAt && !result && (
              <p className={styles.about}>
                {t.plannedAt} <Time at={plannedAt} />. {t.drift}
              </p>
            )}
          </form>
        </FormProvider>
      </Section>
      {result && (
        <div ref={shown} tabIndex={-1} className={styles.result}>
          {result.kind === 'refused' && <Faults refusal={result.refusal} />}
          {result.kind !== 'refused' && (
            <>
              {result.kind === 'planned' && result.hasMoved && (
                <div role="alert">
                  <Notice tone="warn" title={t.movedTitle}>
                    {t.movedText}
                  </Notice>
                </div>
              )}
              <PlanSection
                plan={result.plan}
                isApplied={result.kind === 'applied'}
                input={{ ...form.getValues(), expectedDigest: result.plan.digest }}
                isApplying={applying.isRunning}
                onApply={() => void apply(result.plan)}
              />
            </>
          )}
        </div>
      )}
    </>
  );
}

/** The document: typed, pasted, dropped, or chosen as a file. */
function DocumentField({ onText }: { onText: (text: string) => void }) {
  const t = useMessages(configurationMessages);
  const id = useId();
  const [isOver, setIsOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (file) onText(await file.text());
  };
  const holdsFile = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: whoever has no pointer chooses the file below.
    <div
      className={classes(styles.drop, isOver && styles.over)}
      onDragOver={(event) => {
        if (!holdsFile(event)) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        if (!holdsFile(event)) return;
        event.preventDefault();
        setIsOver(false);
        void read(event.dataTransfer.files[0]);
      }}
    >
      <TextAreaField
        name="document"
        label={t.document}
        hint={t.documentHint}
        placeholder="signet: 1"
        rows={12}
        isCode
      />
      <label htmlFor={id} className={styles.fileLabel}>
        {t.chooseFile}
      </label>
      <input
        id={id}
        type="file"
        className={styles.file}
        accept=".yaml,.yml,.json,application/yaml,application/json"
        onChange={(event) => {
          void read(event.target.files?.[0]);
          // So that the same file can be chosen again once it has changed.
          event.target.value = '';
        }}
      />
    </div>
  );
}
