import { useEffect } from 'react';
import { useData } from '../../kit/api/use-data.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { webhookMessages } from '../messages.ts';
import { LastDeliveries } from './documents.ts';

const everyMs = 10_000;

/** How many of a webhook's last deliveries succeeded; those that are still tried do not count. */
export function SuccessRate({ id }: { id: string }) {
  const t = useMessages(webhookMessages);
  const format = useFormat();
  const { data, refetch } = useData(LastDeliveries, { id });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) refetch();
    }, everyMs);
    return () => clearInterval(timer);
  });
  const over = (data?.webhook?.deliveries.edges ?? []).filter(
    ({ node }) => node.status !== 'PENDING',
  );
  if (over.length === 0) return null;
  const good = over.filter(({ node }) => node.status === 'SUCCEEDED').length;
  return (
    <Badge tone={good === over.length ? 'good' : 'warn'}>
      {t.successRate(format.number(good), format.number(over.length))}
    </Badge>
  );
}
