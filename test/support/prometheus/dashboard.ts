import { readFileSync } from 'node:fs';

/** A panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const file = new URL('../../../deploy/grafana/signet.json', import.meta.url);

/** The panels of deploy/grafana. */
export const panels: readonly Panel[] = JSON.parse(readFileSync(file, 'utf8')).panels;
