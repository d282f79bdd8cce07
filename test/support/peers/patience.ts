// Benches and the configuration of the tests read it too: nothing here comes from vitest.

/** How long a test waits for what has to come: a net for what never comes, and no measure of what does. */
export const patienceMs = process.env['CI'] === undefined ? 60_000 : 120_000;
