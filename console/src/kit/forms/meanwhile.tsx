import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { type FieldValues, get, type Path, type UseFormReturn } from 'react-hook-form';
import { refresh } from '../api/refresh.ts';
import { Icon } from '../controls/icon.tsx';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import type { NamedField } from './field.tsx';
import styles from './meanwhile.module.css';
import { formMessages } from './messages.ts';

/** The record that a form was filled from. */
export interface Versioned {
  readonly version: number;
}

type Side = 'yours' | 'theirs';

/** A field that both sides have changed. */
interface Clash {
  readonly name: string;
  readonly yours: unknown;
  readonly theirs: unknown;
  readonly choice?: Side;
}

interface Found {
  readonly clashes: readonly Clash[];
  /** The names of fields that only the other side has changed. */
  readonly taken: readonly string[];
  /** Set once a save was refused: the version that the record then had. */
  readonly refusedAt?: number | undefined;
  /** Whether a save was tried before all was decided. */
  readonly isUndecided?: boolean;
}

const nothing: Found = { clashes: [], taken: [] };

// The values of forms are texts, numbers, booleans, and lists of those or of pairs of texts.
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What a form does about changes that somebody else saves meanwhile. */
export interface Meanwhile<Values> extends Found {
  /** The version that the form was filled from. */
  readonly version: number | undefined;
  /** Whether what was saved meanwhile is still being loaded. */
  readonly isLoading: boolean;
  /** The fields that the form shows, by name. */
  readonly fields: Map<string, NamedField>;
  readonly choose: (name: string, side: Side) => void;
  /** Called before a save. Returns false, and says why, as long as a field is undecided. */
  readonly begin: () => boolean;
  /** Called once the save was refused because the record has another version. */
  readonly refused: (currentVersion: number) => void;
  /** Called once a save came to something else. */
  readonly end: (saved?: Values) => void;
  readonly forget: () => void;
}

/**
 * Finds what somebody else has changed since a form was filled, so that a save overwrites nothing unseen. The form
 * takes over the fields that are not being edited; of the others, the ones that differ are to be decided.
 */
