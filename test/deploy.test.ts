import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../src/config.ts';
import { catalogue, type MetricDefinition } from '../src/metrics/catalogue.ts';

const deploy = fileURLToPath(new URL('../deploy', import.meta.url));
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');

/** The names that a metric has in queries. */
const namesOf = ([name, { type }]: [string, MetricDefinition]) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name];
const known = new Set(Object.entries<MetricDefinition>(catalogue).flatMap(namesOf));
const labelsOf = (name: string) =>
  Object.keys(
    (catalogue as Record<string, MetricDefinition>)[name.replace(/_(bucket|sum|count)$/, '')]
      ?.labels ?? {},
  );
/** Of every target. */
const targetLabels = ['job', 'instance'];

/** Checks that a query asks for metrics that there are, by labels that they have. */
function expectKnown(query: string): void {
  const asked = [...query.matchAll(/\b(signet_\w+)(?:\{([^}]*)\})?/g)];
  for (const [, name = '', selector = ''] of asked) {
    expect([...known], query).toContain(name);
    const labels = Array.from(selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label]) => label);
    expect([...targetLabels, 'le', ...labelsOf(name)], query).toEqual(
      expect.arrayContaining(labels),
    );
  }
  for (const [, grouped = ''] of query.matchAll(/\bby \(([^)]*)\)/g)) {
    const allowed = [...targetLabels, 'le', ...asked.flatMap(([, name = '']) => labelsOf(name))];
    expect(allowed, query).toEqual(expect.arrayContaining(grouped.split(/,\s*/)));
  }
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

describe('the rules for Prometheus', () => {
  const { groups } = parse(read('prometheus/rules.yaml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  test('ask for metrics that there are, and say what to do', () => {
    expect(rules.length).toBeGreaterThan(10);
    for (const { expr, labels, annotations } of rules) {
      expectKnown(expr);
      expect(['page', 'ticket']).toContain(labels['severity']);
      expect(Object.keys(annotations)).toEqual(['summary', 'action']);
    }
  });

  test('have a test each, which fires it', () => {
    const { tests } = parse(read('prometheus/rules.test.yaml')) as { tests: { name: string }[] };
    expect(tests.map(({ name }) => name).slice(1)).toEqual(rules.map(({ alert }) => alert));
  });

  const isMissing = spawnSync('promtool', ['--version']).error !== undefined;
  const why = ' (left out: promtool is not installed; Debian: apt-get install prometheus)';
  test.skipIf(isMissing)(`hold before promtool${isMissing ? why : ''}`, () => {
    for (const parameters of [
      ['check', 'rules', 'rules.yaml'],
      ['check', 'config', '--syntax-only', 'prometheus.yaml'],
      ['test', 'rules', 'rules.test.yaml'],
    ]) {
      const run = spawnSync('promtool', parameters, { cwd: join(deploy, 'prometheus') });
      expect(`${run.stdout}${run.stderr}`).toContain('SUCCESS');
      expect(run.status).toBe(0);
    }
  });
});

test('the dashboard asks for metrics that there are', () => {
  interface Panel {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string }[];
  }
  const { panels } = JSON.parse(read('grafana/signet.json')) as { panels: Panel[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(30);
  for (const query of queries) expectKnown(query);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  // What is measured can be seen.
  const shown = queries.join('\n');
  const unseen = Object.keys(catalogue).filter((name) => !shown.includes(name));
  expect(unseen).toEqual([
    'signet_mutations_total',
    'signet_sink_published_total',
    'signet_sink_refusals_total',
    'signet_sink_put_aside_total',
    'signet_subscriber_groups',
  ]);
});

describe('the base for Kubernetes', () => {
  type Manifest = Readonly<Record<string, unknown>>;
  const folder = join(deploy, 'kubernetes');
  const manifest = (file: string) => parse(read(`kubernetes/${file}`)) as Manifest;
  const kustomization = manifest('kustomization.yaml') as {
    resources: string[];
    labels: { pairs: Record<string, string> }[];
  };
  const spec = (file: string) => manifest(file)['spec'] as Record<string, never>;
  const deployment = spec('deployment.yaml') as unknown as {
    replicas: number;
    template: {
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: Manifest;
        containers: Record<string, never>[];
      };
    };
  };
  const pod = deployment.template.spec;
  const [container = {}] = pod.containers;

  test('has every file that is there', () => {
    const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
    expect(kustomization.resources.toSorted()).toEqual(files.toSorted());
    expect(existsSync(join(folder, 'kustomization.yaml'))).toBe(true);
  });

  test('runs three nodes, of which two stay, without rights that they do not need', () => {
    expect(deployment.replicas).toBe(3);
    expect(spec('disruption-budget.yaml')).toMatchObject({ minAvailable: 2 });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container).toMatchObject({
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
    });
  });

  test('gives variables that the service reads, and stops later than they say', () => {
    const { data } = manifest('config-map.yaml') as { data: Record<string, string> };
    const secret = 'Xq3vT9-another-secret-for-tests-0bZ1';
    const config = readConfig({
      ...data,
      DATABASE_URL: 'postgres://db/signet',
      SIGNET_SECRET: secret,
    });
    expect(config).toMatchObject({ baseUrl: 'https://id.example.com', trustProxy: 1 });
    expect(data['SHUTDOWN_DELAY_MS']).toBe('5000');
    const leastSeconds = Number(data['SHUTDOWN_DELAY_MS']) / 1_000 + 30;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leastSeconds);
  });

  test('lets the network through where the service needs it', () => {
    const policy = spec('network-policy.yaml') as unknown as {
      policyTypes: string[];
      ingress: { ports: { port: string | number }[] }[];
    };
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(policy.ingress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(['http']);
    expect(spec('service.yaml')).toMatchObject({ ports: [{ targetPort: 'http' }] });
  });
});
