import { createStore } from '../store.ts';

const key = 'signet.console.theme';

/** The color theme: the system's, or a chosen one. */
export type Theme = 'system' | 'light' | 'dark';

const isTheme = (value: unknown): value is Theme =>
  value === 'system' || value === 'light' || value === 'dark';

const stored = localStorage.getItem(key);

export const theme = createStore<Theme>(isTheme(stored) ? stored : 'system');

const show = () => {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
};
show();
theme.subscribe(show);

/** Chooses a theme, and remembers it in this browser. */
export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(key, chosen);
  theme.set(chosen);
}
