import type { Outcome } from '../api/use-action.ts';
import { toast } from '../dialogs/toasts.ts';

/** Shows a refusal of what applies at once; there is no form for it to stand in. */
export async function tell(running: Promise<Outcome<unknown>>): Promise<void> {
  const outcome = await running;
  if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
}
