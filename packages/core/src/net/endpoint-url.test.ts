import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fault } from "../faults/errors.ts";
import { createAddressGuard } from "./address-guard.ts";
import { checkEndpointUrl } from "./endpoint-url.ts";

const open = createAddressGuard({ allowedRanges: ["127.0.0.0/8", "::1/128"] });
const closed = createAddressGuard({ allowedRanges: [] });

function reasonOf(guard: typeof open, url: string): string {
  try {
    return `accepted ${checkEndpointUrl(guard, url)}`;
  } catch (error) {
    const [detail] = (error as Fault).details;
    expect(detail?.field).toBe("endpointUrl");
    return detail?.reason ?? "";
  }
}

const invalid = "ENDPOINT_URL_INVALID";
const notHttps = "ENDPOINT_URL_NOT_HTTPS";
const refused = "ENDPOINT_ADDRESS_REFUSED";

test.each([
  // svc calls exactly the URL that it stores.
  ["https://example.com", "accepted https://example.com/"],
  ["https://EXAMPLE.com:443/Hook?a=1", "accepted https://example.com/Hook?a=1"],
  ["https://example.com:8443/a b", "accepted https://example.com:8443/a%20b"],
  ["https://bücher.example/ü", "accepted https://xn--bcher-kva.example/%C3%BC"],
  [" https://example.com/hook\n", "accepted https://example.com/hook"],
  ["https:\\\\example.com\\hook", "accepted https://example.com/hook"],
  ["https://my_hooks.example.com./", "accepted https://my_hooks.example.com./"],
  ["https://a--b.xn--p1ai/", "accepted https://a--b.xn--p1ai/"],
  [`https://${"a".repeat(63)}.example/`, `accepted https://${"a".repeat(63)}.example/`],
  ["https://93.184.216.34/", "accepted https://93.184.216.34/"],
  ["https://[2606:2800:220:1::1]/", "accepted https://[2606:2800:220:1::1]/"],
  ["https://127.0.0.1:9/", "accepted https://127.0.0.1:9/"],
  ["http://127.0.0.1:8080/hook", "accepted http://127.0.0.1:8080/hook"],
  ["http://127.255.255.254/", "accepted http://127.255.255.254/"],
  ["http://localhost/", "accepted http://localhost/"],
  ["http://LOCALHOST:1/", "accepted http://localhost:1/"],
  ["http://[::1]:8080/", "accepted http://[::1]:8080/"],
  ["http://[0:0:0:0:0:0:0:1]/", "accepted http://[::1]/"],
  // After parsing, other spellings of 127.0.0.1 are recognized as loopback addresses too.
  ["http://127.1/", "accepted http://127.0.0.1/"],
  ["http://2130706433/", "accepted http://127.0.0.1/"],
  ["http://0x7f000001/", "accepted http://127.0.0.1/"],
  ["http://0177.0.0.1/", "accepted http://127.0.0.1/"],
  ["http://127.0.0.1./", "accepted http://127.0.0.1/"],

  ["", invalid],
  [" ", invalid],
  ["example.com", invalid],
  ["/hook", invalid],
  ["//example.com/hook", invalid],
  ["https://", invalid],
  ["https://exa mple.com", invalid],
  ["https://example.com:99999/", invalid],
  ["https://1.2.3.4.5/", invalid],
  ["https://256.1.1.1/", invalid],
  ["https://[::1", invalid],
  ...[
    "a..b",
    "-",
    "-a.example",
    "a-.example",
    ".example.com",
    "example..",
    "..",
    "a.-b.c",
    "*.example.com",
    "a,b",
    "a'b",
  ].map((host): [string, string] => [`https://${host}/`, invalid]),
  [`https://${"a".repeat(64)}.example/`, invalid],
  [`https://${"a.".repeat(126)}aa/`, invalid],
  ["ftp://example.com/", invalid],
  ["ws://example.com/", invalid],
  ["file:///etc/passwd", invalid],
  ["javascript:alert(1)", invalid],
  ["data:text/plain,x", invalid],
  ["https://user@example.com/", invalid],
  ["https://user:password@example.com/", invalid],
  ["https://:password@example.com/", invalid],
  ["https://example.com/#part", invalid],
  ["https://example.com/#", invalid],
  [`https://example.com/${"a".repeat(2_029)}`, invalid],

  ["http://example.com/", notHttps],
  ["http://93.184.216.34/", notHttps],
  ["http://10.0.0.1/", notHttps],
  ["http://128.0.0.1/", notHttps],
  ["http://127.0.0.1.example.com/", notHttps],
  ["http://localhost.example.com/", notHttps],
  ["http://notlocalhost/", notHttps],
  ["http://[::ffff:127.0.0.1]/", notHttps],
  ["http://[::2]/", notHttps],
  ["http://0.0.0.0/", notHttps],

  ["https://10.0.0.1/", refused],
  ["https://172.16.0.1/", refused],
  ["https://192.168.1.1/", refused],
  ["https://100.64.0.1/", refused],
  ["https://169.254.169.254/latest/meta-data", refused],
  ["https://0xa9fea9fe/", refused],
  ["https://0/", refused],
  ["https://0.0.0.0/", refused],
  ["https://167772161/", refused],
  ["https://012.0.0.1/", refused],
  ["https://10.1/", refused],
  ["https://224.0.0.1/", refused],
  ["https://255.255.255.255/", refused],
  ["https://[::]/", refused],
  ["https://[fe80::1]/", refused],
  ["https://[fd00::1]/", refused],
  ["https://[fd00:ec2::254]/", refused],
  ["https://[ff02::1]/", refused],
  ["https://[::ffff:10.0.0.1]/", refused],
  ["https://[64:ff9b::a00:1]/", refused],
  ["https://[2002:a00:1::]/", refused],
])("%s: %s, where loopback is allowed", (url, expected) => {
  expect(reasonOf(open, url)).toBe(expected);
});

