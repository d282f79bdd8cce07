// JavaScript, so that a Node too old for TypeScript can still read it and say so in one line.
const needed = 24;
const [major] = process.versions.node.split('.');
if (Number(major) < needed) {
  process.stderr.write(
    `Signet cannot start: it needs Node ${needed} or later, and this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}
await import('./main.ts');
