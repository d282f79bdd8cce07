import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { closeAtEnd } from '../../support/cleanup.ts';

/** Who signed the certificate of {@link startHttpsFront}. Some servers trust no certificate that signed itself. */
export const authority = `-----BEGIN CERTIFICATE-----
MIIBpjCCAU2gAwIBAgIUH3tHmIK9+QYGG5G+hEHcYDxeoMEwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVYW4gYXV0aG9yaXR5IG9mIHRlc3RzMCAXDTI2MTEyOTAzMTkw
OVoYDzIxMjYxMTA1MDMxOTA5WjAgMR4wHAYDVQQDDBVhbiBhdXRob3JpdHkgb2Yg
dGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATskNNqvxjuo3FvicxGSH1a
PVA5S1S8svYbxE2QUxgMk/BGm3LPxvAr8nBCHjXDjzIxZtVx0siThiTzPJuZ3mrZ
o2MwYTAdBgNVHQ4EFgQU8wDZNFjDmRGqmPmQwpN1G4hv3iUwHwYDVR0jBBgwFoAU
8wDZNFjDmRGqmPmQwpN1G4hv3iUwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E
BAMCAgQwCgYIKoZIzj0EAwIDRwAwRAIgFc3JuIoW5pe2VsgOsG2jGkXpl+iBT28K
31ZEHP2SPL0CIEXNAFskgpt/tsLtQs2X1VDGb+ksGA95rG3XpUBzzaKh
-----END CERTIFICATE-----`;

const certified = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+XQtTXMDDV9n2IWe
RJHZKZAOJ23Jp8wISO+eMGfxNCahRANCAATEBC2zroY3hARtMDA5nSHxHZC7PObp
SLqTKvZ/5zP81xmaU3kG/Ug+7mXeq15XeJtnGJjJOLU5hyLwbsYmrT1J
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBsjCCAVmgAwIBAgIUax8uasF01oiDol6ii1/yIiRkzwQwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVYW4gYXV0aG9yaXR5IG9mIHRlc3RzMCAXDTI2MTEyOTAzMTkw
OVoYDzIxMjYxMTA1MDMxOTA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAATEBC2zroY3hARtMDA5nSHxHZC7PObpSLqTKvZ/
5zP81xmaU3kG/Ug+7mXeq15XeJtnGJjJOLU5hyLwbsYmrT1Jo3sweTAUBgNVHREE
DTALgglsb2NhbGhvc3QwDAYDVR0TAQH/BAIwADATBgNVHSUEDDAKBggrBgEFBQcD
ATAdBgNVHQ4EFgQUk2QDtJ2xFskbUE+ZOVA2jcQFoXgwHwYDVR0jBBgwFoAU8wDZ
NFjDmRGqmPmQwpN1G4hv3iUwCgYIKoZIzj0EAwIDRwAwRAIgemMf5ENJqczJIvjm
97h4gan9jyPklmqxmOzPrh4yKfoCID8fctuJFy0KlHTJVecNwZaLzn2UoWuywCJs
v8rlZRbR
-----END CERTIFICATE-----`,
};

/**
 * Starts HTTPS in front of a service, for a server that reads no keys by plain HTTP. Its name is `localhost`.
 *
 * @returns Its origin.
 */
export async function startHttpsFront(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer(certified, (socket) => {
    const onwards = connect(Number(port), hostname);
    socket.pipe(onwards).pipe(socket);
    socket.on('error', () => onwards.destroy());
    onwards.on('error', () => socket.destroy());
    closeAtEnd(async () => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  closeAtEnd(async () => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
