import type { Outcome } from '../../kit/api/use-action.ts';
import { toast } from '../../kit/toasts.ts';

/** Shows the refusal of a mutation that no form runs. */
export async function showRefusal(running: Promise<Outcome<unknown>>): Promise<void> {
  const outcome = await running;
  if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
}
