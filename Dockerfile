# To pin it: docker build --build-arg NODE_IMAGE=node:26-slim@sha256:<digest> .
ARG NODE_IMAGE=node:26-slim
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages only bring Node along to workstations that have none or an older one.
RUN npm ci --omit=dev --omit=optional

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY src ./src
# The image's user node, in figures: so an orchestrator can see that it is not root. Others may write the data as group 0, which is the
# group where an orchestrator gives each container a user id of its own.
RUN mkdir data && chown 1000:0 data && chmod g=u data
# For swapgate_build_info: docker build --build-arg COMMIT="$(git rev-parse HEAD)" .
ARG COMMIT=unknown
RUN echo "$COMMIT" > commit
VOLUME /app/data
USER 1000:1000
ENV NODE_ENV=production SWAPGATE_HOST=0.0.0.0
# 9090 is for operators and probes: publish only 8080.
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:9090/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/cli/swapgate.js", "start"]
