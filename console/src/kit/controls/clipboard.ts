import { language } from '../language/language.ts';
import { toast } from '../toasts.ts';
import { controlMessages } from './messages.ts';

/** Copies a text to the clipboard. Returns false and shows a notice if that is not allowed. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast.failed(controlMessages[language.get()].copyFailed);
    return false;
  }
}
