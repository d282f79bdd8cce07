import { toast } from '../dialogs/toasts.ts';
import { language } from '../language/language.ts';
import { controlMessages } from './messages.ts';

/** Puts a text into the clipboard. False, and said so, where that is not allowed. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast.failed(controlMessages[language.get()].copyFailed);
    return false;
  }
}
