import { expect, test } from "vitest";
import { decidesOrigin, faultOfBaseUrl, fillInDeployment } from "./base-url.ts";

test.each<[baseUrl: string, decides: boolean]>([
  ["https://{{account.x}}", true],
  ["https://{{account.x}}:443", true],
  ["https://{{account.x}}:{{account.port}}", true],
  ["https://search.example.com:{{account.x}}", true],
  ["{{account.x}}://search.example.com", true],
  ["https://{{account.x}}.com", true],
  ["https://{{account.x}}.co.uk", true],
  ["https://{{account.x}}example.com", true],
  ["https://{{account.x}}-example.com", true],
  ["https://{{account.x}}.{{account.y}}.example.com", false],
  ["https://{{account.x}}.{{account.y}}", true],
  ["https://{{account.x}}.example.com", false],
  ["https://{{account.x}}.example.co.uk", false],
  ["https://{{account.x}}-live.pay.example.com/v1", false],
  ["https://{{account.x}}.example.com:8443", false],
  ["https://api.{{account.x}}.example.com", false],
  ["https://{{account.x}}.{provider_base_url}/v1", false],
  ["https://{{account.x}}{provider_base_url}/v1", true],
  ["https://api.example.com/{{account.x}}/v1", false],
  ["{provider_base_url}/{{account.x}}", false],
  ["https://api.example.com", false],
])("%s: an account variable decides the origin: %s", (baseUrl, decides) => {
  expect(decidesOrigin(baseUrl, "x")).toBe(decides);
});

test.each([
  "https://api.example.com",
  "https://api.example.com/v1",
  "https://{{account.host}}:{{account.port}}",
  "https://{{ account.prefix }}.example.com/checkout/v71",
  "{{deployment.provider_base_url}}",
  "{{deployment.provider_base_url}}/calendar/v3",
  "https://{{account.prefix}}.{{deployment.provider_base_url}}/v1",
  "http://127.0.0.1:8080",
  "http://localhost/api",
])("%s is a base URL", (baseUrl) => {
  expect(faultOfBaseUrl(baseUrl)).toBeUndefined();
});

test.each([
  "",
  "api.example.com",
  "http://api.example.com",
  "ftp://api.example.com",
  "https://",
  "https://api.example.com/",
  "https://api.example.com/v1?x=1",
  "https://api.example.com/v1#top",
  "https://user@api.example.com",
  "https://{{account.user}}@api.example.com",
  "{{deployment.provider_base_url}}/",
  "{{deployment.provider_base_url}}.evil.example",
  "{{deployment.provider_base_url}}{{account.x}}",
  "{{deployment.provider_base_url}}@evil.example",
  "{{account.url}}",
])("%s is refused as a base URL", (baseUrl) => {
  expect(faultOfBaseUrl(baseUrl)).toBeDefined();
});

test("deployment values are filled in, and shown as the specification shows them while unbound", () => {
  const text = "{{ deployment.provider_base_url }}/{{ account.space }}/v1";
  expect(fillInDeployment(text, {})).toBe("{provider_base_url}/{{account.space}}/v1");
  expect(fillInDeployment(text, { provider_base_url: "https://a.example.com" })).toBe(
    "https://a.example.com/{{account.space}}/v1",
  );
  expect(fillInDeployment("{{deployment.scope_base}}", { scope_base: "$&$1" })).toBe("$&$1");
});
