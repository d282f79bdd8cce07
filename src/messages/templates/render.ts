import type { MessageChannel } from '../../generated/prisma/client.ts';
import { html } from '../../markup.ts';
import { type MessageLanguage, wordings } from './catalogue.ts';
import type { MessageTemplate, Wording } from './wording.ts';

/** A message as text; an SMS has no subject and no HTML. */
export interface RenderedMessage {
  readonly subject: string | null;
  readonly text: string;
  readonly html: string | null;
}

interface RenderOptions {
  readonly channel: MessageChannel;
  readonly template: MessageTemplate;
  readonly language: MessageLanguage;
  readonly productName: string;
  readonly code: string | null;
  readonly link: string | null;
  /** The name of the organization that it is about; empty if there is none. */
  readonly organization: string;
  /** How long it is valid from now. */
  readonly minutes: number;
  /** Where the code is typed in. */
  readonly baseUrl: string;
}

/** Renders a message. */
export function renderMessage(options: RenderOptions): RenderedMessage {
  const { channel, template, language, productName, minutes, organization } = options;
  const words = wordings[language][template]({ productName, minutes, organization });
  if (channel === 'SMS')
    return { subject: null, text: renderSms(words.short, options), html: null };
  return {
    subject: words.subject,
    text: renderText(words, options),
    html: renderHtml(words, options),
  };
}

type Words = ReturnType<Wording>;

function renderSms(sentence: string, { code, link, baseUrl }: RenderOptions): string {
  const { protocol, hostname } = new URL(baseUrl);
  return [
    code === null ? sentence : `${code}\n${sentence}`,
    link,
    // A phone then fills the code in only on this origin (WHATWG, "Origin-bound one-time codes").
    code !== null && protocol === 'https:' && `@${hostname} #${code}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

const renderText = (words: Words, { code, link }: RenderOptions): string =>
  [words.before, code, link && `${words.action}: ${link}`, words.after]
    .filter((part) => part !== null)
    .join('\n\n')
    .concat('\n');

// Mail programs remove style sheets. No remote picture or font reveals when a message was read.
const renderHtml = (words: Words, { language, code, link }: RenderOptions): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${words.subject}</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:480px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3;margin:0 0 16px">${words.subject}</h1>
<p style="margin:0 0 16px">${words.before}</p>
${code !== null && html`<p style="margin:0 0 16px;font:700 28px/1.2 ui-monospace,monospace;letter-spacing:4px">${code}</p>`}
${link !== null && html`<p style="margin:0 0 16px"><a href="${link}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-weight:600">${words.action}</a></p>`}
<p style="margin:0">${words.after}</p>
</div>
</body>
</html>
`.markup;
