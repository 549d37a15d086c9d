import fc from "fast-check";
import { expect, test } from "vitest";
import { bindBaseUrl, hostArguments } from "./bind-base-url.ts";

const bind = (baseUrl: string, account: Record<string, string> = {}, params: Record<string, unknown> = {}) =>
  bindBaseUrl({ baseUrl }, { account, params });

const label = "https://{{account.x}}.example.com/v1";
const server = "https://{{account.x}}:{{account.port}}";

test.each<[baseUrl: string, account: Record<string, string>, url: string]>([
  ["https://api.example.com/v1", {}, "https://api.example.com/v1"],
  [label, { x: "acme" }, "https://acme.example.com/v1"],
  [label, { x: "Acme-1.eu" }, "https://Acme-1.eu.example.com/v1"],
  ["https://{{account.x}}-live.pay.example.com", { x: "a1" }, "https://a1-live.pay.example.com"],
  ["https://api.{{account.x}}.example.com:8443/v1", { x: "eu" }, "https://api.eu.example.com:8443/v1"],
  [server, { x: "search.example.com", port: "8108" }, "https://search.example.com:8108"],
  [server, { x: "192.0.2.7", port: "443" }, "https://192.0.2.7:443"],
  ["https://api.example.com/{{account.x}}/v1", { x: "My_space~1.b" }, "https://api.example.com/My_space~1.b/v1"],
  ["https://api.example.com/{{account.x}}-live/v1", { x: "a" }, "https://api.example.com/a-live/v1"],
  ["https://{{account.x}}.example.com/{{account.y}}", { x: "a", y: "b" }, "https://a.example.com/b"],
  ["http://localhost:{{account.port}}", { port: "4010" }, "http://localhost:4010"],
  ["http://127.0.0.1:4010/api", {}, "http://127.0.0.1:4010/api"],
  [
    "https://{{account.x}}.example.com/{{credential.key}}/v1",
    { x: "a" },
    "https://a.example.com/{{credential.key}}/v1",
  ],
])("%s with %o is %s", (baseUrl, account, url) => {
  expect(bind(baseUrl, account)).toEqual({ url });
});

const hostile = [
  "",
  ".",
  "..",
  "evil.example/",
  "evil.example/#",
  "evil.example#",
  "evil.example?",
  "evil.example\\",
  "x@evil.example/",
  "x:y@evil.example",
  "evil.example:443",
  "a..b",
  ".a",
  "a.",
  "-a",
  "a-",
  "a_b",
  "a b",
  "a\n",
  "a\tb",
  "a%2f",
  "\u{ff0e}",
  "\u{e4}",
  "[::1]",
  "::1",
  "{{account.x}}",
  "a".repeat(64),
];

test.each(hostile)("%j in a host is refused", (x) => {
  for (const baseUrl of [label, "https://{{account.x}}", "https://api.{{account.x}}.example.com"]) {
    expect(bind(baseUrl, { x })).toEqual({ fault: expect.stringContaining("which is not") });
  }
});

test.each(["", "0", "65536", "99999", "123456", "-1", "+1", "80a", "1e3", " 80", "80/", "80@evil.example", "0x50"])(
  "%j is refused as a port",
  (port) => {
    expect(bind(server, { x: "search.example.com", port })).toHaveProperty("fault");
  },
);

test.each(["", ".", "..", ".a", "a/b", "%2e%2e", "a%2fb", "a?b", "a#b", "a\\b", "a b", "\u{e4}", "a\n"])(
  "%j is refused as a path segment",
  (x) => {
    expect(bind("https://api.example.com/{{account.x}}/v1", { x })).toHaveProperty("fault");
  },
);

test("a value that is missing, or no text, makes no address", () => {
  expect(bind(label)).toEqual({ fault: expect.stringContaining("account.x is undefined, which is not a text") });
  expect(bind("https://{{params.dc}}.example.com", {}, { dc: 7 })).toHaveProperty("fault");
  expect(bind("https://{{params.dc}}.example.com", { dc: "eu" }, {})).toHaveProperty("fault");
});

test("an argument fills a label as a variable does, and the arguments a host takes are listed", () => {
  const baseUrl = "https://{{ params.dc }}.api.example.com/3.0";
  expect(bind(baseUrl, {}, { dc: "us6" })).toEqual({ url: "https://us6.api.example.com/3.0" });
  expect(bind(baseUrl, {}, { dc: "evil.example/" })).toHaveProperty("fault");
  expect(hostArguments({ baseUrl })).toEqual(["dc"]);
  expect(hostArguments({ baseUrl: label })).toEqual([]);
});

test("a host that the deployment does not bind is named by its key", () => {
  for (const baseUrl of ["{provider_base_url}/v1", "https://{{account.x}}-{provider_base_url}/v1"]) {
    expect(bind(baseUrl, { x: "evil.example/" })).toEqual({ unbound: "provider_base_url" });
  }
});

test("http is for loopback only, whatever value makes the host", () => {
  expect(bind("http://{{account.x}}", { x: "localhost" })).toEqual({ url: "http://localhost" });
  expect(bind("http://{{account.x}}", { x: "example.com" })).toEqual({ fault: expect.stringContaining("https") });
  expect(bind("http://{{account.x}}.nip.example", { x: "127.0.0.1" })).toHaveProperty("fault");
  expect(bind("ftp://{{account.x}}.example.com", { x: "a" })).toHaveProperty("fault");
});

test.each([
  "https:///{{account.x}}",
  "https:/{{account.x}}",
  "https:{{account.x}}",
  "https:\\\\{{account.x}}",
  "https://\\{{account.x}}",
])("%s binds to nothing: its host is one that only the parser sees", (baseUrl) => {
  expect(bind(baseUrl, { x: "evil.example" })).toHaveProperty("fault");
});

test("a number as a host is invalid, or the address that it means, which the guard then checks", () => {
  expect(bind("https://{{account.x}}", { x: "1.2.3.999" })).toEqual({
    fault: expect.stringContaining("not an address"),
  });
  const bound = bind("https://{{account.x}}", { x: "2130706433" });
  expect("url" in bound && new URL(bound.url).hostname).toBe("127.0.0.1");
});

test("property: whatever the values, a bound URL keeps scheme, fixed host, port and path of its template", () => {
  const value = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."a1.-/@:#?%\\[]") }), fc.domain());
  fc.assert(
    fc.property(value, value, (x, y) => {
      const bound = bind("https://{{account.x}}.example.com:8443/v1/{{account.y}}/end", { x, y });
      if ("fault" in bound) return;
      const url = new URL("url" in bound ? bound.url : "");
      expect([url.protocol, url.port, url.username, url.search, url.hash]).toEqual(["https:", "8443", "", "", ""]);
      expect(url.hostname).toBe(`${x}.example.com`.toLowerCase());
      expect(url.pathname).toBe(`/v1/${y}/end`);
    }),
  );
});
