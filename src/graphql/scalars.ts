import { GraphQLID, GraphQLScalarType } from 'graphql';
import {
  GraphQLDateTime,
  GraphQLJSON,
  GraphQLJSONObject,
  GraphQLPhoneNumber,
  GraphQLURL,
} from 'graphql-scalars';
import { builder, everyGraph } from './builder.ts';
import { requestError } from './request-error.ts';

// A form can fix a malformed address, so it must reach the operation and come back among the issues of an
// InvalidInputError. Thrown here, it would end the whole request.
function textual(scalar: GraphQLScalarType): GraphQLScalarType<string, string> {
  const text = (value: unknown) => {
    if (typeof value === 'string') return value;
    throw requestError('BAD_USER_INPUT', `${scalar.name} takes a string.`);
  };
  const { extensions: _codegen, ...config } = scalar.toConfig();
  return new GraphQLScalarType<string, string>({
    name: config.name,
    description: config.description,
    specifiedByURL: config.specifiedByURL,
    serialize: text,
    parseValue: text,
  });
}

// That of the library is the form field of a browser, whose addresses are of ASCII characters.
const emailAddress = new GraphQLScalarType({
  name: 'EmailAddress',
  description:
    'An e-mail address, such as `ada@example.com`. Its domain may be international. The part before the `@` may hold characters outside ASCII where the sender of e-mail can send to it (SMTPUTF8, RFC 6531).',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc6531',
});

// Text in the database holds no NUL character and no half of a surrogate pair, so no id does. With these replaced, such
// an id is looked up like any other and not found. Pothos always uses the library's own ID scalar, so that one is
// changed.
const holdable =
  <Rest extends unknown[]>(coerce: (value: never, ...rest: Rest) => string | null | undefined) =>
  (...given: [never, ...Rest]) =>
    coerce(...given)
      ?.toWellFormed()
      .replaceAll('\0', '\uFFFD');
Object.assign(GraphQLID, {
  coerceInputValue: holdable(GraphQLID.coerceInputValue),
  // Always there in this scalar; other scalars may go without.
  coerceInputLiteral: holdable(
    GraphQLID.coerceInputLiteral as NonNullable<typeof GraphQLID.coerceInputLiteral>,
  ),
});

builder.addScalarType('DateTime', GraphQLDateTime, { subGraphs: everyGraph });
builder.addScalarType('JSON', GraphQLJSON);
builder.addScalarType('JSONObject', GraphQLJSONObject, { subGraphs: everyGraph });
builder.addScalarType('URL', textual(GraphQLURL), { subGraphs: everyGraph });
builder.addScalarType('EmailAddress', textual(emailAddress), { subGraphs: everyGraph });
builder.addScalarType('PhoneNumber', textual(GraphQLPhoneNumber), { subGraphs: everyGraph });
