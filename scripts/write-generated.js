// Writes what the service takes from development dependencies into src/generated: the database client that Prisma
// generates, and the scripts and styles of Swagger UI and GraphiQL, whose packages bring much that no page loads.
// `npm ci` and `npm run build` run it. Where those dependencies are left out, what it wrote before is used.
// JavaScript, so that an older Node, without types, gets to the start, which says so in one line.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const generated = join(root, 'src/generated');
const prisma = join(root, 'node_modules/.bin/prisma');

if (existsSync(prisma)) {
  generateClient();
  copySwaggerUi();
  await writeGraphiQL();
} else if (!existsSync(join(generated, 'prisma'))) {
  process.stderr.write(
    'Without development dependencies there is no database client yet: run `npm ci && npm run build && npm prune --omit=dev`.\n',
  );
}

function generateClient() {
  const { status, error } = spawnSync(prisma, ['generate', '--no-hints'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw error ?? new Error(`prisma generate ended with ${status}.`);
}

function folderOf(name) {
  const folder = join(generated, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function copySwaggerUi() {
  const from = join(root, 'node_modules/@fastify/swagger-ui/static');
  const to = folderOf('swagger-ui');
  copyFileSync(join(from, 'swagger-ui.css'), join(to, 'swagger-ui.css'));
  copyFileSync(join(from, 'swagger-ui-bundle.js'), join(to, 'swagger-ui.js'));
}

async function writeGraphiQL() {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const [, favicon = ''] = graphiql.favicon.split(',');
  const files = {
    'graphiql.js': graphiql.js,
    'style.css': graphiql.css,
    'editorWorkerService.js': graphiql.editorWorkerService,
    'json.js': graphiql.jsonWorker,
    'graphql.js': graphiql.graphqlWorker,
    'favicon.ico': Buffer.from(favicon, 'base64'),
  };
  const to = folderOf('graphiql');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(to, name), content);
}
