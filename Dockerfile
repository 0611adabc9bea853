# Images: `site` (web, control worker, scheduler), `worker` (CPU grading), `gpu-worker` (GPU grading).
#   docker build --target site -t learnml-site .
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
# Needs NVRTC and the CUDA headers, which learners' kernels are compiled with.
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-devel-ubuntu24.04

FROM ${PYTHON_IMAGE} AS python
ENV PYTHONUNBUFFERED=1 PATH=/opt/venv/bin:$PATH
RUN groupadd --gid 10001 learnml \
    && useradd --uid 10001 --gid learnml --no-create-home --home-dir /nonexistent learnml \
    && install -d -o learnml -g learnml -m 0700 /data
WORKDIR /app

FROM python AS site-packages
COPY requirements/site.txt /tmp/site.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/site.txt

FROM python AS worker-packages
COPY requirements/worker.txt /tmp/worker.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/worker.txt

FROM python AS site
COPY --from=site-packages /opt/venv /opt/venv
COPY manage.py ./
COPY requirements/site.txt requirements/site.txt
COPY learnml learnml
COPY courses courses
COPY grader grader
COPY gpu_worker gpu_worker
COPY templates templates
COPY static static
ENV DJANGO_SETTINGS_MODULE=learnml.settings.production \
    LEARNML_DATA=/data LEARNML_STATIC_ROOT=/app/staticfiles LEARNML_HOST=0.0.0.0
# The key is for this one command: collecting static files signs nothing.
RUN LEARNML_SECRET_KEY=for-the-build-only python manage.py prepare --static
USER learnml
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "learnml.wsgi", "-c", "learnml/gunicorn.conf.py"]

# The workers hold the engine alone: no Django, no pages, no database driver.
FROM python AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap g++ libseccomp2 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=worker-packages /opt/venv /opt/venv
COPY gpu_worker gpu_worker
USER learnml
CMD ["celery", "--quiet", "-A", "gpu_worker.celery_app", "worker", "-Q", "cpu", "-c", "1", "--hostname", "cpu@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]

FROM ${CUDA_IMAGE} AS gpu-worker
ENV PYTHONUNBUFFERED=1 PATH=/opt/venv/bin:$PATH
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap libseccomp2 python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 learnml \
    && useradd --uid 10001 --gid learnml --no-create-home --home-dir /nonexistent learnml
WORKDIR /app
COPY requirements/gpu.txt /tmp/gpu.txt
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/gpu.txt
COPY gpu_worker gpu_worker
USER learnml
CMD ["celery", "--quiet", "-A", "gpu_worker.celery_app", "worker", "-Q", "gpu", "-c", "1", "--hostname", "gpu@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
