import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "@svc/testing/certificate";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { exposureText } from "./prepare.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-exposure-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { cert, key } = createCertificate();
const tls = { SVC_TLS_CERT: join(folder, "cert.pem"), SVC_TLS_KEY: join(folder, "key.pem") };
writeFileSync(tls.SVC_TLS_CERT, cert);
writeFileSync(tls.SVC_TLS_KEY, key);

const textOf = (variables: Record<string, string>) => exposureText(loadConfig(openEnvironment(variables)));

test.each<[string, Record<string, string>]>([
  ["loopback", {}],
  ["loopback, by name, with administration apart", { SVC_HOST: "localhost", SVC_ADMIN_LISTEN: "[::1]:0" }],
  ["TLS of its own", { SVC_HOST: "0.0.0.0", ...tls }],
  ["TLS in front", { SVC_HOST: "0.0.0.0", SVC_PUBLIC_URL: "https://svc.example.com" }],
])("a server is quiet about its address with %s", (_name, variables) => {
  expect(textOf(variables)).toBeUndefined();
});

test.each<[string, Record<string, string>]>([
  ["0.0.0.0", { SVC_HOST: "0.0.0.0" }],
  ["::", { SVC_HOST: "::", SVC_PUBLIC_URL: "http://svc.example.com" }],
  ["10.0.0.7", { SVC_ADMIN_LISTEN: "10.0.0.7:9090" }],
  ["0.0.0.0 and 10.0.0.7", { SVC_HOST: "0.0.0.0", SVC_ADMIN_LISTEN: "10.0.0.7:9090" }],
])("a server that listens on %s in the clear says what to do", (places, variables) => {
  expect(textOf(variables)).toMatch(/SVC_TLS_CERT.*SVC_PUBLIC_URL.*loopback/);
  expect(textOf(variables)).toContain(`listening on ${places} without TLS`);
});
