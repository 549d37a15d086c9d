import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openEnvironment } from "../config/environment.ts";
import { bindingsText, firstKeyText } from "./start-text.ts";

const config = loadConfig(openEnvironment({ SVC_SANDBOX: "off" }));
const { codeHost, payments } = sampleToolkits;

test("the commands of the first start need nothing but the line before them, wherever the data folder is", () => {
  const text = firstKeyText("http://0.0.0.0:9000", { text: "svc_key", file: "/tmp/my data/first-key" } as never);
  expect(text).toContain("export SVC_API_KEY=$(cat '/tmp/my data/first-key') SVC_URL=http://127.0.0.1:9000\n");
  for (const line of text.match(/^ {2}(?:npx|curl) .*$/gm) ?? []) expect(line).not.toMatch(/--url|my data|:9000/);
});

test("without a sandbox one line says which toolkits have a host, and how many have none", () => {
  const toolkits = [codeHost, payments].map((source) => ({
    ...source,
    toolkit: { ...source.toolkit, baseUrl: "{{deployment.provider_base_url}}" },
  }));
  const deployment = { toolkits: { code_host: { provider_base_url: "https://code.example.com" } } };
  expect(bindingsText(config, catalogOf({ toolkits, deployment }))).toMatch(
    /^toolkits bound to a host: code_host; 1 of 2 have none: their calls end as not_bound /,
  );
  expect(bindingsText(config, catalogOf({ toolkits }))).toMatch(/^toolkits bound to a host: none; 2 of 2 have none/);
  expect(bindingsText({ ...config, sandboxMode: "on" }, catalogOf({ toolkits }))).toBeUndefined();
});

test("with a sandbox an entry makes a toolkit live only if the address of its app is then known", () => {
  const toolkit = { ...codeHost.toolkit, baseUrl: "{{deployment.provider_base_url}}/v1" };
  const liveText = (bindings: object, source: typeof codeHost.toolkit = toolkit) => {
    const toolkits = [{ ...codeHost, toolkit: source }, payments];
    return bindingsText(
      { ...config, sandboxMode: "on" },
      catalogOf({ toolkits, deployment: { toolkits: { code_host: bindings } } }),
    );
  };
  const live = "toolkits that call real apps: code_host; the sandbox plays the others";
  expect(liveText({ overlay: { toolkit: { name: "Code" } } })).toBeUndefined();
  expect(liveText({ webhook: { audience: "accounts" } })).toBeUndefined();
  expect(liveText({ provider_base_url: "https://code.example.com" })).toBe(live);
  expect(liveText({ overlay: { toolkit: { baseUrl: "https://code.example.com" } } })).toBe(live);
  expect(liveText({ overlay: { toolkit: { name: "Code" } } }, codeHost.toolkit)).toBe(live);
});
