import { useEffect, useState } from 'react';
import { Badge } from '../kit/controls/badge.tsx';
import { Button, ButtonAnchor } from '../kit/controls/button.tsx';
import { CopyBlock } from '../kit/controls/copy.tsx';
import { quoted } from '../kit/controls/copy-as.tsx';
import { useMessages } from '../kit/language/language.ts';
import { SearchBox } from '../kit/lists/search-box.tsx';
import { servicePath, serviceUrl } from '../kit/service-url.ts';
import { covers, type Scope, useSession } from '../kit/session/session.ts';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import styles from './developers.module.css';
import { developerMessages } from './messages.ts';
import { fetchRoutes, type Route, type RouteGroup } from './openapi.ts';

/** The routes of the REST API, to search and to read, each with a command and whether the person may use it. */
export function RestReference() {
  const t = useMessages(developerMessages);
  const [groups, setGroups] = useState<readonly RouteGroup[] | 'off' | 'failed'>();
  const [search, setSearch] = useState('');
  const isAsked = groups === undefined;
  useEffect(() => {
    if (!isAsked) return;
    fetchRoutes().then(
      (found) => setGroups(found ?? 'off'),
      () => setGroups('failed'),
    );
  }, [isAsked]);
  if (groups === undefined) return <Loading lines={8} />;
  if (groups === 'off')
    return (
      <EmptyState icon="developers" title={t.restOff}>
        {t.restOffText}
      </EmptyState>
    );
  if (groups === 'failed')
    return (
      <EmptyState
        icon="warning"
        title={t.restFailed}
        action={<Button onClick={() => setGroups(undefined)}>{t.tryAgain}</Button>}
      />
    );
  const found = groups
    .map((group) => ({ ...group, routes: group.routes.filter((route) => fits(route, search)) }))
    .filter(({ routes }) => routes.length > 0);
  return (
    <>
      <p className={styles.about}>{t.restAbout}</p>
      <div className={styles.tools}>
        <SearchBox value={search} onSearch={setSearch} />
        <ButtonAnchor href={`${servicePath}/api/openapi.json`} download="openapi.json">
          {t.document}
        </ButtonAnchor>
      </div>
      {found.length === 0 && <EmptyState icon="search" title={t.nothingFits} />}
      {found.map(({ name, description, routes }) => (
        <section key={name} className={styles.group} aria-label={name}>
          <h2 className={styles.groupName}>{name}</h2>
          <p className={styles.about}>{description}</p>
          {routes.map((route) => (
            <RouteDetails key={`${route.method} ${route.path}`} route={route} />
          ))}
        </section>
      ))}
    </>
  );
}

const fits = ({ method, path, summary }: Route, search: string): boolean =>
  `${method} ${path} ${summary}`.toLowerCase().includes(search.trim().toLowerCase());

function RouteDetails({ route }: { route: Route }) {
  const t = useMessages(developerMessages);
  const { scopes: held } = useSession();
  const { method, path, summary, description, scopes, values } = route;
  const isAllowed = covers(held, scopes as readonly Scope[]);
  return (
    <details className={styles.route}>
      <summary>
        <span className={styles.method} data-method={method}>
          {method}
        </span>
        <code className={styles.path}>{path}</code>
        <span className={styles.summary}>{summary}</span>
        {!isAllowed && <Badge tone="warn">{t.notAllowed}</Badge>}
      </summary>
      <div className={styles.details}>
        {description && <p>{description}</p>}
        {scopes.length > 0 && (
          <p className={styles.about}>
            {t.scopes}: <code>{scopes.join(' ')}</code>
          </p>
        )}
        {values.length > 0 && (
          <div
            className={styles.scroller}
            role="group"
            aria-label={`${method} ${path}`}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard.
            tabIndex={0}
          >
            <table className={styles.values}>
              <thead>
                <tr>
                  <th scope="col">{t.name}</th>
                  <th scope="col">{t.place}</th>
                  <th scope="col">{t.type}</th>
                  <th scope="col">{t.meaning}</th>
                </tr>
              </thead>
              <tbody>
                {values.map((value) => (
                  <tr key={`${value.place} ${value.name}`}>
                    <th scope="row">
                      <code>{value.name}</code>
                      {value.isRequired && <span className={styles.required}> {t.required}</span>}
                    </th>
                    <td>{value.place}</td>
                    <td>
                      <code>{value.type}</code>
                    </td>
                    <td>{value.description}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <CopyBlock label={`${t.command}: ${method} ${path}`} text={commandOf(route)} />
      </div>
    </details>
  );
}

/** A command for a route. Its names in braces are to be replaced. */
function commandOf({ method, path, values }: Route): string {
  const body = Object.fromEntries(
    values
      .filter(({ place, isRequired }) => place === 'body' && isRequired)
      .map(({ name, type }) => [name, type.endsWith('[]') ? [] : `{${name}}`]),
  );
  const hasBody = values.some(({ place }) => place === 'body');
  return [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${serviceUrl}/api${path}`)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(hasBody
      ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]
      : []),
  ].join(' \\\n  ');
}
