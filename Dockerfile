# The command line in a container, as an ordinary user, and a service of models:
#   docker build -t seqclass .
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" seqclass \
#       fit patients.csv --target diagnosis --price 0.01 -o model.seq
#   docker run -d -p 8000:8000 -v "$PWD:/data:ro" seqclass serve model.seq --host 0.0.0.0 --token-file token
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/seqclass && /opt/seqclass/bin/python -m pip install --no-cache-dir ".[plot,serve]"

FROM python:3.12-slim
COPY --from=build /opt/seqclass /opt/seqclass
RUN useradd --create-home seqclass && mkdir /data && chown seqclass /data
ENV PATH="/opt/seqclass/bin:$PATH" MPLBACKEND=Agg MPLCONFIGDIR=/var/tmp/matplotlib
USER seqclass
WORKDIR /data
EXPOSE 8000
ENTRYPOINT ["seqclass"]
CMD ["--help"]
