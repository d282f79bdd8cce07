import { StartError } from '../errors.ts';

/** The first worker could not start; it has said why. */
export class WorkerFailed extends StartError {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('the first worker could not start');
    this.exitCode = exitCode;
  }
}
