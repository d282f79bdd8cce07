import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** What a command is run with. Nothing of it reads the process by itself. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  /** Results, and with `--json` nothing else. */
  readonly stdout: NodeJS.WriteStream;
  /** What a person should know, and faults. */
  readonly stderr: NodeJS.WriteStream;
}

/** A command of `signet`. */
export interface Command {
  /** What follows its name, for the usage: `FILE [--yes]`. */
  readonly parameters: string;
  /** What each parameter means, in lines as the help shows them; with what the command reads and changes. */
  readonly help: string;
  /**
   * @returns The exit code: 0; 1 for a fault; 2 where the command says so.
   * @throws {UsageError} for parameters that do not fit.
   * @throws {CommandError} for what the user can put right.
   */
  run(parameters: readonly string[], terminal: Terminal): Promise<number>;
}

/** The parameters do not fit the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do what it is asked for; the message says why, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Defines a command, with its options typed as `util.parseArgs` reads them. */
export function defineCommand<const T extends Options>(definition: {
  readonly parameters: string;
  readonly help: string;
  readonly options: T;
  /** The names of what follows the options, all of them required; absent: nothing may. */
  readonly positionals?: readonly string[];
  /** Whether more of the last may follow. */
  readonly others?: boolean;
  run(
    given: { readonly values: Values<T>; readonly positionals: readonly string[] },
    terminal: Terminal,
  ): Promise<number>;
}): Command {
  const { parameters, help, options, positionals: names = [], others } = definition;
  return {
    parameters,
    help,
    run: (args, terminal) => {
      const { values, positionals } = readParameters(args, options);
      const missing = names[positionals.length];
      if (missing) throw new UsageError(`${missing} is missing`);
      const extra = positionals[names.length];
      if (extra !== undefined && !others)
        throw new UsageError(`'${extra}' is one parameter too many`);
      return definition.run({ values, positionals }, terminal);
    },
  };
}

function readParameters<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) throw new UsageError(error.message);
    throw error;
  }
}
