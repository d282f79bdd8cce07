/** The `grant_type` of a device (RFC 8628 §3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** How long a device code and its user code can be used, in seconds. */
export const deviceCodeTtlSeconds = 600;

/** How long a device waits between two polls at first, in seconds; each poll that comes too soon adds as much. */
export const pollIntervalSeconds = 5;
