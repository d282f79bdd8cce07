let steps = 0;

/** Begins a step of a demo, on the terminal. */
export function step(title: string): void {
  steps += 1;
  console.log(`\n\u001b[1m${steps}. ${title}\u001b[0m`);
}

/** Shows a request or an answer. */
export function show(label: string, value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  console.log(`${label.padStart(9)}  ${shorten(text).replaceAll('\n', `\n${' '.repeat(11)}`)}`);
}

/** Says that nothing failed. */
export function allHeld(): void {
  console.log(`\nAll ${steps} steps held.\n`);
}

// Tokens and secrets are long, and nobody reads them.
const shorten = (text: string) =>
  text.replaceAll(/[\w.-]{60,}/g, (long) => `${long.slice(0, 40)}…`);
