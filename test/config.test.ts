import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';

describe('TRUST_PROXY', () => {
  test.each([
    [undefined, false],
    ['false', false],
    ['0', false],
    ['1', 1],
    ['2', 2],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['127.0.0.1, ::1,2001:db8::/32', ['127.0.0.1', '::1', '2001:db8::/32']],
  ])('%s is understood', (value, expected) => {
    expect(readConfig({ TRUST_PROXY: value }).trustProxy).toEqual(expected);
  });

  test.each(['yes', '-1', '1.5', '100', '10.0.0.0/33', '::1/129', 'proxy', '10.0.0.1,', '1,2'])(
    '%s is refused',
    (value) => {
      expect(() => readConfig({ TRUST_PROXY: value })).toThrow(/^TRUST_PROXY must be false/);
    },
  );

  test('true is refused, with the reason', () => {
    expect(() => readConfig({ TRUST_PROXY: 'true' })).toThrow(
      /TRUST_PROXY must not be true.*claims/,
    );
  });
});

describe('WORKERS', () => {
  const onServer = {
    DATABASE_URL: 'postgres://localhost/signet',
    SIGNET_SECRET: 'c0ffee5bd2a94e17b36f08d1a7c5e249',
  };

  test('is one by default, a number, or as many as there are cores', () => {
    expect(readConfig({}).workers).toBe(1);
    expect(readConfig({ ...onServer, WORKERS: '3' }).workers).toBe(3);
    expect(readConfig({ ...onServer, WORKERS: 'auto' }).workers).toBe(availableParallelism());
    expect(readConfig({ ...onServer, WORKERS: 'auto' }, { cores: 1 }).workers).toBe(1);
    expect(readConfig({ WORKERS: 'auto' }, { cores: 1 }).workers).toBe(1);
  });

  test.each(['0', '-1', '1.5', 'all'])('%s is refused', (value) => {
    expect(() => readConfig({ ...onServer, WORKERS: value })).toThrow(/^WORKERS must be /);
  });

  test('with the embedded database more than one is refused', () => {
    expect(() => readConfig({ WORKERS: '2' })).toThrow(/^WORKERS must be 1 with the embedded/);
    expect(() => readConfig({ WORKERS: 'auto' }, { cores: 4 })).toThrow(/^WORKERS must be 1/);
  });
});

describe('SIGNET_SECRET', () => {
  test.each([
    'x',
    'a secret for tests only',
    'x'.repeat(64),
    'abc'.repeat(20),
    '12345678'.repeat(4),
  ])('%s is refused, and not repeated', (value) => {
    const read = () => readConfig({ SIGNET_SECRET: value });
    expect(read).toThrow(/SIGNET_SECRET must/);
    if (value.length > 1) expect(read).not.toThrow(value);
  });

  test('32 random digits are taken', () => {
    const secret = 'c0ffee5bd2a94e17b36f08d1a7c5e249';
    expect(readConfig({ SIGNET_SECRET: secret }).secret).toBe(secret);
  });
});

describe('DATABASE_URL', () => {
  const secret = 'a secret for tests only, and a long one';
  const read = (url: string) => readConfig({ DATABASE_URL: url, SIGNET_SECRET: secret }).database;

  test.each([
    'postgres://signet:password@db.example.net:5432/signet',
    'postgresql:///signet?host=/run/postgresql',
    'postgres://signet@a:5432,b:5433,[::1]:5434/signet?target_session_attrs=read-write',
    'postgres://a,b/signet',
  ])('%s is taken', (url) => {
    expect(read(url)).toMatchObject({ url });
  });

  test.each([
    'mysql://a/signet',
    'a:5432',
    'postgres://a:5432,/signet',
    'postgres://a,b:port/signet',
    'postgres://a/signet?target_session_attrs=any',
    'postgres://a,b/signet?target_session_attrs=standby',
  ])('%s is refused', (url) => {
    expect(() => read(url)).toThrow(/^DATABASE_URL must be a postgres:\/\/ URL/);
  });

  test.each(['DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URLS', 'DATABASE_PASSWORD_FILE'])(
    '%s needs it',
    (variable) => {
      expect(() => readConfig({ [variable]: 'postgres://a/signet' })).toThrow(
        `DATABASE_URL is required with ${variable}`,
      );
    },
  );

  test('DATABASE_REPLICA_URLS names one host in each of its URLs', () => {
    const read = (DATABASE_REPLICA_URLS: string) =>
      readConfig({
        DATABASE_URL: 'postgres://a/signet',
        SIGNET_SECRET: 'a secret for tests only, and a long one',
        DATABASE_REPLICA_URLS,
      }).replicas;
    expect(read('postgres://b/signet, postgres://u:x%2Cy@c:6432/signet')).toEqual({
      urls: ['postgres://b/signet', 'postgres://u:x%2Cy@c:6432/signet'],
      maxLagMs: 1_000,
    });
    expect(read('')).toBeUndefined();
    for (const urls of [
      'postgres://b,c/signet',
      'postgres://b/signet,',
      'http://b/signet',
      'postgres://b/signet?target_session_attrs=read-write',
    ])
      expect(() => read(urls), urls).toThrow(/^DATABASE_REPLICA_URLS must be a comma-separated/);
  });
});