test.each([
  ["http://127.0.0.1/", refused],
  ["http://localhost/", refused],
  ["https://localhost/", refused],
  ["https://hooks.localhost/", refused],
  ["https://127.0.0.1/", refused],
  ["https://[::1]/", refused],
  ["https://[::ffff:127.0.0.1]/", refused],
  ["https://2130706433/", refused],
  ["https://example.com/", "accepted https://example.com/"],
])("%s: %s, where nothing is allowed beyond public addresses", (url, expected) => {
  expect(reasonOf(closed, url)).toBe(expected);
});

test("what an operator allows is accepted over https, and the metadata addresses never", () => {
  const everything = createAddressGuard({ allowedRanges: ["0.0.0.0/0", "::/0"] });
  expect(reasonOf(everything, "https://10.0.0.1/")).toBe("accepted https://10.0.0.1/");
  expect(reasonOf(everything, "http://10.0.0.1/")).toBe(notHttps);
  expect(reasonOf(everything, "https://169.254.169.254/")).toBe(refused);
  expect(reasonOf(everything, "https://[::ffff:169.254.169.254]/")).toBe(refused);
});

test("a URL may have 2,048 characters", () => {
  expect(reasonOf(open, `https://example.com/${"a".repeat(2_028)}`)).toMatch(/^accepted/);
});

test("credentials are never repeated in the answer", () => {
  try {
    checkEndpointUrl(open, "https://user:hunter2@example.com/");
    expect.unreachable();
  } catch (error) {
    expect((error as Fault).message).not.toMatch(/hunter2|user/);
  }
});

test("any text is accepted as a URL that reads back the same, or refused with a reason", () => {
  const texts = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl({ validSchemes: ["http", "https", "ftp"] }));
  fc.assert(
    fc.property(texts, (text) => {
      const outcome = reasonOf(open, text);
      if (!outcome.startsWith("accepted ")) {
        expect([invalid, notHttps, refused]).toContain(outcome);
        return;
      }
      const url = outcome.slice("accepted ".length);
      expect(reasonOf(open, url)).toBe(outcome);
      expect(new URL(url)).toMatchObject({ username: "", password: "", hash: "" });
    }),
    { numRuns: 500 },
  );
});
