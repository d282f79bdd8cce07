# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /signet
COPY .npmrc package.json package-lock.json prisma.config.ts tsconfig.json schema.graphql ./
COPY prisma ./prisma
RUN npm ci --omit=dev --no-audit --no-fund
COPY console ./console
COPY scripts/build-console.js ./scripts/
RUN node scripts/build-console.js
# Prisma has written the database client, and Vite the console: nothing needs what they were made with afterwards.
RUN npm uninstall --omit=dev --no-save --ignore-scripts --no-audit --no-fund \
    prisma vite @vitejs/plugin-react @base-ui/react @codemirror/autocomplete @codemirror/commands \
    @codemirror/language @codemirror/state @codemirror/view @hookform/resolvers @tanstack/react-router \
    @tanstack/react-table @tanstack/react-virtual @urql/core @urql/exchange-graphcache cm6-graphql react \
    react-dom react-hook-form uplot urql \
  && mv console/dist dist && rm -rf console scripts schema.graphql && mkdir console && mv dist console/
COPY src ./src

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /signet
# A new volume takes this folder's owner.
RUN install --directory --owner=1000 --group=1000 --mode=0700 /data
COPY --from=build /signet ./
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["src/start.sh"]
