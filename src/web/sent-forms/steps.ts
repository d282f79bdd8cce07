import { deserialize, serialize } from 'node:v8';
import { isSortable, sorted } from '../../graphql/mutations/once.ts';
import type { InteractionAccess, Services } from '../../services.ts';
import { once } from './once.ts';

/** A step of an interaction, as a program sends it. */
export interface SentStep {
  readonly operation: string;
  readonly input: object;
  /** How long its answer stands, in seconds: see `Kept`. */
  readonly standsSeconds: number | null;
}

/**
 * Answers a step of an interaction that is sent twice as it was answered the first time, as `answerOnce` does with a
 * form. The answer is kept encrypted: it may hold a code.
 */
export function answerStepOnce<Answer extends object>(
  services: Pick<Services, 'database' | 'cipher' | 'clock'>,
  { id }: Pick<InteractionAccess, 'id'>,
  { operation, input, standsSeconds }: SentStep,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (!isSortable(input)) return work();
  const { cipher } = services;
  const purpose = `sent-step:${id}` as const;
  const sent = { subject: id, target: operation, values: sorted(input) };
  return once(services, sent, work, {
    kept: (answer) => ({
      // Nothing is written of what stands for nobody.
      answer:
        standsSeconds === null
          ? {}
          : { sealed: seal(cipher.encrypt(serialize(answer).toString('base64'), purpose)) },
      standsSeconds,
    }),
    read: (kept) => {
      const { sealed } = kept as { sealed: string };
      const text = cipher.decrypt(Buffer.from(sealed, 'base64'), purpose);
      return deserialize(Buffer.from(text, 'base64')) as Answer;
    },
  });
}

const seal = (ciphertext: Uint8Array): string => Buffer.from(ciphertext).toString('base64');
