/** The state that a database reports. Only one that is ready accepts writes. */
export type DatabaseState = 'ready' | 'read-only' | 'in recovery' | 'out of space';
