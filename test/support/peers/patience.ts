// Benches and the configuration of the tests read it too: nothing here comes from vitest.

// `.ci/run` names the file for what was unsteady, whether or not the machine is known as one for CI.
const isCi = ['CI', 'UNSTEADY'].some((name) => process.env[name] !== undefined);

/** How long a test waits for what has to come: a net for what never comes, and no measure of what does. */
export const patienceMs = isCi ? 120_000 : 60_000;
