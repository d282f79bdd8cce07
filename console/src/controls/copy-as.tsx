import { type AnyVariables, stringifyDocument, type TypedDocumentNode } from '@urql/core';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { Button } from './button.tsx';
import { writeToClipboard } from './clipboard.ts';
import styles from './copy-as.module.css';
import { controlMessages } from './messages.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of any mutation will do.
type AnyDocument = TypedDocumentNode<any, any>;

/**
 * Offers an action as it would be sent, to be done again by a program. What is typed at that moment counts.
 */
export function CopyAs({
  document,
  input,
}: {
  document: AnyDocument;
  input: object | (() => object);
}) {
  const t = useMessages(controlMessages);
  const variables = () => ({ input: typeof input === 'function' ? input() : input });
  return (
    <div className={styles.copyAs}>
      <Button
        kind="quiet"
        size="small"
        icon="copy"
        aria-label={t.copyAsGraphQL}
        title={t.copyAsGraphQL}
        onClick={async () => {
          if (await writeToClipboard(asGraphQL(document, variables()))) toast.done(t.graphQLCopied);
        }}
      >
        GraphQL
      </Button>
      <Button
        kind="quiet"
        size="small"
        icon="copy"
        aria-label={t.copyAsCurl}
        title={t.copyAsCurl}
        onClick={async () => {
          if (await writeToClipboard(asCurl(document, variables()))) toast.done(t.curlCopied);
        }}
      >
        curl
      </Button>
    </div>
  );
}

const asGraphQL = (document: AnyDocument, variables: AnyVariables): string =>
  `${stringifyDocument(document).trim()}\n\n# variables\n${JSON.stringify(variables, null, 2).replaceAll(/^/gm, '# ')}\n`;

const asCurl = (document: AnyDocument, variables: AnyVariables): string => {
  const query = stringifyDocument(document).replaceAll(/\s+/g, ' ').trim();
  const body = JSON.stringify({ query, variables });
  return `curl -s ${quoted(`${location.origin}/graphql`)} \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${quoted(body)}
`;
};

/** A word of a POSIX shell that stands for exactly this text. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
