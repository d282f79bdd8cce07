import { GraphQLScalarType } from 'graphql';
import {
  GraphQLDateTime,
  GraphQLEmailAddress,
  GraphQLJSON,
  GraphQLJSONObject,
  GraphQLPhoneNumber,
  GraphQLURL,
} from 'graphql-scalars';
import { builder } from './builder.ts';
import { requestError } from './request-error.ts';

// A malformed address is something that a form can fix, so it must reach the operation and come back as one of
// the issues of an InvalidInputError, beside all the others. Thrown here it would end the request as a whole.
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

builder.addScalarType('DateTime', GraphQLDateTime);
builder.addScalarType('JSON', GraphQLJSON);
builder.addScalarType('JSONObject', GraphQLJSONObject);
builder.addScalarType('URL', textual(GraphQLURL));
builder.addScalarType('EmailAddress', textual(GraphQLEmailAddress));
builder.addScalarType('PhoneNumber', textual(GraphQLPhoneNumber));
