import { Html } from '../../markup.ts';

const drawing = (content: string): Html =>
  new Html(`<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">${content}</svg>`);

const google = drawing(
  '<path fill="#4285f4" d="M23.5 12.3c0-.9-.1-1.7-.2-2.5H12v4.7h6.5a5.5 5.5 0 0 1-2.4 3.6v3H20c2.3-2.1 3.5-5.2 3.5-8.8z"/><path fill="#34a853" d="M12 24c3.2 0 6-1.1 8-2.9l-3.9-3c-1.1.7-2.5 1.1-4.1 1.1-3.1 0-5.8-2.1-6.7-4.9h-4v3.1A12 12 0 0 0 12 24z"/><path fill="#fbbc05" d="M5.3 14.3a7.2 7.2 0 0 1 0-4.6V6.6h-4a12 12 0 0 0 0 10.8l4-3.1z"/><path fill="#ea4335" d="M12 4.8c1.8 0 3.3.6 4.6 1.8L20 3.1A12 12 0 0 0 1.3 6.6l4 3.1c.9-2.8 3.6-4.9 6.7-4.9z"/>',
);
const microsoft = drawing(
  '<path fill="#f25022" d="M1 1h10.5v10.5H1z"/><path fill="#7fba00" d="M12.5 1H23v10.5H12.5z"/><path fill="#00a4ef" d="M1 12.5h10.5V23H1z"/><path fill="#ffb900" d="M12.5 12.5H23V23H12.5z"/>',
);
const apple = drawing(
  '<path fill="currentColor" d="M12.15 6.9c-.95 0-2.41-1.08-3.96-1.04-2.04.03-3.91 1.18-4.96 3.01-2.12 3.68-.55 9.1 1.52 12.09 1.01 1.46 2.2 3.09 3.79 3.04 1.52-.06 2.09-.99 3.94-.99 1.83 0 2.35.99 3.96.95 1.63-.03 2.67-1.48 3.67-2.95 1.16-1.69 1.64-3.33 1.67-3.42-.04-.01-3.19-1.22-3.22-4.86-.03-3.04 2.48-4.49 2.6-4.56-1.43-2.09-3.62-2.32-4.39-2.37-2-.16-3.68 1.09-4.62 1.09zM15.53 3.83c.84-1.01 1.4-2.43 1.25-3.83-1.21.05-2.66.8-3.53 1.82-.78.9-1.46 2.34-1.28 3.71 1.34.11 2.72-.68 3.56-1.7z"/>',
);
/** Of a provider whose logo is not known here. */
const anyOther = drawing(
  '<path fill="none" stroke="currentColor" stroke-width="1.8" d="M12 2.5 20 6v6c0 4.8-3.4 8.2-8 9.5-4.6-1.3-8-4.7-8-9.5V6z"/><circle cx="12" cy="9.8" r="2.5" fill="currentColor"/><path fill="currentColor" d="M7.5 16.5a4.6 4.6 0 0 1 9 0z"/>',
);

const logos: ReadonlyMap<string, Html> = new Map([
  ['accounts.google.com', google],
  ['login.microsoftonline.com', microsoft],
  ['appleid.apple.com', apple],
]);

/** The logo of an identity provider, by its issuer. It says nothing that its name does not say. */
export const logoOf = (issuer: string): Html =>
  logos.get(URL.canParse(issuer) ? new URL(issuer).hostname : '') ?? anyOther;
