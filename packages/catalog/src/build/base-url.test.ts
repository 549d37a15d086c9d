import fc from "fast-check";
import { expect, test } from "vitest";
import { decidesOrigin, faultOfBaseUrl, fillInDeployment, registrableDomain } from "./base-url.ts";
import { bindBaseUrl } from "./bind-base-url.ts";

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
  ["https://{{account.x}}-{provider_base_url}/v1", false],
  ["https://{{account.x}}-example.com/v1", true],
  ["https://{{account.x}}-example.co.uk/v1", true],
  ["https://{{account.x}}-pay.example.com/v1", false],
  ["https://api.example.com/{{account.x}}/v1", false],
  ["{provider_base_url}/{{account.x}}", false],
  ["https://api.example.com", false],
  ["https:///{{account.x}}", true],
  ["https:////{{account.x}}", true],
  ["https:/{{account.x}}", true],
  ["https:{{account.x}}", true],
  ["https:\\\\{{account.x}}", true],
  ["https:/\\{{account.x}}/v1", true],
  ["https://\\{{account.x}}", true],
  ["https://{{account.x}}\\.example.com", true],
  ["https://{{account.x}}.com\\.example.com", true],
  ["https://{{account.x}}.github.io", true],
  ["https://{{account.x}}.GitHub.io", true],
  ["https://{{account.x}}.herokuapp.com/v1", true],
  ["https://{{account.x}}.azurewebsites.net", true],
  ["https://{{account.x}}.s3.amazonaws.com", true],
  ["https://{{account.x}}.eu-west-1.elb.amazonaws.com", true],
  ["https://{{account.x}}.shop.github.io", false],
  ["https://{{account.x}}.or.jp", true],
  ["https://{{account.x}}.example.or.jp", false],
  ["https://{{account.x}}.7", true],
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
  "https://{{account.prefix}}-{{deployment.provider_base_url}}/checkout/v71",
  "http://127.0.0.1:8080",
  "http://localhost/api",
  "https://api.example.com/{{ credential.key }}/v1",
  "{{deployment.provider_base_url}}/{{credential.key}}",
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
  "https:///{{account.h}}",
  "https:////{{account.h}}",
  "https:/{{account.h}}",
  "https:{{account.h}}",
  "https:\\\\{{account.h}}",
  "https:/\\{{account.h}}",
  "https://\\{{account.h}}",
  "https://api.example.com\\@evil.example",
  "https://api.example.com/a\\..\\b",
  "https://api.example.com/v1/..",
  "https://api.example.com/../v1",
  "https://api.example.com/%2e%2E/v1",
  "https://api.example.com/%252e/v1",
  "https://api.example.com//v1",
  "https://api.ex\u{e4}mple.com",
  "https://api.example.com%2f.evil.example",
  "{{deployment.provider_base_url}}/../v1",
  "{{deployment.provider_base_url}}//v1",
  "{{deployment.provider_base_url}}/a\\b",
  "https://api.example.com/bot{{credential.key}}",
  "https://api.example.com/{{credential.key}}x/v1",
  "https://{{credential.key}}.example.com",
  "https://{{credential.key}}",
  "https://api.example.com/{{credential.key}}/{{credential.key}}",
  "https://api.example.com/{{credential.key}}/../v1",
  "http://api.example.com/{{credential.key}}",
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

test("after a scheme in the definition, the deployment's address is inserted without its own", () => {
  const text = "https://{{account.x}}-{{ deployment.provider_base_url }}/v1";
  expect(fillInDeployment(text, {})).toBe("https://{{account.x}}-{provider_base_url}/v1");
  for (const provider_base_url of ["https://pay.example.com", "http://pay.example.com"]) {
    expect(fillInDeployment(text, { provider_base_url })).toBe("https://{{account.x}}-pay.example.com/v1");
  }
});

test("property: where a variable is said not to decide, any two of its values reach one registrable domain and port", () => {
  const piece = fc.constantFrom(
    "{{account.x}}",
    "{{account.y}}",
    ".",
    "-",
    "a",
    "example",
    "com",
    "co",
    "uk",
    ":",
    "443",
    "/",
    "\\",
    "github",
    "io",
  );
  const label = fc.constantFrom("evil", "evil.com", "a-b", "1", "127.0.0.1", "x.github");
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), label, label, (pieces, one, other) => {
      const baseUrl = `https://${pieces.join("")}`;
      if (faultOfBaseUrl(baseUrl) !== undefined || decidesOrigin(baseUrl, "x")) return;
      const [first, second] = [one, other].map((x) => {
        const bound = bindBaseUrl({ baseUrl }, { account: { x, y: "y" }, params: {} });
        return "url" in bound ? new URL(bound.url) : undefined;
      });
      if (first === undefined || second === undefined) return;
      expect(registrableDomain(second.hostname)).toBe(registrableDomain(first.hostname));
      expect(second.port).toBe(first.port);
    }),
    { numRuns: 2000 },
  );
});
