import { expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { exposureText } from "./exposure.ts";

const textOf = (variables: Record<string, string>) => exposureText(loadConfig(openEnvironment(variables)));

test.each<[string, Record<string, string>]>([
  ["loopback", {}],
  ["loopback, by name, with administration apart", { SVC_HOST: "localhost", SVC_ADMIN_LISTEN: "[::1]:0" }],
  ["TLS of its own", { SVC_HOST: "0.0.0.0", SVC_TLS_CERT: "c", SVC_TLS_KEY: "k" }],
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