export function useMeanwhile<Values extends FieldValues>(
  form: UseFormReturn<Values, unknown, Values>,
  values: Values,
  record: Versioned | undefined,
): Meanwhile<Values> {
  const version = record?.version;
  const shown = { version, values };
  const base = useRef(shown);
  const latest = useRef(shown);
  latest.current = shown;
  const fields = useRef(new Map<string, NamedField>()).current;
  const isSaving = useRef(false);
  const [found, setFound] = useState(nothing);
  const typed = (name: string): unknown => form.getValues(name as Path<Values>);

  // The library's own way to keep edited fields, `keepDirtyValues`, forgets that there are unsaved changes.
  const filled = useRef(values);
  const filledAs = JSON.stringify(values);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `filledAs` stands for the values.
  useEffect(() => {
    const before = filled.current;
    if (isSame(before, values)) return;
    filled.current = values;
    const edited = [...fields.keys()]
      .map((name) => [name, typed(name)] as const)
      .filter(([name, value]) => !isSame(value, get(before, name)));
    form.reset(values, { keepFieldsRef: true });
    for (const [name, value] of edited) {
      form.setValue(name as Path<Values>, value as never, { shouldDirty: true });
    }
  }, [filledAs]);

  const merge = () => {
    const before = base.current;
    const now = latest.current;
    // What this form saves comes back as a new version too.
    if (isSaving.current || now.version === before.version) return;
    base.current = now;
    const theirs = (name: string): unknown => get(now.values, name);
    const isKept = (name: string) => !isSame(typed(name), theirs(name));
    const names = [...fields.keys()];
    const changed = names.filter((name) => !isSame(get(before.values, name), theirs(name)));
    const isEdited = names.some(isKept);
    setFound((known) => {
      if (!isEdited && known.refusedAt === undefined) return nothing;
      const clashes = changed
        .filter(isKept)
        .map((name) => ({ name, yours: typed(name), theirs: theirs(name) }));
      const again = new Set(changed);
      return {
        ...known,
        clashes: [...known.clashes.filter(({ name }) => !again.has(name)), ...clashes],
        taken: [...new Set([...known.taken, ...changed.filter((name) => !isKept(name))])].filter(
          (name) => !clashes.some((clash) => clash.name === name),
        ),
      };
    });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a version has its values.
  useEffect(merge, [version]);

  return {
    ...found,
    version: base.current.version,
    // Until it is merged, there is nothing to decide, and nothing that takes the focus.
    isLoading: found.refusedAt !== undefined && (base.current.version ?? 0) < found.refusedAt,
    fields,
    choose(name, side) {
      const clash = found.clashes.find((one) => one.name === name);
      if (!clash) return;
      form.setValue(name as Path<Values>, clash[side] as never, { shouldDirty: true });
      setFound({
        ...found,
        clashes: found.clashes.map((one) => (one === clash ? { ...one, choice: side } : one)),
      });
    },
    begin() {
      // A field that is edited once more is decided by that.
      const isUndecided = found.clashes.some(
        ({ name, yours, choice }) => !choice && isSame(typed(name), yours),
      );
      isSaving.current = !isUndecided;
      setFound({ ...found, isUndecided });
      return !isUndecided;
    },
    refused(currentVersion) {
      isSaving.current = false;
      setFound((known) => ({ ...known, refusedAt: currentVersion }));
      merge();
      if ((latest.current.version ?? 0) < currentVersion) refresh();
    },
    end(saved) {
      isSaving.current = false;
      if (!saved) return merge();
      base.current = latest.current;
      filled.current = saved;
      setFound(nothing);
    },
    forget: () => setFound(nothing),
  };
}

/** Shows what somebody else has saved meanwhile, and both values of each field that is to be decided. */
export function MeanwhileNotice<Values>({
  meanwhile,
  anchor,
}: {
  meanwhile: Meanwhile<Values>;
  /** Gets the focus once a save was refused. */
  anchor: RefObject<HTMLDivElement | null>;
}) {
  const t = useMessages(formMessages);
  const format = useFormat();
  const id = useId();
  const { clashes, taken, refusedAt, isUndecided, isLoading, fields, choose } = meanwhile;
  const labelOf = (name: string) => fields.get(name)?.label ?? name;
  if (refusedAt === undefined && clashes.length === 0 && taken.length === 0) return null;
  return (
    <div
      ref={anchor}
      className={styles.meanwhile}
      role="group"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      tabIndex={-1}
    >
      <p className={styles.title} id={`${id}-title`}>
        <Icon name="warning" />
        {t.meanwhileTitle}
      </p>
      <div id={`${id}-text`}>
        <p>{refusedAt === undefined ? t.meanwhileSeen : t.meanwhileRefused}</p>
        {isLoading ? (
          <p>{t.meanwhileLoading}</p>
        ) : (
          <p>
            {taken.length > 0 && `${t.meanwhileTaken(format.list(taken.map(labelOf)))} `}
            {clashes.length > 0
              ? t.meanwhileChoose
              : refusedAt !== undefined &&
                (taken.length > 0
                  ? t.meanwhileSaveAgain
                  : `${t.meanwhileElsewhere} ${t.meanwhileSaveAgain}`)}
          </p>
        )}
      </div>
      {clashes.map((clash) => (
        <fieldset key={clash.name} className={styles.clash}>
          <legend>{labelOf(clash.name)}</legend>
          <div className={styles.sides}>
            {(['yours', 'theirs'] as const).map((side) => (
              <label key={side} className={styles.side}>
                <input
                  type="radio"
                  className={styles.box}
                  name={`${id}-${clash.name}`}
                  checked={clash.choice === side}
                  onChange={() => choose(clash.name, side)}
                />
                <span>
                  <span className={styles.whose}>{t[side]}</span>
                  <Shown
                    value={clash[side]}
                    other={clash[side === 'yours' ? 'theirs' : 'yours']}
                    choices={fields.get(clash.name)?.choices}
                  />
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      {isUndecided && (
        <p className={styles.undecided} role="alert">
          {t.meanwhileUndecided}
        </p>
      )}
    </div>
  );
}

/** A value of a field. Of a list, what the other one has too is only counted. */
function Shown({
  value,
  other,
  choices = [],
}: {
  value: unknown;
  other: unknown;
  choices?: NamedField['choices'];
}) {
  const t = useMessages(formMessages);
  const nameOf = (one: unknown) =>
    typeof one === 'object' && one !== null
      ? Object.values(one).join(' = ')
      : (choices.find((choice) => choice.value === one)?.label ?? String(one));
  if (typeof value === 'boolean') return <span>{value ? t.on : t.off}</span>;
  if (!Array.isArray(value)) {
    const text = nameOf(value ?? '');
    return <span className={text ? styles.value : styles.none}>{text || t.empty}</span>;
  }
  const others = new Set(Array.isArray(other) ? other : []);
  const own = value.filter((one) => !others.has(one));
  // With the same entries, only their order differs.
  const lines = own.length > 0 || others.size > value.length ? own : value;
  const inBoth = value.length - lines.length;
  return (
    <span className={styles.value}>
      {lines.map(nameOf).join('\n')}
      {inBoth > 0 && (
        <span className={styles.none}>{`${lines.length > 0 ? '\n' : ''}${t.inBoth(inBoth)}`}</span>
      )}
      {value.length === 0 && <span className={styles.none}>{t.empty}</span>}
    </span>
  );
}
