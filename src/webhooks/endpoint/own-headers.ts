import { z } from 'zod';
import type { InputIssueCode } from '../../errors.ts';
import { fault } from '../../input.ts';

/** The most headers that a webhook may add. */
export const maxHeaders = 20;
const maxValueLength = 2048;

// Headers that Signet sets, and headers of the connection (RFC 9110 §7.6.1).
const reserved =
  /^(?:webhook-.*|signet-.*|content-.*|host|user-agent|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|http2-settings|traceparent|tracestate)$/i;

const headerName = /^[!#$%&'*+.^_`|~\w-]{1,128}$/;
// Visible ASCII, with spaces and tabs inside (RFC 9110 §5.5).
const headerValue = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** The headers that a webhook adds. The reserved ones are refused. */
export const ownHeaders = z.record(z.string(), z.unknown()).transform((headers, context) => {
  const issue = (name: string, code: InputIssueCode, message: string) =>
    context.addIssue({
      code: 'custom',
      path: name === '' ? [] : [name],
      ...fault(code, message),
    });
  const entries = Object.entries(headers);
  if (entries.length > maxHeaders) issue('', 'TOO_LONG', `must have at most ${maxHeaders} entries`);
  const names = new Set<string>();
  for (const [name, value] of entries) {
    if (!headerName.test(name)) issue(name, 'INVALID_FORMAT', 'is not the name of a header');
    else if (reserved.test(name)) issue(name, 'INVALID_VALUE', 'is set by Signet');
    else if (names.has(name.toLowerCase())) issue(name, 'NOT_UNIQUE', 'is there twice');
    names.add(name.toLowerCase());
    if (typeof value !== 'string' || !headerValue.test(value)) {
      issue(name, 'INVALID_FORMAT', 'must be text of visible ASCII characters');
    } else if (value.length > maxValueLength) {
      issue(name, 'TOO_LONG', `must have at most ${maxValueLength} characters`);
    }
  }
  return headers as Record<string, string>;
});
