import { execFile } from 'node:child_process';
import { existsSync, globSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { closeAtEnd } from '../support/cleanup.ts';
import { type Command, pathOf } from './example-process.ts';
import type { Habit } from './key-fetches.ts';

/** What runs a file of examples/. */
export interface Program {
  /** Of the library, as far as it can be told. */
  readonly version: string;
  readonly command: Command;
}

/** A service B in another language than JavaScript. */
interface Recipe {
  readonly name: string;
  /** The algorithms that it takes as it stands there. */
  readonly taken: readonly string[];
  readonly habit: Habit;
}

/** One with what this machine has for it. */
interface FoundRecipe extends Recipe {
  /** Its file, below examples/. */
  readonly path: string;
  /** Nothing, where the language or the library is not installed. */
  readonly program: Program | undefined;
}

const verifiers = pathOf('verifiers');
const run = promisify(execFile);

// Where Debian puts them, unless the machine says otherwise.
const {
  GOPATH = '/usr/share/gocode',
  CLASSPATH = ['jose4j', 'slf4j-api'].map((name) => `/usr/share/java/${name}.jar`).join(delimiter),
} = process.env;

/** Finds a program by a command that prints the version of its library, or fails. */
const interpreted =
  (interpreter: Command, probe: readonly string[], prober: string = interpreter[0]) =>
  async (file: string): Promise<Program | undefined> => {
    const [command, ...parameters] = interpreter;
    const version = await run(prober, [...probe]).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
    return version === undefined ? undefined : { version, command: [command, ...parameters, file] };
  };

const ruby = (library: string, gem: string) =>
  interpreted(
    ['ruby'],
    ['-e', `require '${library}'; require 'webrick'; print Gem.loaded_specs['${gem}'].version`],
  );

const perl = (library: string) =>
  interpreted(['perl'], [`-M${library}`, '-MHTTP::Daemon', '-e', `print ${library}->VERSION`]);

const php = (composerPackage: string) =>
  interpreted(
    ['php', '-S', 'localhost:0'],
    [
      '-r',
      `require '${verifiers}/php/vendor/autoload.php';
       extension_loaded('apcu') || exit(1);
       print Composer\\InstalledVersions::getPrettyVersion('${composerPackage}');`,
    ],
  );

/** The first Python that has a module. */
const python = (module: string, distribution: string) => async (file: string) => {
  const probe = `import importlib.metadata as m, ${module}; print(m.version('${distribution}'))`;
  const found = await Promise.all(
    ['python3', '/usr/bin/python3'].map((name) => interpreted([name], ['-c', probe])(file)),
  );
  return found.find((program) => program !== undefined);
};

const erlang = interpreted(
  ['escript'],
  [
    '-noshell',
    '-eval',
    `[halt(1) || M <- [jose, jiffy], code:which(M) =:= non_existing],
     application:load(jose), {ok, V} = application:get_key(jose, vsn), io:put_chars(V), halt().`,
  ],
  'erl',
);

/** Builds a program of Go, as Debian's packages do, where what it imports is installed. */
const go =
  (...imports: readonly string[]) =>
  async (file: string): Promise<Program | undefined> => {
    const options = { env: { ...process.env, GO111MODULE: 'off', GOPATH } };
    const found = await run('go', ['list', '-find', ...imports], options).catch(() => undefined);
    if (!found) return undefined;
    const { stdout } = await run('go', ['env', 'GOVERSION']);
    const folder = await mkdtemp(join(tmpdir(), 'signet-verifier-'));
    closeAtEnd(() => rm(folder, { recursive: true }));
    const built = join(folder, basename(file, '.go'));
    await run('go', ['build', '-o', built, file], options);
    return { version: `with ${stdout.trim()}`, command: [built] };
  };

const debianCrates = '/usr/share/cargo/registry';

/** Builds a program of Rust, where its crates are on this machine: Debian's, or what Cargo has fetched before. */
async function rust(file: string): Promise<Program | undefined> {
  const options = { cwd: dirname(file), maxBuffer: 2 ** 26 };
  const crates = existsSync(debianCrates)
    ? [
        ['--config', 'source.crates-io.replace-with="debian"'],
        ['--config', `source.debian.directory="${debianCrates}"`],
      ].flat()
    : [];
  const found = await run(
    'cargo',
    ['metadata', '--offline', '--format-version', '1', ...crates],
    options,
  ).catch(() => undefined);
  if (!found) return undefined;
  const name = basename(file, '.rs');
  const { packages, target_directory } = JSON.parse(found.stdout) as {
    packages: { name: string; version: string }[];
    target_directory: string;
  };
  await run('cargo', ['build', '--offline', '--quiet', ...crates], options);
  return {
    version: packages.find((crate) => crate.name === name)?.version ?? '',
    command: [join(target_directory, 'debug', name)],
  };
}

/** Runs a file of Java as it is, where the class path has its libraries. */
async function java(file: string): Promise<Program | undefined> {
  const paths = CLASSPATH.split(delimiter);
  const isJava = await run('java', ['--version']).catch(() => undefined);
  if (!isJava || !paths.every((path) => existsSync(path))) return undefined;
  // Debian's names without a version lead to those that have one.
  const [, version = ''] = /-([\d.]+)\.jar$/.exec(realpathSync(paths[0] ?? '')) ?? [];
  return { version, command: ['java', '-cp', CLASSPATH, file] };
}

const all = ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'];
const allButEdDsa = ['ES256', 'ES384', 'PS256', 'RS256'];
const allButPs256 = ['ES256', 'ES384', 'EdDSA', 'RS256'];

interface File extends Recipe {
  /** Finds what runs the file, if that is installed. */
  readonly find: (file: string) => Promise<Program | undefined>;
}

const files: Record<string, File> = {
  'go/go-oidc.go': {
    name: 'go-oidc',
    taken: all,
    habit: 'fetches for each',
    find: go('github.com/coreos/go-oidc/v3/oidc'),
  },
  'go/golang-jwt.go': {
    name: 'golang-jwt',
    taken: all,
    habit: 'fetches now and then',
    find: go('github.com/golang-jwt/jwt/v5', 'github.com/MicahParks/keyfunc/v3'),
  },
  'ruby/ruby-jwt.rb': {
    name: 'ruby-jwt',
    taken: allButEdDsa,
    habit: 'fetches now and then',
    find: ruby('jwt', 'jwt'),
  },
  'ruby/json-jwt.rb': {
    name: 'json-jwt',
    taken: allButEdDsa,
    habit: 'fetches now and then',
    find: ruby('json/jwt', 'json-jwt'),
  },
  'php/firebase-php-jwt.php': {
    name: 'firebase/php-jwt',
    taken: allButPs256,
    habit: 'fetches now and then',
    find: php('firebase/php-jwt'),
  },
  'python/with_joserfc.py': {
    name: 'joserfc',
    taken: all,
    habit: 'fetches now and then',
    find: python('joserfc', 'joserfc'),
  },
  'python/with_authlib.py': {
    name: 'Authlib',
    taken: all,
    habit: 'fetches now and then',
    find: python('authlib.jose', 'authlib'),
  },
  'python/with_jwcrypto.py': {
    name: 'jwcrypto',
    taken: all,
    habit: 'fetches now and then',
    find: python('jwcrypto.jwt', 'jwcrypto'),
  },
  'python/with_python_jose.py': {
    name: 'python-jose',
    taken: ['ES256', 'ES384', 'RS256'],
    habit: 'fetches now and then',
    find: python('jose.jwt', 'python-jose'),
  },
  'java/Jose4j.java': { name: 'jose4j', taken: all, habit: 'fetches now and then', find: java },
  'perl/crypt-jwt.pl': {
    name: 'Crypt::JWT',
    taken: all,
    habit: 'fetches now and then',
    find: perl('Crypt::JWT'),
  },
  'rust/jsonwebtoken.rs': {
    name: 'jsonwebtoken',
    taken: all,
    habit: 'fetches now and then',
    find: rust,
  },
  'erlang/jose.escript': {
    name: 'jose of Erlang',
    taken: all,
    habit: 'fetches now and then',
    find: erlang,
  },
};

/** The files in other languages, with what runs them on this machine. Programs that need it are built here. */
export const recipes: readonly FoundRecipe[] = await Promise.all(
  Object.entries(files).map(async ([file, { find, ...recipe }]) => ({
    ...recipe,
    path: `verifiers/${file}`,
    program: await find(join(verifiers, file)),
  })),
);

/** The files that a reader can take, but for those that they share. */
export const filesOfLanguages = (): string[] =>
  globSync('{erlang,go,java,perl,php,python,ruby,rust}/*.{escript,go,java,php,pl,py,rb,rs}', {
    cwd: verifiers,
  })
    .filter((path) => !basename(path).startsWith('service.'))
    .map((path) => `verifiers/${path}`)
    .toSorted();
