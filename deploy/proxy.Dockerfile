# The official image starts as root; this one does not, and needs no capability.
# By digest; newer ones: `make digests`.
ARG BASE=caddy:2.11.7-alpine@sha256:d8542f48d34a9cf4e4c11a478865229840e87e4c96ea3f439101f31a5d35f75f
FROM ${BASE}
# A copy leaves behind the capability to bind ports below 1024, without which the original does not start
# once all capabilities are dropped.
RUN cp /usr/bin/caddy /usr/local/bin/caddy \
    && mkdir -p /data/caddy /config/caddy \
    && chown -R 10002:10002 /data /config
COPY Caddyfile /etc/caddy/Caddyfile
USER 10002:10002
VOLUME /data /config
EXPOSE 8080 8443
ENV GRASP_HTTP_PORT=8080 \
    GRASP_HTTPS_PORT=8443 \
    GRASP_HEALTH_PORT=2020
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
    CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:2020/"]
CMD ["/usr/local/bin/caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
