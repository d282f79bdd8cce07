/** The process has more to do than it can. The same request may succeed a little later. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';

  constructor() {
    super('The service is overloaded. Try again in a moment.');
  }
}

/** The error of all that is refused: a new one each time would cost a stack that tells nothing. */
export const overloaded = new Overloaded();
