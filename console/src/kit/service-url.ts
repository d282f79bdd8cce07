// The files of the console are at `<path>/console/assets/`, where the path is that of the service's public address.
const here = import.meta.url;

/** The path of the service's public address; mostly empty. */
export const servicePath = new URL('../..', here).pathname.replace(/\/$/, '');

/** The service's public address, as this browser reaches it. */
export const serviceUrl = `${location.origin}${servicePath}`;
