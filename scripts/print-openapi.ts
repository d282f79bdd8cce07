// Prints the OpenAPI document, as a service at https://signet.example.net would serve it.
import { restOperations } from '../src/rest/mount.ts';
import { createOpenApi } from '../src/rest/openapi.ts';

console.log(JSON.stringify(createOpenApi(restOperations, 'https://signet.example.net'), null, 2));
