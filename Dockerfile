# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /signet
COPY .npmrc package.json package-lock.json ./
COPY console/package.json ./console/
COPY bin ./bin
# The base image has its Node already, and no other package needs its script.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY prisma.config.ts tsconfig.json schema.graphql ./
COPY prisma ./prisma
COPY console ./console
COPY src ./src
COPY scripts/write-generated.js scripts/build-console.js scripts/build-service.js ./scripts/
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && mv console/dist built \
  && rm -r console scripts schema.graphql prisma.config.ts tsconfig.json node_modules/signet-console \
  && mkdir console && mv built console/dist

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data npm_config_update_notifier=false
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
