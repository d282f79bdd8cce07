import { useState } from 'react';
import type { ConfigurationFormat } from '../generated/graphql.ts';
import { send } from '../kit/api/send.ts';
import { Button } from '../kit/controls/button.tsx';
import { writeToClipboard } from '../kit/controls/clipboard.ts';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { saveFile } from '../kit/save-file.ts';
import { toast } from '../kit/toasts.ts';
import styles from './configuration.module.css';
import { ConfigurationDocument } from './documents.ts';
import { configurationMessages } from './messages.ts';

const files = {
  YAML: ['signet.yaml', 'application/yaml'],
  JSON: ['signet.json', 'application/json'],
} as const;

/** Offers the configuration as a file, and to copy. */
export function Export() {
  const t = useMessages(configurationMessages);
  const [isReading, setIsReading] = useState(false);
  const read = async (
    format: ConfigurationFormat,
    use: (document: string) => void | Promise<void>,
  ) => {
    setIsReading(true);
    try {
      const { configuration } = await send(ConfigurationDocument, { format });
      await use(configuration.document);
    } catch (error) {
      toast.failed(t.exportFailed, error instanceof Error ? error.message : undefined);
    } finally {
      setIsReading(false);
    }
  };
  const download = (format: ConfigurationFormat) => {
    const [name, type] = files[format];
    return read(format, (document) => saveFile(name, document, type));
  };
  const copy = () =>
    read('YAML', async (document) => {
      if (await writeToClipboard(document)) toast.done(t.copied);
    });
  return (
    <Section title={t.exportTitle} about={t.exportAbout}>
      <div className={styles.buttons}>
        <Button isBusy={isReading} onClick={() => download('YAML')}>
          {t.downloadYaml}
        </Button>
        <Button isBusy={isReading} onClick={() => download('JSON')}>
          {t.downloadJson}
        </Button>
        <Button icon="copy" isBusy={isReading} onClick={copy}>
          {t.copy}
        </Button>
      </div>
    </Section>
  );
}
