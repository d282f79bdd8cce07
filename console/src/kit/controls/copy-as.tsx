import { type AnyVariables, stringifyDocument, type TypedDocumentNode } from '@urql/core';
import { useMessages } from '../language/language.ts';
import { serviceUrl } from '../service-url.ts';
import { toast } from '../toasts.ts';
import { Button, IconButton } from './button.tsx';
import { writeToClipboard } from './clipboard.ts';
import styles from './copy-as.module.css';
import type { IconName } from './icon.tsx';
import { controlMessages } from './messages.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of any mutation will do.
type AnyDocument = TypedDocumentNode<any, any>;

/**
 * Copies a mutation as GraphQL or curl, with the values that the form holds at that moment.
 */
export function CopyAs({
  document,
  input,
  isInRow = false,
}: {
  document: AnyDocument;
  input: object | (() => object);
  /** In a row: two small icons. */
  isInRow?: boolean;
}) {
  const t = useMessages(controlMessages);
  const variables = () => ({ input: typeof input === 'function' ? input() : input });
  const copyGraphQL = async () => {
    if (await writeToClipboard(asGraphQL(document, variables()))) toast.done(t.graphQLCopied);
  };
  const copyCurl = async () => {
    if (await writeToClipboard(asCurl(document, variables()))) toast.done(t.curlCopied);
  };
  return (
    <div className={styles.copyAs}>
      <Choice
        label={t.copyAsGraphQL}
        text="GraphQL"
        icon="apis"
        isInRow={isInRow}
        onClick={copyGraphQL}
      />
      <Choice
        label={t.copyAsCurl}
        text="curl"
        icon="terminal"
        isInRow={isInRow}
        onClick={copyCurl}
      />
    </div>
  );
}

function Choice({
  label,
  text,
  icon,
  isInRow,
  onClick,
}: {
  label: string;
  text: string;
  icon: IconName;
  isInRow: boolean;
  onClick: () => void;
}) {
  if (isInRow) return <IconButton icon={icon} size="small" label={label} onClick={onClick} />;
  return (
    <Button
      kind="quiet"
      size="small"
      icon="copy"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      {text}
    </Button>
  );
}

const asGraphQL = (document: AnyDocument, variables: AnyVariables): string =>
  `${stringifyDocument(document).trim()}\n\n# variables\n${JSON.stringify(variables, null, 2).replaceAll(/^/gm, '# ')}\n`;

const asCurl = (document: AnyDocument, variables: AnyVariables): string => {
  const query = stringifyDocument(document).replaceAll(/\s+/g, ' ').trim();
  const body = JSON.stringify({ query, variables });
  return `curl -s ${quoted(`${serviceUrl}/graphql`)} \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${quoted(body)}
`;
};

/** Quotes a text for a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
